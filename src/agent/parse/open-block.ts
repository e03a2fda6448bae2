// A code block of an answer while it is being read.
import type { OpeningFence } from "./fence.ts"
import type { BlockFacts } from "./judge-answer.ts"
import { createLineLexer, type LineLexer } from "./line-lexer.ts"
import type { Language } from "./tags.ts"

export interface OpenBlock extends OpeningFence {
  /** Whether its lines are code to run or text; `unknown` until it closes if its tag says nothing. */
  use: "run" | "text" | "unknown"
  facts: BlockFacts
  /** The line that opens it, as far as it was not emitted before. */
  opener: string
  /** What was read of a block that does not run; of code to run, only the blank lines at its start. */
  body: string
  /** The line that closes it; empty while it is open. */
  closer: string
  /** Whether code was emitted. */
  started: boolean
  /** Where the code ends if the string around the first closing fence never ends. */
  provisionalEnd?: number
  /** The current line of code so far: the lexer takes whole lines, so that chunks cannot matter. */
  line: string
  lexer: LineLexer
}

export function openBlock(opening: OpeningFence, facts: BlockFacts, opener: string, language: Language): OpenBlock {
  const lexer = createLineLexer(language)
  const use = useOf(opening, facts)
  return { ...opening, use, facts, opener, body: "", closer: "", started: false, line: "", lexer }
}

/** Removes the indentation of the fence from a line. */
export function dedent(line: string, indent: number): string {
  let end = 0
  while (end < indent && (line[end] === " " || line[end] === "\t")) end++
  return line.slice(end)
}

function useOf({ quoted }: OpeningFence, { kind, introduction }: BlockFacts): OpenBlock["use"] {
  if (quoted || introduction === "example") return "text"
  if (kind === "run") return "run"
  return kind === "unknown" ? "unknown" : "text"
}
