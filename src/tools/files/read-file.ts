// The tool `read_file`: reads text in slices that fit into a conversation.
import * as z from "zod"
import type { FileInfo } from "../../workspaces/workspace.ts"
import { detectImageType } from "../read-image/image-type.ts"
import { type Tool, type ToolContext, type ToolResult, tool, toolFailure, toolResult } from "../tool.ts"
import { countText, integerFrom, sizeText } from "./file-results.ts"
import { useFiles } from "./karst-files.ts"
import { type Cursor, formatCursor, isCursorOf, parseCursor } from "./read-cursor.ts"
import { countLines, findLine, type LineSlice, takeLines } from "./read-lines.ts"
import { detectTextFormat, sampleBytes } from "./text-encoding.ts"

/** Reads lines of a file of the workspace. */
export function readFileTool(): Tool {
  return tool({
    name: "read_file",
    description:
      "Reads a text file with line numbers, up to 2,000 lines or 50,000 characters at once. If there is more, the " +
      "result ends with a cursor for the next part.",
    input: z.strictObject({
      path: z.string(),
      startLine: integerFrom(1).optional(),
      endLine: integerFrom(1).optional(),
      numbers: z.boolean().optional().describe("False: no line numbers."),
      cursor: z.string().optional().describe("Continues where the last part ended."),
    }),
    sideEffect: false,
    parallel: true,
    maxOutputChars: 60_000,
    run: (input, context) => useFiles(context, (files) => readText(input, files)),
  })
}

interface ReadInput {
  path: string
  startLine?: number | undefined
  endLine?: number | undefined
  numbers?: boolean | undefined
  cursor?: string | undefined
}

async function readText(input: ReadInput, context: ToolContext): Promise<ToolResult> {
  const { path, startLine = 1, endLine = Infinity, cursor } = input
  if (endLine < startLine) {
    return toolFailure("invalid-range", `endLine ${endLine} is before startLine ${startLine}. Lines count from 1.`)
  }
  const from = cursor === undefined ? undefined : parseCursor(cursor)
  if (cursor !== undefined && !from) {
    return toolFailure("invalid-cursor", `"${cursor}" is no cursor. Copy the one that read_file gave, or leave it out.`)
  }
  const { workspace, signal } = context
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = await workspace.stat(path, { signal })
    const result = await readVersion(input, from, before, context)
    const after = await workspace.stat(path, { signal })
    // The same version before and after: everything read in between is of this version.
    if (before?.etag === after?.etag) return result
  }
  return toolFailure("conflict", `"${path}" is changed all the time while it is read. Try again later.`)
}

async function readVersion(
  { path, startLine = 1, endLine = Infinity, numbers = true }: ReadInput,
  cursor: Cursor | undefined,
  info: FileInfo | undefined,
  { workspace, signal }: ToolContext,
): Promise<ToolResult> {
  const sample = await workspace.read(path, { end: sampleBytes, signal })
  const kind = detectTextFormat(sample)
  if (!kind) return binaryFailure(path, sample, info)
  if (cursor && !isCursorOf(cursor, info)) {
    const text = `"${path}" was changed since this cursor was given. Read it again from line ${cursor.line} on, without the cursor.`
    return toolFailure("stale-cursor", text)
  }
  const start = cursor ?? (await findLine(workspace.stream(path, { start: kind.bomBytes, signal }), kind, startLine))
  const last = cursor?.endLine ?? endLine
  if (start.line < startLine && !cursor) return outOfRangeFailure(path, start.line, startLine)
  const window = await workspace.read(path, { start: start.byte, end: start.byte + windowBytes, signal })
  const isWhole = start.byte + window.length >= (info?.sizeBytes ?? 0)
  const slice = takeLines(window, isWhole, kind, start, { endLine: last, numbers, ...limits })
  const { next } = slice
  const total = next && isWhole ? next.line - 1 + countLines(window.subarray(next.byte - start.byte), kind) : undefined
  return sliceResult(path, slice, info, last, total)
}

// `total` is the number of lines of the file, if it is known and the slice is not the end of the file.
function sliceResult(
  path: string,
  slice: LineSlice,
  info: FileInfo | undefined,
  endLine: number,
  total: number | undefined,
): ToolResult {
  const { lines, rendered, first, next } = slice
  const value = { text: lines.join("\n"), startLine: first, endLine: first + Math.max(0, lines.length - 1) }
  if (lines.length === 0) return toolResult({ text: `"${path}" is empty.`, value })
  const text = rendered.join("\n")
  const isComplete = !next || next.line > endLine
  const ofTotal = total === undefined ? "" : ` of ${total}`
  if (isComplete) {
    const lines = first === value.endLine ? `Line ${first}` : `Lines ${first} to ${value.endLine}`
    return toolResult({ text: next ? `${text}\n[${lines}${ofTotal}.]` : text, value })
  }
  const cursor = formatCursor({ ...next, endLine }, info)
  const where = `${value.endLine}${ofTotal}${next.line === value.endLine ? ", which is cut" : ""}`
  const size = info ? `, ${sizeText(next.byte)} of ${sizeText(info.sizeBytes)}` : ""
  return toolResult({
    text: `${text}\n[Lines ${first} to ${where}${size}. Continue with cursor "${cursor}".]`,
    value: { ...value, cursor },
  })
}

function outOfRangeFailure(path: string, lines: number, startLine: number): ToolResult {
  return toolFailure("out-of-range", `"${path}" has ${countText(lines, "line")}: there is no line ${startLine}.`)
}

function binaryFailure(path: string, sample: Uint8Array, info: FileInfo | undefined): ToolResult {
  const image = detectImageType(sample)
  const what = `"${path}" is no text, but ${image ? image.mediaType : "binary"}${info ? `, ${sizeText(info.sizeBytes)}` : ""}.`
  return toolFailure("binary-file", image ? `${what} Use read_image to see it.` : what)
}

const limits = { maxLines: 2000, maxChars: 50_000 }

// Enough bytes for the maximum number of characters in any encoding.
const windowBytes = limits.maxChars * 4
