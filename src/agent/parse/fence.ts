// Recognises the lines that open and close fenced code blocks.

/** An opening fence. Lines are passed without their line ending. */
export interface Fence {
  mark: string
  length: number
  /** The characters before the fence that every line of the block may start with. */
  indent: number
  tag: string
  /** Whether the block is inside a quotation: its lines start with `>`. */
  quoted: boolean
}

export interface OpeningFence extends Fence {
  /** Where the fence starts in its line. */
  index: number
  /** Whether prose stands before the fence in its line. */
  midLine: boolean
}

/** A longer line is never a fence, so that a line that arrives in pieces need not be read again and again. */
const maxFenceChars = 1000

/** Finds a fence at the start of a line: after spaces, list markers and `>`. */
export function parseOpeningFence(line: string): OpeningFence | undefined {
  if (line.length > maxFenceChars) return undefined
  const match = /^([ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})[ \t]*([^\s`]*)([^`]*)$/.exec(line)
  if (!match) return undefined
  const [, before = "", fence = "", tag = ""] = match
  const quoted = before.includes(">")
  const indent = before.length
  return { mark: fence.charAt(0), length: fence.length, indent, tag, quoted, index: indent, midLine: false }
}

/** Finds the only fence of a line, after prose. Nothing but the tag may follow it. */
export function parseMidLineFence(line: string): OpeningFence | undefined {
  const index = line.indexOf("```")
  if (index === -1 || line.length - index > maxFenceChars) return undefined
  const match = /^(`{3,})[ \t]*([^\s`]*)[ \t]*$/.exec(line.slice(index))
  if (!match) return undefined
  const [, fence = "", tag = ""] = match
  return { mark: "`", length: fence.length, indent: 0, tag, quoted: false, index, midLine: true }
}

/** Finds a whole block at the end of a line, such as "```ts rows.length```". */
export function parseInlineBlock(line: string): { index: number; tag: string; code: string } | undefined {
  const index = line.indexOf("```")
  if (index === -1 || line.length - index > maxFenceChars) return undefined
  const [, text] = /^`{3,}([^`]+)`{3,}$/.exec(line.slice(index).trimEnd()) ?? []
  if (text === undefined) return undefined
  const tag = /^[\w+-]+(?=[ \t])/.exec(text)?.[0] ?? ""
  return { index, tag, code: text.slice(tag.length) }
}

export function closesFence(line: string, opened: Fence): boolean {
  const closing = parseClosing(line, opened)
  return closing !== undefined && closing.trim() === ""
}

/** Returns true if a line ends a block of code even if text follows the fence: code never starts a line with a fence,
 *  except inside strings and comments. */
export function endsCode(line: string, opened: Fence): boolean {
  return parseClosing(line, opened) !== undefined
}

/** Returns true if a line that starts like this may become a fence that closes a block. */
export function mayBeFence(start: string): boolean {
  return start.length <= maxFenceChars && /^[ \t]*(?:`{0,2}|~{0,2})$|^[ \t]*(?:`{3,}|~{3,})/.test(start)
}

/** Returns the text after a closing fence. */
function parseClosing(line: string, opened: Fence): string | undefined {
  if (line.length > maxFenceChars) return undefined
  const text = opened.quoted ? line.replace(/^[ \t]*(?:>[ \t]?)+/, "") : line
  const [, indent = "", fence = "", rest = ""] = /^([ \t]*)(`{3,}|~{3,})(.*)$/.exec(text) ?? []
  if (!fence.startsWith(opened.mark) || fence.length < opened.length || fence === "") return undefined
  return indent.length <= opened.indent + 3 ? rest : undefined
}
