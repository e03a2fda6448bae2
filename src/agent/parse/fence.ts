// Recognises the lines that open and close fenced code blocks.

/** An opening fence. Lines are passed without their line ending. */
export interface Fence {
  mark: string
  length: number
  indent: number
  tag: string
}

/** A longer line is never a fence, so that a line that arrives in pieces need not be read again and again. */
const maxFenceChars = 1000

export function parseOpeningFence(line: string): Fence | undefined {
  if (line.length > maxFenceChars) return undefined
  const match = /^( {0,3})(`{3,}|~{3,})[ \t]*([^\s`]*)([^`]*)$/.exec(line)
  if (!match) return undefined
  const [, indent = "", fence = "", tag = ""] = match
  return { mark: fence.charAt(0), length: fence.length, indent: indent.length, tag }
}

export function closesFence(line: string, opened: Fence): boolean {
  if (line.length > maxFenceChars) return false
  const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1] ?? ""
  return fence.startsWith(opened.mark) && fence.length >= opened.length
}

/** Returns true if a line that starts like this may become an opening or closing fence. */
export function mayBeFence(start: string): boolean {
  return start.length <= maxFenceChars && /^ {0,3}(`{1,2}|~{1,2})?$|^ {0,3}(`{3,}[^`]*|~{3,}.*)$/.test(start)
}
