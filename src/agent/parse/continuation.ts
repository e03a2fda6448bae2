import { closesFence, type Fence, mayBeFence, parseOpeningFence } from "./fence.ts"

/** Where an answer was cut off. */
export interface CutOff {
  /** The code block it was cut in; prose where there is none. */
  block: Fence | undefined
  /** What is there of the line it was cut in. */
  line: string
  /** Inside a string or comment of the code that spans lines. */
  inString: boolean
  /** Whether a block with this tag is code to run. */
  isCodeTag(tag: string): boolean
}

/** What a cut-off answer goes on with. */
export interface Continuation {
  text: string
  /** The line it was cut in is written anew: what was there of it goes. */
  replacesLine?: boolean
}

/** How a cut-off answer goes on, from what the model has written since; undefined until that is known. Models seldom go
 *  on in the middle: they open the fence again, perhaps after a line of prose, and that belongs to no code. `more` may
 *  come; the answer may be `cut` again; or this is the `end`. What is decided never depends on how the text came. */
export function joinContinuation(text: string, cut: CutOff, then: "more" | "cut" | "end"): Continuation | undefined {
  if (text.length <= maxUndecidedChars) return decideContinuation(text, cut, then)
  // The beginning decides, so that a long text in small pieces is not read again with each of them.
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
  // A fence has a line of its own; what was there of a fence is there again.
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
      // A line break that the model wrote before the fence is the end of the line that was cut.
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

/** A bare fence closes the block, unless it opens it again: then another one closes it, and fences come in pairs. */
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

function opensCode(line: string, { isCodeTag: runs }: CutOff): boolean {
  const tag = parseOpeningFence(line)?.tag
  return tag !== undefined && tag !== "" && runs(tag)
}

/** "Sure, here is the rest:" */
function mayBeProse(start: string): boolean {
  return start.length <= 100 && /^\p{Lu}[^`]*$/u.test(start)
}
