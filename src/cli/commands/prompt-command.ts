// `karst prompt`: prints what the model would see before the user's prompt.
import { getAgentSpec } from "../../core/agent-spec.ts"
import type { Input } from "../command.ts"
import { printLine, printNotice } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import { prepareAgentWithoutModel } from "../run/prepare-agent.ts"
import type { promptOptions } from "../table/work.ts"

export async function promptCommand({ values }: Input<typeof promptOptions>): Promise<number> {
  const config = await loadProjectConfig(values.config)
  // The printed text of the built-in agent is the same for every model.
  const { agent, close } = await prepareAgentWithoutModel(values, config)
  try {
    printLine(await agent.describe())
    // Tools are sent apart from the prompt, so they are not part of the output.
    const { tools } = await getAgentSpec(agent)
    if (tools.length > 0)
      printNotice(`Besides, the model gets your tools: ${tools.map(({ name }) => name).join(", ")}.`)
  } finally {
    await close()
  }
  return 0
}
