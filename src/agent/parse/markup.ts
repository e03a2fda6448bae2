// Finds XML-like tags in prose: thoughts, and code or tool calls between tags.

export interface ThoughtStart {
  index: number
  /** Whether the tag is the first of its line. */
  startsLine: boolean
}

/** Finds `<think>` or `<thinking>` outside inline code. */
export function findThought(line: string): ThoughtStart | undefined {
  let ticks = 0
  for (const { 0: found, index } of line.matchAll(/`+|<think(?:ing)?>/gi)) {
    if (found.startsWith("`")) ticks++
    else if (ticks % 2 === 0) return { index, startsLine: line.slice(0, index).trim() === "" }
  }
  return undefined
}

/** Returns the position after `</think>` or `</thinking>`; undefined if there is none. */
export function endOfThought(line: string): number | undefined {
  const match = /<\/think(?:ing)?>/i.exec(line)
  return match ? match.index + match[0].length : undefined
}

/** Returns the position after a `</think>` whose thought was never opened: some models write only the end. The tag is
 *  the first or the last of its line and stands outside inline code and before any `<think>`. */
export function endOfUnopenedThought(line: string): number | undefined {
  const [lineStart, lineEnd] = [line.length - line.trimStart().length, line.trimEnd().length]
  let ticks = 0
  for (const { 0: found, index } of line.matchAll(/`+|<\/?think(?:ing)?>/gi)) {
    if (found.startsWith("`")) {
      ticks++
      continue
    }
    if (ticks % 2 === 1) continue
    if (!found.startsWith("</")) return undefined
    const end = index + found.length
    if (index === lineStart || end === lineEnd) return end
  }
  return undefined
}

/** Whether a text starts with a thought that has an end but no opening tag. */
export function startsInThought(text: string): boolean {
  if (!/<\/think/i.test(text)) return false
  for (const line of text.split("\n")) {
    if (endOfUnopenedThought(line) !== undefined) return true
    if (findThought(line)) return false
  }
  return false
}

/** Returns the name of a tag that starts a line and means that code is to run or a tool is called. */
export function actionTag(line: string): string | undefined {
  const match = /^[ \t]*<([a-z_:]+)(?:[ \t][^>]*)?>/i.exec(line)
  const name = match?.[1]?.toLowerCase()
  if (name === undefined) return undefined
  return actionTags.has(name) || name.startsWith("execute_") ? name : undefined
}

/** Returns the text of a line after an opening `<code>`; undefined if the line does not start with one. */
export function codeTagText(line: string): string | undefined {
  const match = /^[ \t]*<code(?:[ \t][^>]*)?>/i.exec(line)
  return match ? line.slice(match[0].length) : undefined
}

const actionTags = new Set(
  (
    "execute run_code python ipython py typescript javascript tool_code code_execution bash shell tool_call tool_calls " +
    "tool_use function_call function_calls invoke"
  ).split(" "),
)

/** Finds the part of an unfinished line of prose that may become a fence, or the start or end of a thought. */
export function undecidedInProse(held: string): { index: number; untilLineEnd: boolean } {
  return findUndecided(held, /```|~~~|<\/?think/i, /(?:`{1,2}|~{1,2}|<\/?(?:t(?:h(?:i(?:nk?)?)?)?)?)$/i)
}

/** Finds the part of an unfinished line inside a thought that may become its end. */
export function undecidedInThought(held: string): { index: number; untilLineEnd: boolean } {
  return findUndecided(held, /<\/think/i, /<(?:\/(?:t(?:h(?:i(?:nk?)?)?)?)?)?$/i)
}

function findUndecided(held: string, whole: RegExp, start: RegExp): { index: number; untilLineEnd: boolean } {
  const found = whole.exec(held)
  if (found) return { index: found.index, untilLineEnd: true }
  const tail = Math.max(0, held.length - 10)
  const begun = start.exec(held.slice(tail))
  return { index: begun ? tail + begun.index : held.length, untilLineEnd: false }
}
