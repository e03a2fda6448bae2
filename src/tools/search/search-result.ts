// Formats the matches of a search as a tool result.
import { comparePaths } from "../../workspaces/workspace-path.ts"
import { countText } from "../files/file-results.ts"
import type { SearchInput } from "../search.ts"
import { type ToolResult, toolResult } from "../tool.ts"
import type { UnsearchedFile } from "./candidate-files.ts"
import type { FileMatch, Row } from "./match-lines.ts"

/** Applies limit and offset. The text for the model and the value for a cell contain the same results. */
export function toSearchResult(
  found: readonly FileMatch[],
  input: SearchInput,
  unread: readonly UnsearchedFile[],
): ToolResult {
  const { mode = "content", limit = 200, offset = 0 } = input
  const all = mode === "content" ? found.flatMap(({ path, rows }) => rows.map((row) => ({ path, ...row }))) : found
  const wanted = all.slice(offset, offset + Math.min(limit, 1000))
  const texts = wanted.map((result, index) => resultLine(result, wanted[index - 1], input))
  const shown = countFitting(texts)
  const isMore = offset + shown < all.length
  const notes = [
    ...(shown === 0 ? [all.length > 0 ? `Nothing from ${offset} on.` : "No matches."] : []),
    ...(isMore ? [`[More: continue with offset ${offset + shown}, or narrow the search.]`] : []),
    ...(unread.length > 0 ? [`[Not searched: ${unreadText(unread)}]`] : []),
  ]
  return toolResult({
    text: [...texts.slice(0, shown), ...notes].join("\n"),
    value: wanted.slice(0, shown).map((result) => resultValue(result, mode)),
  })
}

type Result = FileMatch | (Row & { path: string })

function resultLine(result: Result, last: Result | undefined, { mode, context }: SearchInput): string {
  if (!("line" in result)) return mode === "count" ? `${result.path}: ${result.count}` : result.path
  const row = `${result.line}${result.match ? ":" : "-"} ${result.text}`
  if (!last || last.path !== result.path) return `${last ? "\n" : ""}${result.path}\n${row}`
  const isNext = "line" in last && last.line + 1 === result.line
  return isNext || !context ? row : `--\n${row}`
}

function resultValue(result: Result, mode: string) {
  if ("line" in result) return result
  return mode === "count" ? { path: result.path, count: result.count } : result.path
}

function countFitting(texts: readonly string[]): number {
  let chars = 0
  const index = texts.findIndex((text) => {
    chars += text.length + 1
    return chars > maxChars
  })
  return index < 0 ? texts.length : index
}

function unreadText(unread: readonly UnsearchedFile[]): string {
  const sorted = unread.toSorted((one, other) => comparePaths(one.path, other.path))
  const named = sorted.slice(0, 5).map(({ path, why }) => `${path}: ${why.replace(/\.$/, "")}`)
  return [...named, ...(unread.length > 5 ? [`and ${countText(unread.length - 5, "other file")}`] : [])].join("; ")
}

const maxChars = 30_000
