// Says what an id or a path is that was given in place of the id of a session or a run.
import { existsSync } from "node:fs"
import { quoteShellWord } from "../shell-words.ts"

/** Returns sentences about a text that names no session or run; undefined if the text could be an id of this kind. */
export function wrongIdText(
  text: string,
  wanted: "session" | "run",
  list = `karst ${wanted}s list`,
): string | undefined {
  if (wanted === "session" && /^run_/.test(text))
    return `"${text}" is the id of a run, not of a session. See: karst runs show ${quoteShellWord(text)} --store …`
  if (wanted === "run" && /^s_/.test(text))
    return `"${text}" is the id of a session, not of a run. See: karst sessions show ${quoteShellWord(text)}`
  if (!/[\\/.]/.test(text) || !existsSync(text)) return undefined
  const cure = wanted === "session" ? ` To see the run in a file: karst trajectory show ${quoteShellWord(text)}` : ""
  return `${text} is a path, not the id of a ${wanted}. See: ${list}.${cure}`
}
