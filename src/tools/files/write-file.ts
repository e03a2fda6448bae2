// The tool `write_file`: creates, replaces or extends a file.
import * as z from "zod"
import type { FileInfo } from "../../workspaces/workspace.ts"
import { type Tool, type ToolContext, type ToolResult, tool, toolResult } from "../tool.ts"
import { cannotEncodeFailure, countText } from "./file-results.ts"
import { useFiles } from "./karst-files.ts"
import { decode, detectTextFormat, encode, sampleBytes } from "./text-encoding.ts"

/** Writes a file of the workspace. */
export function writeFileTool(): Tool {
  return tool({
    name: "write_file",
    description: "Creates a file or replaces its whole content. To change a part, use edit_file.",
    input: z.strictObject({
      path: z.string(),
      content: z.string(),
      append: z.boolean().optional().describe("Add content to the end of the file."),
      leadingNewline: z.boolean().optional().describe("With append: a line break before content."),
      trailingNewline: z.boolean().optional().describe("With append: a line break after content."),
    }),
    run: (input, context) =>
      useFiles(context, (files) => (input.append ? appendText(input, files) : writeText(input, files))),
  })
}

interface WriteInput {
  path: string
  content: string
  leadingNewline?: boolean | undefined
  trailingNewline?: boolean | undefined
}

async function writeText({ path, content }: WriteInput, { workspace, signal }: ToolContext): Promise<ToolResult> {
  const before = await workspace.stat(path, { signal })
  const info = await workspace.write(path, content, { signal })
  return writtenResult(before ? "Replaced" : "Made", content, info)
}

async function appendText(input: WriteInput, { workspace, signal }: ToolContext): Promise<ToolResult> {
  const { path, content, leadingNewline = false, trailingNewline = false } = input
  const text = `${leadingNewline ? "\n" : ""}${content}${trailingNewline ? "\n" : ""}`
  const before = await workspace.stat(path, { signal })
  const sample = before ? await workspace.read(path, { end: sampleBytes, signal }) : new Uint8Array()
  const { encoding } = detectTextFormat(sample) ?? { encoding: "utf-8" as const }
  // Appended text uses the line breaks of the file.
  const isCrlf = !text.includes("\r") && decode(sample, encoding).includes("\r\n")
  const bytes = encode(isCrlf ? text.replaceAll("\n", "\r\n") : text, encoding)
  if (!bytes) return cannotEncodeFailure(path)
  const info = await workspace.write(path, bytes, { append: true, signal })
  return writtenResult(before ? "Extended" : "Made", text, info)
}

function writtenResult(what: string, text: string, { path, sizeBytes: size }: FileInfo): ToolResult {
  return toolResult({ text: `${what} ${path}: wrote ${countText(text.length, "character")}.`, value: { path, size } })
}
