// `karst prompt`: prints what the model would see before the user's prompt.
import { parseArguments } from "./arguments.ts"
import { commandAgent } from "./command-agent.ts"
import { loadData } from "./load/load-data.ts"
import { UsageError } from "./usage-error.ts"

export async function promptCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArguments("prompt", args, {
    data: { type: "string", multiple: true },
    skills: { type: "string", multiple: true },
  })
  if (positionals.length > 0) throw new UsageError(`karst prompt takes no prompt: it prints what comes before one.`)
  const bindings = await loadData(values.data ?? [])
  const agent = commandAgent({ model: noModel, bindings, skills: values.skills })
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
