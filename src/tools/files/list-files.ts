// The tools `list_files`, `find_files` and `file_info`.
import * as z from "zod"
import { cleanFolder, comparePaths } from "../../workspaces/workspace-path.ts"
import { detectImageType } from "../read-image/image-type.ts"
import { type Tool, type ToolContext, type ToolResult, tool, toolFailure, toolResult } from "../tool.ts"
import { createFileFilter, toWorkspaceGlob } from "./file-filter.ts"
import { countText, findMissingFolder, integerFrom, sizeText } from "./file-results.ts"
import { useFiles } from "./karst-files.ts"
import { countLines } from "./read-lines.ts"
import { decode, detectTextFormat, encodingName, sampleBytes, type TextFormat } from "./text-encoding.ts"

const hidden = z.boolean().optional().describe("Include dot files and node_modules.")
const page = { limit: integerFrom(1).optional().describe("Default 200."), offset: integerFrom(0).optional() }

/** Lists one folder. */
export function listFilesTool(): Tool {
  return tool({
    name: "list_files",
    description: "Lists one folder: files with sizes, folders with the number of files in them.",
    input: z.strictObject({
      path: z.string().optional(),
      hidden: z.boolean().optional().describe("Include dot files."),
      ...page,
    }),
    sideEffect: false,
    parallel: true,
    maxOutputChars: 40_000,
    run: (input, context) => useFiles(context, (files) => listFolder(input, files)),
  })
}

/** Finds files by their paths. */
export function findFilesTool(): Tool {
  return tool({
    name: "find_files",
    description:
      "Finds files by a glob such as src/**/*.{ts,js}. A glob without a slash matches names in every folder.",
    input: z.strictObject({ glob: z.string(), path: z.string().optional(), hidden, ...page }),
    sideEffect: false,
    parallel: true,
    maxOutputChars: 40_000,
    run: (input, context) => useFiles(context, (files) => findFiles(input, files)),
  })
}

/** Describes one file or folder. */
export function fileInfoTool(): Tool {
  return tool({
    name: "file_info",
    description: "Returns size, number of lines, time of change and kind of a file, or the size of a folder.",
    input: z.strictObject({ path: z.string() }),
    sideEffect: false,
    parallel: true,
    maxOutputChars: 40_000,
    run: (input, context) => useFiles(context, (files) => fileInfo(input, files)),
  })
}

interface Page {
  limit?: number | undefined
  offset?: number | undefined
}

async function listFolder(
  { path = "", hidden = false, ...page }: { path?: string | undefined; hidden?: boolean | undefined } & Page,
  { workspace, signal }: ToolContext,
): Promise<ToolResult> {
  const clean = cleanFolder(path)
  if (clean !== "" && (await workspace.stat(clean, { signal }))) {
    return toolFailure("not-a-folder", `"${path}" is a file, not a folder. Read it, or list the folder it is in.`)
  }
  const start = clean === "" ? 0 : clean.length + 1
  const entries = new Map<string, { files?: number; size: number }>()
  let seen = 0
  const glob = hidden ? undefined : "{[!.]*,[!.]*/**}"
  for await (const { path: found, sizeBytes: size } of workspace.list(clean, { glob, signal })) {
    if (++seen > maxSeen) break
    const [name = "", ...rest] = found.slice(start).split("/")
    const folder = entries.get(`${name}/`) ?? { files: 0, size: 0 }
    if (rest.length === 0) entries.set(name, { size })
    else entries.set(`${name}/`, { files: (folder.files ?? 0) + 1, size: folder.size + size })
  }
  const missing = seen === 0 ? await findMissingFolder(path, workspace, { signal }) : undefined
  if (missing) return missing
  const items = [...entries]
    .sort(([one], [other]) => comparePaths(one, other))
    .map(([name, { files, size }]) => ({ name, size, ...(files !== undefined && { files }) }))
  const lines = items.map(({ name, size, files }) => {
    const inside = files === undefined ? "" : `${countText(files, "file")}, `
    return `${name} (${inside}${sizeText(size)})`
  })
  const whole = pageResult(items, lines, page, "Nothing here.")
  if (seen <= maxSeen) return whole
  const text = `${whole.text}\n[Stopped after ${countText(maxSeen, "file")}: counts and names after that are missing. List a folder below.]`
  return toolResult({ text, value: whole.value })
}

