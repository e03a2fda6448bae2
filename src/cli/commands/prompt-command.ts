// `karst prompt`: prints what the model would see before the user's prompt.
import type { Input } from "../command.ts"
import { printLine } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import { builtIn, isBuiltIn, modelNeverAsked, prepareAgent } from "../run/prepare-agent.ts"
import type { promptOptions } from "../table/work.ts"

export async function promptCommand({ values }: Input<typeof promptOptions>): Promise<number> {
  const config = await loadProjectConfig(values.config)
  // The printed text of the built-in agent is the same for every model.
  const { agent, close } = isBuiltIn(values, config)
    ? { agent: await builtIn(values, modelNeverAsked), close: async () => {} }
    : await prepareAgent(values, config)
  printLine(await agent.describe())
  await close()
  return 0
}
