// The tool `edit_file`: replaces pieces of a text file and leaves all other bytes unchanged.
import * as z from "zod"
import { type Tool, type ToolContext, type ToolResult, tool, toolFailure, toolResult } from "../tool.ts"
import { changedLines, lineNumbers } from "./changed-lines.ts"
import { cannotEncodeFailure, countText, sizeText } from "./file-results.ts"
import { useFiles } from "./karst-files.ts"
import { type ByteMatch, type ByteRange, findMatches, moveRange, replaceMatches } from "./replace-bytes.ts"
import { decode, detectTextFormat, type Encoding } from "./text-encoding.ts"

const editSchema = z.strictObject({
  oldText: z.string().describe("The exact text. It must occur once, unless replaceAll: include enough lines."),
  newText: z.string(),
  replaceAll: z.boolean().optional().describe("Replace every occurrence."),
})

/** Replaces text in a file of the workspace. */
export function editFileTool(): Tool {
  const made = tool({
    name: "edit_file",
    description:
      "Replaces text in a file and shows the changed lines. Edits apply in order; if one fails, nothing is changed.",
    input: z.strictObject({ path: z.string(), edits: z.array(editSchema).min(1) }),
    run: ({ path, edits }, context) => useFiles(context, (files) => editText(path, edits, files)),
  })
  return { ...made, accept: (input) => made.accept(withEditList(input)) }
}

type Edit = z.infer<typeof editSchema>

// Many models know a form with a single edit, in which the texts are beside the path.
function withEditList(input: unknown): unknown {
  if (typeof input !== "object" || input === null || "edits" in input || !("oldText" in input)) return input
  const { oldText, newText, replaceAll, ...rest }: { [name: string]: unknown } = { ...input }
  return { ...rest, edits: [{ oldText, newText, ...(replaceAll !== undefined && { replaceAll }) }] }
}

async function editText(path: string, edits: readonly Edit[], { workspace, signal }: ToolContext): Promise<ToolResult> {
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
  const edited = applyEdits(path, edits, bytes, kind.encoding)
  if ("ok" in edited) return edited
  // If the file was changed in the meantime, this write is a conflict and nothing is lost.
  await workspace.write(path, edited.bytes, { ifMatch: info?.etag ?? null, signal })
  const places = edited.replaced === 1 ? "" : ` in ${countText(edited.replaced, "place")}`
  return toolResult({
    text: `Changed ${path}${places}:\n${changedLines(edited.bytes, edited.changes, kind.encoding)}`,
    value: { path, replaced: edited.replaced },
  })
}

interface EditedText {
  bytes: Buffer
  replaced: number
  /** The ranges of the new bytes that were written. */
  changes: ByteRange[]
}

// Applies each edit to the result of the one before. Returns the failure of the first edit that cannot be applied.
function applyEdits(
  path: string,
  edits: readonly Edit[],
  original: Buffer,
  encoding: Encoding,
): EditedText | ToolResult {
  let bytes = original
  let replaced = 0
  let changes: ByteRange[] = []
  for (const [index, edit] of edits.entries()) {
    const found = findMatches(bytes, edit.oldText, encoding)
    const failure = findProblem(path, edit, bytes, encoding, found)
    if (failure) return ofEdit(failure, index, edits.length)
    const result = replaceMatches(bytes, found, edit.newText, encoding, edit.oldText.includes("\r"))
    if (!result) return ofEdit(cannotEncodeFailure(path), index, edits.length)
    changes = [...changes.map((range) => moveRange(range, found, result.ranges)), ...result.ranges]
    replaced += found.length
    bytes = result.bytes
  }
  return { bytes, replaced, changes }
}

function ofEdit(failure: ToolResult, index: number, count: number): ToolResult {
  if (count === 1) return failure
  return toolFailure(
    failure.code ?? "tool-failed",
    `Nothing was changed. Edit ${index + 1} of ${count}: ${failure.text}`,
  )
}

function findProblem(
  path: string,
  { oldText, newText, replaceAll = false }: Edit,
  bytes: Buffer,
  encoding: Encoding,
  found: readonly ByteMatch[],
): ToolResult | undefined {
  if (oldText === "") return toolFailure("invalid-input", "oldText is empty. To make or extend a file, use write_file.")
  if (oldText === newText) return toolFailure("no-change", "oldText and newText are the same. Nothing was changed.")
  if (found.length === 0) {
    const hint = nearMissHint(decode(bytes, encoding), oldText) ?? "Read the file and copy the text as it is there."
    return toolFailure("no-match", `oldText is not in "${path}". ${hint}`)
  }
  const isUnique = found.length === 1 && !found[0]?.overlaps
  if (replaceAll || isUnique) return undefined
  const lines = lineNumbers(bytes, found, encoding)
  const cure = "Give more of the text around the one you mean, or set replaceAll."
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

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

const maxBytes = 50_000_000