async function findFiles(
  {
    glob,
    path = "",
    hidden = false,
    ...page
  }: { glob: string; path?: string | undefined; hidden?: boolean | undefined } & Page,
  { workspace, signal }: ToolContext,
): Promise<ToolResult> {
  const chosen = createFileFilter({ glob, hidden })
  const folder = cleanFolder(path)
  const { limit, offset } = pageBounds(page)
  const found: string[] = []
  for await (const info of workspace.list(folder, { glob: toWorkspaceGlob(glob), signal })) {
    if (!chosen(folder === "" ? info.path : info.path.slice(folder.length + 1))) continue
    found.push(info.path)
    if (found.length > offset + limit) break
  }
  const missing = found.length === 0 ? await findMissingFolder(path, workspace, { signal }) : undefined
  return missing ?? pageResult(found, found, page, "No files match.")
}

async function fileInfo({ path }: { path: string }, { workspace, signal }: ToolContext): Promise<ToolResult> {
  const info = cleanFolder(path) === "" ? undefined : await workspace.stat(path, { signal })
  if (!info) return await folderInfo(path, { workspace, signal })
  const isCounted = info.sizeBytes <= maxCountedBytes
  const sample = await workspace.read(path, { end: isCounted ? maxCountedBytes : sampleBytes, signal })
  const text = detectTextFormat(sample.subarray(0, sampleBytes))
  const lines = text && isCounted ? countLines(sample.subarray(text.bomBytes), text) : undefined
  const kind = text ? textName(sample, text) : (detectImageType(sample)?.mediaType ?? "binary")
  const modified = new Date(info.modifiedAt).toISOString()
  return toolResult({
    text: `${info.path}: ${exactSize(info.sizeBytes)}${lines ? `, ${countText(lines, "line")}` : ""}, changed ${modified}, ${info.sizeBytes === 0 ? "empty" : kind}`,
    value: { path: info.path, size: info.sizeBytes, modified, kind, ...(lines !== undefined && { lines }) },
  })
}

function exactSize(bytes: number): string {
  return bytes < 1000 ? sizeText(bytes) : `${sizeText(bytes)} (${countText(bytes, "byte")})`
}

async function folderInfo(path: string, { workspace, signal }: Pick<ToolContext, "workspace" | "signal">) {
  let [files, size] = [0, 0]
  for await (const info of workspace.list(path, { signal })) {
    files++
    size += info.sizeBytes
    if (files === maxSeen) break
  }
  if (files === 0)
    return toolFailure("not-found", `There is no file or folder "${path}". List the folder to see what there is.`)
  const least = files === maxSeen ? "at least " : ""
  return toolResult({
    text: `${path}: a folder with ${least}${countText(files, "file")}, ${sizeText(size)}`,
    value: { path, kind: "folder", files, size },
  })
}

function textName(sample: Uint8Array, kind: TextFormat): string {
  const crlf = decode(sample, kind.encoding).includes("\r\n") ? ", CRLF" : ""
  return `text, ${encodingName(kind)}${crlf}`
}

// Cuts the text for the model and the value for a cell alike.
function pageResult(items: readonly unknown[], lines: readonly string[], page: Page, none: string): ToolResult {
  const { limit, offset } = pageBounds(page)
  const shown = lines.slice(offset, offset + limit)
  const value = items.slice(offset, offset + limit)
  if (shown.length === 0) return toolResult({ text: offset > 0 ? `Nothing from ${offset} on.` : none, value })
  const more = lines.length > offset + limit ? `\n[More: continue with offset ${offset + limit}, or narrow it.]` : ""
  return toolResult({ text: `${shown.join("\n")}${more}`, value })
}

function pageBounds({ limit = 200, offset = 0 }: Page) {
  return { limit: Math.min(limit, maxShown), offset }
}

const maxShown = 1000
const maxSeen = 200_000
// Lines of larger files are not counted.
const maxCountedBytes = 1_000_000
