// `karst replay <id>`: replays a stored session with its recorded answers, and shows the first difference.
import { internalsOf } from "../../agent/agent-internals.ts"
import type { CodeAgent } from "../../agent/create-agent.ts"
import type { Agent } from "../../core/agent.ts"
import { replayRecording } from "../../testing/replay.ts"
import type { Input } from "../command.ts"
import { printJson } from "../print-table.ts"
import { printLine } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import { findSession } from "../run/find-session.ts"
import { prepareAgentWithoutModel } from "../run/prepare-agent.ts"
import { requireSameAgent } from "../run/session-agent.ts"
import { openExistingSessionPlace } from "../run/session-store.ts"
import { mergeStoredOptions } from "../run/stored-options.ts"
import type { replayOptions } from "../table/checks.ts"
import { UsageError } from "../usage-error.ts"

export async function replayCommand({
  values,
  positionals: [wanted = ""],
}: Input<typeof replayOptions>): Promise<number> {
  const { store, strict, live, json, ...given } = values
  const config = await loadProjectConfig(values.config)
  const place = openExistingSessionPlace(store, config)
  try {
    const stored = await findSession(place.source, wanted)
    const { record } = stored
    const options = place.isUserFolder ? mergeStoredOptions(given, record.metadata.command) : given
    const { agent, close } = await prepareAgentWithoutModel(options, config)
    requireSameAgent(stored, options, agent)
    if (!isCodeAgent(agent)) throw new UsageError(`The agent ${agent.name} is a coding CLI, which cannot be replayed.`)
    const source = { archive: place.source ?? "", id: record.id }
    const { divergence } = await replayRecording(agent, source, { strict, liveCalls: live })
    await close()
    if (json) printJson({ session: record.id, runs: record.runs, same: divergence === undefined, divergence })
    else if (divergence) printLine(divergence.message)
    else printLine(`${record.id} runs as it was recorded: ${record.runs} ${record.runs === 1 ? "run" : "runs"}.`)
    return divergence ? 1 : 0
  } finally {
    await place.close()
  }
}

function isCodeAgent(agent: Agent): agent is CodeAgent {
  return internalsOf(agent) !== undefined
}
