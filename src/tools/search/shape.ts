import { byPath } from "../../workspace/paths.ts"
import { countOf } from "../files.ts"
import type { SearchInput } from "../search.ts"
import { type ToolResult, toolResult } from "../tool.ts"
import type { Unread } from "./candidates.ts"
import type { FileMatch, Row } from "./lines.ts"

/** What was found, within its limits: the text for the model and the value for a cell have the same results. */
export function shapeMatches(found: readonly FileMatch[], input: SearchInput, unread: readonly Unread[]): ToolResult {
  const { mode = "content", limit = 200, offset = 0 } = input
  const all = mode === "content" ? found.flatMap(({ path, rows }) => rows.map((row) => ({ path, ...row }))) : found
  const wanted = all.slice(offset, offset + Math.min(limit, 1000))
  const texts = wanted.map((result, index) => textOf(result, wanted[index - 1], input))
  const shown = fitting(texts)
  const isMore = offset + shown < all.length
  const notes = [
    ...(shown === 0 ? [all.length > 0 ? `Nothing from ${offset} on.` : "No matches."] : []),
    ...(isMore ? [`[More: go on with offset ${offset + shown}, or narrow the search.]`] : []),
    ...(unread.length > 0 ? [`[Not searched: ${unreadText(unread)}]`] : []),
  ]
  return toolResult({
    text: [...texts.slice(0, shown), ...notes].join("\n"),
    value: wanted.slice(0, shown).map((result) => plainOf(result, mode)),
  })
}

type Result = FileMatch | (Row & { path: string })

function textOf(result: Result, last: Result | undefined, { mode, context }: SearchInput): string {
  if (!("line" in result)) return mode === "count" ? `${result.path}: ${result.count}` : result.path
  const row = `${result.line}${result.match ? ":" : "-"} ${result.text}`
  if (!last || last.path !== result.path) return `${last ? "\n" : ""}${result.path}\n${row}`
  const isNext = "line" in last && last.line + 1 === result.line
  return isNext || !context ? row : `--\n${row}`
}

function plainOf(result: Result, mode: string) {
  if ("line" in result) return result
  return mode === "count" ? { path: result.path, count: result.count } : result.path
}

function fitting(texts: readonly string[]): number {
  let chars = 0
  const index = texts.findIndex((text) => {
    chars += text.length + 1
    return chars > mostChars
  })
  return index < 0 ? texts.length : index
}

function unreadText(unread: readonly Unread[]): string {
  const sorted = unread.toSorted((one, other) => byPath(one.path, other.path))
  const named = sorted.slice(0, 5).map(({ path, why }) => `${path}: ${why.replace(/\.$/, "")}`)
  return [...named, ...(unread.length > 5 ? [`and ${countOf(unread.length - 5, "other file")}`] : [])].join("; ")
}

const mostChars = 30_000
