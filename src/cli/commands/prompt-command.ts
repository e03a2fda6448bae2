// `karst prompt`: prints what the model would see before the user's prompt.
import type { Input } from "../command.ts"
import { loadProjectConfig } from "../project-config.ts"
import { builtIn, prepareAgent } from "../run/prepare-agent.ts"
import type { promptOptions } from "../table/work.ts"

export async function promptCommand({ values }: Input<typeof promptOptions>): Promise<number> {
  const isOwn = values.agent !== undefined || values.provider !== undefined
  const agent = isOwn
    ? (await prepareAgent(values, await loadProjectConfig(values.config))).agent
    : await builtIn(values, noModel)
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
