// `karst prompt`: prints what the model would see before the user's prompt.
import type { Input } from "../command.ts"
import { commandAgent } from "../command-agent.ts"
import { loadData } from "../load/load-data.ts"
import type { promptOptions } from "../table/work.ts"

export async function promptCommand({ values }: Input<typeof promptOptions>): Promise<number> {
  const bindings = await loadData(values.data)
  const agent = commandAgent({ model: noModel, bindings, skills: values.skill })
  process.stdout.write(`${await agent.describe()}\n`)
  return 0
}

// The printed text is the same for every model.
const noModel = {
  id: "none/none",
  stream: () => {
    throw new Error("karst prompt calls no model.")
  },
}
