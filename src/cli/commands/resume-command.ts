// `karst resume <handle | id | last> ["prompt"]`: continues a stored session with the agent that it was run with.
import { createOwnEventFilter } from "../../core/trajectory.ts"
import { safeLine } from "../../display/safe-text.ts"
import { cliNames } from "../../providers/cli-names.ts"
import type { StoredSession } from "../../sessions/session-archive.ts"
import { parseSessionHandle } from "../../sessions/session-handle.ts"
import type { Input } from "../command.ts"
import { commandName } from "../command-name.ts"
import { printToErrors } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import { findSession } from "../run/find-session.ts"
import { readPromptText, withImages } from "../run/read-prompt.ts"
import { runInSession } from "../run/run-in-session.ts"
import { prepareSessionAgent } from "../run/session-agent.ts"
import { openExistingSessionPlace } from "../run/session-store.ts"
import { continueOptions, mergeStoredOptions, missingOptionsText } from "../run/stored-options.ts"
import { quoteShellWord } from "../shell-words.ts"
import type { resumeOptions } from "../table/work.ts"
import { UsageError } from "../usage-error.ts"

export async function resumeCommand({ values, positionals }: Input<typeof resumeOptions>): Promise<number> {
  const { store, image, mode = "full", json, ...given } = values
  const [wanted = "", ...words] = positionals
  const config = await loadProjectConfig(values.config)
  const handle = parseSessionHandle(wanted)
  const place = openExistingSessionPlace(store ?? handle.folder, config)
  try {
    // A handle of a coding CLI may be of a session that is stored nowhere else.
    const isStored = handle.key === undefined || handle.folder !== undefined || store !== undefined
    const stored = isStored ? await findSession(place.source, handle.id) : undefined
    const options = place.isUserFolder ? mergeStoredOptions(given, stored?.record.metadata.command) : given
    const missing = missingOptionsText(given, stored?.record.metadata.command, place)
    if (missing !== undefined) printToErrors(missing)
    const provider = cliNames.find((name) => name === handle.provider) ?? options.provider
    const text = words.length > 0 ? await readPromptText(words) : continuation(stored)
    const prompt = await withImages(text, image)
    const prepared = await prepareSessionAgent(stored, { ...options, provider }, config)
    // A folder that only a handle names is checked before it is trusted: the session is then opened by the handle.
    const isByHandle = wanted.startsWith("karst:") && store === undefined
    return await runInSession(prepared, prompt, {
      archive: isByHandle ? undefined : place.source,
      resume: isByHandle ? wanted : stored?.record.id,
      continueCommand: (id) =>
        `${commandName()} resume ${quoteShellWord(isByHandle ? wanted : id)}` +
        continueOptions(given, place, { isNew: false }),
      mode,
      json,
    })
  } finally {
    await place.close()
  }
}

/** The prompt of a resume without one. A question needs an answer. */
function continuation(stored: StoredSession | undefined): string {
  const isOwn = createOwnEventFilter()
  const end = stored?.events.findLast((event) => isOwn(event) && event.type === "run-end")
  const pending = end?.type === "run-end" && end.status === "waiting" ? end.pending : undefined
  if (pending?.kind !== "question") return "Continue."
  const options = pending.options?.length ? ` (${pending.options.map(safeLine).join(" / ")})` : ""
  throw new UsageError(`The session asks: ${safeLine(pending.question)}${options} Answer it: karst resume … "<answer>"`)
}
