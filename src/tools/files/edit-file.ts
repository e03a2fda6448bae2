// The tool `edit_file`: replaces a piece of a text file and leaves all other bytes unchanged.
import * as z from "zod"
import { type Tool, type ToolContext, type ToolResult, tool, toolFailure, toolResult } from "../tool.ts"
import { cannotEncodeFailure, sizeText, withFailuresAsResults } from "./file-results.ts"
import { codeUnitBytes, lineEnd } from "./read-lines.ts"
import { type ByteMatch, findMatches, replaceMatches } from "./replace-bytes.ts"
import { decode, detectTextFormat, type Encoding } from "./text-encoding.ts"

/** Replaces text in a file of the workspace. */
export function editFileTool(): Tool {
  return tool({
    name: "edit_file",
    description: "Replaces text in a file. oldText must be there exactly, and only once: give enough lines around it.",
    input: z.strictObject({
      path: z.string(),
      oldText: z.string(),
      newText: z.string(),
      replaceAll: z.boolean().optional().describe("Replace it wherever it is."),
    }),
    run: (input, context) => withFailuresAsResults(() => editText(input, context)),
  })
}

interface EditInput {
  path: string
  oldText: string
  newText: string
  replaceAll?: boolean | undefined
}

async function editText(input: EditInput, { workspace, signal }: ToolContext): Promise<ToolResult> {
  const { path, oldText, newText } = input
  if (oldText === "") return toolFailure("invalid-input", "oldText is empty. To make or extend a file, use write_file.")
  if (oldText === newText) return toolFailure("no-change", "oldText and newText are the same. Nothing was changed.")
  const info = await workspace.stat(path, { signal })
  if (info && info.sizeBytes > maxBytes) {
    return toolFailure(
      "too-large",
      `"${path}" has ${sizeText(info.sizeBytes)}; up to ${sizeText(maxBytes)} can be edited.`,
    )
  }
  const bytes = asBuffer(await workspace.read(path, { signal }))
  const kind = detectTextFormat(bytes)
  if (!kind) return toolFailure("binary-file", `"${path}" is no text: it cannot be edited.`)
  const found = findMatches(bytes, oldText, kind.encoding)
  const failure = findProblem(input, bytes, kind.encoding, found)
  if (failure) return failure
  const changed = replaceMatches(bytes, found, newText, kind.encoding, oldText.includes("\r"))
  if (!changed) return cannotEncodeFailure(path)
  // If the file was changed in the meantime, this write is a conflict and nothing is lost.
  await workspace.write(path, changed, { ifMatch: info?.etag ?? null, signal })
  return toolResult({
    text: `Changed ${path} at line ${linesOf(bytes, found, kind.encoding)}.`,
    value: { path, replaced: found.length },
  })
}

function findProblem(
  { path, oldText, replaceAll = false }: EditInput,
  bytes: Buffer,
  encoding: Encoding,
  found: readonly ByteMatch[],
): ToolResult | undefined {
  if (found.length === 0) {
    const hint = nearMissHint(decode(bytes, encoding), oldText) ?? "Read the file and copy the text as it is there."
    return toolFailure("no-match", `oldText is not in "${path}". ${hint}`)
  }
  const isUnique = found.length === 1 && !found[0]?.overlaps
  if (replaceAll || isUnique) return undefined
  const lines = linesOf(bytes, found, encoding)
  const cure = "Give more of the text around the one you mean, or replaceAll."
  return toolFailure("not-unique", `oldText is more than once in "${path}", at line ${lines}. ${cure}`)
}

// Models most often get white space wrong: looks for the first line without its white space.
function nearMissHint(text: string, oldText: string): string | undefined {
  const first = oldText.split("\n").find((line) => line.trim() !== "")
  if (first === undefined) return undefined
  const line = text.split("\n").findIndex((line) => line.includes(first.trim()))
  if (line < 0) return undefined
  return `Its first line is at line ${line + 1}, but white space or the lines after differ: read from there and copy it.`
}

// The line numbers of the first matches, for the message.
function linesOf(bytes: Buffer, found: readonly ByteMatch[], encoding: Encoding): string {
  const lines = new Set<number>()
  let line = 1
  let next = lineEnd(bytes, 0, encoding)
  for (const { start } of found.slice(0, 10)) {
    for (; next >= 0 && next < start; line++) next = lineEnd(bytes, next + codeUnitBytes(encoding), encoding)
    lines.add(line)
  }
  const more = found.length > 10 ? ` and ${found.length - 10} more` : ""
  return `${[...lines].join(", ")}${more}`
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

const maxBytes = 50_000_000
