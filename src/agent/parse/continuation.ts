// Joins a cut-off answer with its continuation: models often repeat the fence, or a line of prose before it.
import { closesFence, type Fence, mayBeFence, parseOpeningFence } from "./fence.ts"

export interface CutOff {
  /** The code block that was cut; undefined in prose. */
  block: Fence | undefined
  /** The part of the cut line that was received. */
  line: string
  /** Whether the cut is inside a string or comment that spans lines. */
  inString: boolean
  /** Returns true if a block with this tag is code to run. */
  isCodeTag(tag: string): boolean
}

export interface Continuation {
  text: string
  /** The model wrote the cut line again: drop its received part. */
  replacesLine?: boolean
}

/** Decides how the text since the cut continues the answer; undefined if more text is needed. Models often open the
 *  fence again, perhaps after a line of prose. `then`: more text follows (`more`), the answer was cut again (`cut`) or
 *  has ended (`end`). The decision never depends on how the text was cut into chunks. */
export function joinContinuation(text: string, cut: CutOff, then: "more" | "cut" | "end"): Continuation | undefined {
  if (text.length <= maxUndecidedChars) return decideContinuation(text, cut, then)
  // Only the beginning decides, so that a long text in small chunks is not read again with each chunk.
  const start = text.slice(0, maxUndecidedChars)
  const joined = decideContinuation(start, cut, "more") ?? decideContinuation(start, cut, "end")
  return joined && { ...joined, text: joined.text + text.slice(maxUndecidedChars) }
}

const maxUndecidedChars = 10_000

function decideContinuation(text: string, cut: CutOff, then: "more" | "cut" | "end"): Continuation | undefined {
  const lines = text.split("\n")
  const last = then === "more" ? (lines.pop() ?? "") : ""
  const contents = lines.map((line) => line.replace(/\r$/, ""))
  const [first] = contents
  if (!cut.block) return continueProse(text, first, last, cut)
  if (first !== undefined && !cut.inString && closesFence(first, cut.block)) {
    return continueAfterBareFence(text, contents, cut.block, then)
  }
  return continueCode(text, contents, last, cut, then)
}

function continueProse(text: string, first: string | undefined, last: string, cut: CutOff): Continuation | undefined {
  if (cut.line === "") return { text }
  if (first === undefined) return mayBeFence(last) ? undefined : { text }
  // A fence needs its own line; a fence that was cut in the middle is replaced.
  if (!opensCode(first, cut)) return { text }
  return cut.line.trim() !== "" && mayBeFence(cut.line) ? { text, replacesLine: true } : { text: `\n${text}` }
}

function continueCode(
  text: string,
  lines: readonly string[],
  last: string,
  cut: CutOff,
  then: "more" | "cut" | "end",
): Continuation | undefined {
  let hasProse = false
  let end = 0
  for (const line of lines) {
    end = text.indexOf("\n", end) + 1
    if (opensCode(line, cut)) {
      // A line break before the fence ends the cut line.
      const ending = cut.line !== "" && lines[0] === "" ? "\n" : ""
      return { text: ending + (end === 0 ? "" : text.slice(end)) }
    }
    if (cut.inString) return { text }
    if (line.trim() === "") continue
    if (hasProse || !/[:.!…]$/.test(line) || !mayBeProse(line)) return { text }
    hasProse = true
  }
  if (then === "end") return { text }
  if (mayBeFence(last) || (last.trim() === "" && !cut.inString)) return undefined
  return !hasProse && !cut.inString && mayBeProse(last) ? undefined : { text }
}

/** A bare fence closes the block, unless it opens it again. Then a later fence closes it: fences come in pairs. */
function continueAfterBareFence(
  text: string,
  lines: readonly string[],
  block: Fence,
  then: "more" | "cut" | "end",
): Continuation | undefined {
  let isOpen = false
  let isDecided = false
  for (const line of lines.slice(1)) {
    if (closesFence(line, block)) isOpen = !isOpen
    else if (parseOpeningFence(line)?.tag) {
      isDecided = true
      break
    }
  }
  if (!isDecided && (then === "more" || (then === "cut" && !isOpen))) return undefined
  return { text: isOpen ? text.slice(text.indexOf("\n") + 1) : text }
}

function opensCode(line: string, { isCodeTag }: CutOff): boolean {
  const tag = parseOpeningFence(line)?.tag
  return tag !== undefined && tag !== "" && isCodeTag(tag)
}

/** Matches lines such as "Sure, here is the rest:". */
function mayBeProse(start: string): boolean {
  return start.length <= 100 && /^\p{Lu}[^`]*$/u.test(start)
}
