/** A fence as it was opened. */
export interface Fence {
  mark: string
  length: number
  indent: number
  tag: string
}

/** No fence is longer, with what stands behind it. To read a line that comes in pieces again and again would take too long. */
const maxFenceChars = 1000

/** The fence that a line opens. */
export function parseOpeningFence(line: string): Fence | undefined {
  if (line.length > maxFenceChars) return undefined
  const match = /^( {0,3})(`{3,}|~{3,})[ \t]*([^\s`]*)([^`]*)$/.exec(line)
  if (!match) return undefined
  const [, indent = "", fence = "", tag = ""] = match
  return { mark: fence.charAt(0), length: fence.length, indent: indent.length, tag }
}

/** Whether a line closes a fence. */
export function closesFence(line: string, opened: Fence): boolean {
  if (line.length > maxFenceChars) return false
  const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1] ?? ""
  return fence.startsWith(opened.mark) && fence.length >= opened.length
}

/** Whether a line that begins so may still turn out to be a fence. */
export function mayBeFence(start: string): boolean {
  return start.length <= maxFenceChars && /^ {0,3}(`{1,2}|~{1,2})?$|^ {0,3}(`{3,}[^`]*|~{3,}.*)$/.test(start)
}
