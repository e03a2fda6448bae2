// `karst run "prompt"`: runs a prompt in a new or stored session, and shows the run.
import type { Input } from "../command.ts"
import { commandName } from "../command-name.ts"
import { loadProjectConfig } from "../project-config.ts"
import { prepareAgent } from "../run/prepare-agent.ts"
import { readPromptText, withImages } from "../run/read-prompt.ts"
import { runInSession } from "../run/run-in-session.ts"
import { openSessionPlace } from "../run/session-store.ts"
import { continueOptions, optionsToStore } from "../run/stored-options.ts"
import type { runOptions } from "../table/work.ts"
import { UsageError } from "../usage-error.ts"
import { resumeCommand } from "./resume-command.ts"

export async function runPromptCommand({ values, positionals }: Input<typeof runOptions>): Promise<number> {
  const { session, store, image, mode = "full", json, ...agentValues } = values
  const text = await readPromptText(positionals)
  if (text.trim() === "") throw new UsageError('There is no prompt. Say: karst run "what to do"')
  if (session !== undefined)
    return await resumeCommand({ values: { ...agentValues, store, image, mode, json }, positionals: [session, text] })
  const prompt = await withImages(text, image)
  const config = await loadProjectConfig(values.config)
  const prepared = await prepareAgent(agentValues, config)
  const place = openSessionPlace(store, config)
  try {
    return await runInSession(prepared, prompt, {
      archive: place.source,
      continueCommand:
        place.source === undefined
          ? undefined
          : (id) => `${commandName()} resume ${id}${continueOptions(agentValues, place, { isNew: true })}`,
      metadata: { command: optionsToStore(agentValues) },
      mode,
      json,
    })
  } finally {
    await place.close()
  }
}
