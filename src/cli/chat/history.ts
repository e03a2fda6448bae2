// The input history of the chat: texts that the user sent in this chat and in earlier ones, stored in a file.
import { readFile } from "node:fs/promises"
import { appendPrivateFileSync, replacePrivateFile } from "../../core/private-files.ts"

export interface InputHistory {
  /** Adds a sent text, unless it is the same as the last one. */
  add(text: string): void
  /** Returns the text before or after the one that is shown; undefined at either end. `current` is what is written now:
   *  going back to the newest place returns it. */
  older(current: string): string | undefined
  newer(): string | undefined
  /** Ends the search for an earlier text. */
  leave(): void
}

const maxEntries = 1000

/** Loads the history. Each line of the file is a JSON string; other lines are ignored. */
export async function openHistory(path: string | undefined): Promise<InputHistory> {
  const lines = path === undefined ? [] : await readLines(path)
  const entries = lines.flatMap(parseEntry).slice(-maxEntries)
  if (path !== undefined && lines.length > 2 * maxEntries)
    await replacePrivateFile(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")).catch(() => undefined)
  return createHistory(entries, (text) => {
    if (path !== undefined) appendPrivateFileSync(path, `${JSON.stringify(text)}\n`)
  })
}

export function createHistory(entries: string[], store: (text: string) => void): InputHistory {
  let at: number | undefined
  let unsent = ""
  return {
    add(text) {
      at = undefined
      if (text.trim() === "" || entries.at(-1) === text) return
      entries.push(text)
      try {
        store(text)
      } catch {
        // A history that cannot be stored must not end the chat.
      }
    },
    older(current) {
      const next = (at ?? entries.length) - 1
      if (next < 0) return undefined
      if (at === undefined) unsent = current
      at = next
      return entries[next]
    },
    newer() {
      if (at === undefined) return undefined
      at = at + 1 < entries.length ? at + 1 : undefined
      return at === undefined ? unsent : entries[at]
    },
    leave() {
      at = undefined
    },
  }
}

async function readLines(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "")
  return text.split("\n").filter((line) => line !== "")
}

function parseEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line)
    return typeof entry === "string" ? [entry] : []
  } catch {
    return []
  }
}
