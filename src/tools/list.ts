import * as z from "zod"
import { byPath, cleanFolder } from "../workspace/paths.ts"
import { decode, encodingName, sampleBytes, type TextKind, textKind } from "./files/encoding.ts"
import { chooser, listGlob } from "./files/walk.ts"
import { countOf, nothingAt, onFiles, sizeText, wholeNumber } from "./files.ts"
import { imageType } from "./image/type.ts"
import { type Tool, type ToolContext, type ToolResult, tool, toolFailure, toolResult } from "./tool.ts"

const hidden = z.boolean().optional().describe("Dot files and node_modules, too.")
const page = { limit: wholeNumber(1).optional(), offset: wholeNumber(0).optional() }

/** Shows what is in one folder. */
export function listFilesTool(): Tool {
  return tool({
    name: "list_files",
    description: "Lists one folder: files with sizes, folders with how many files are in them.",
    input: z.strictObject({
      path: z.string().optional(),
      hidden: z.boolean().optional().describe("Dot files, too."),
      ...page,
    }),
    sideEffect: false,
    parallel: true,
    maxChars: 40_000,
    run: (input, context) => onFiles(() => listFolder(input, context)),
  })
}

/** Finds files by their paths. */
export function findFilesTool(): Tool {
  return tool({
    name: "find_files",
    description: "Finds files by a glob: src/**/*.{ts,js}. Without a slash: names in any folder.",
    input: z.strictObject({ glob: z.string(), path: z.string().optional(), hidden, ...page }),
    sideEffect: false,
    parallel: true,
    maxChars: 40_000,
    run: (input, context) => onFiles(() => findFiles(input, context)),
  })
}

/** Says what is known about one file or folder. */
export function fileInfoTool(): Tool {
  return tool({
    name: "file_info",
    description: "Tells size, time of change and kind of a file, or how much is in a folder.",
    input: z.strictObject({ path: z.string() }),
    sideEffect: false,
    parallel: true,
    maxChars: 40_000,
    run: (input, context) => onFiles(() => fileInfo(input, context)),
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
  for await (const { path: found, size } of workspace.list(clean, { glob, signal })) {
    if (++seen > mostSeen) break
    const [name = "", ...rest] = found.slice(start).split("/")
    const folder = entries.get(`${name}/`) ?? { files: 0, size: 0 }
    if (rest.length === 0) entries.set(name, { size })
    else entries.set(`${name}/`, { files: (folder.files ?? 0) + 1, size: folder.size + size })
  }
  const missing = seen === 0 ? await nothingAt(path, workspace, { signal }) : undefined
  if (missing) return missing
  const items = [...entries]
    .sort(([one], [other]) => byPath(one, other))
    .map(([name, { files, size }]) => ({ name, size, ...(files !== undefined && { files }) }))
  const lines = items.map(({ name, size, files }) => {
    const inside = files === undefined ? "" : `${countOf(files, "file")}, `
    return `${name} (${inside}${sizeText(size)})`
  })
  const whole = pageOf(items, lines, page, "Nothing here.")
  if (seen <= mostSeen) return whole
  const text = `${whole.text}\n[Stopped after ${countOf(mostSeen, "file")}: counts and names after that are missing. List a folder below.]`
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
  const chosen = chooser({ glob, hidden })
  const folder = cleanFolder(path)
  const { limit, offset } = bounds(page)
  const found: string[] = []
  for await (const info of workspace.list(folder, { glob: listGlob(glob), signal })) {
    if (!chosen(folder === "" ? info.path : info.path.slice(folder.length + 1))) continue
    found.push(info.path)
    if (found.length > offset + limit) break
  }
  const missing = found.length === 0 ? await nothingAt(path, workspace, { signal }) : undefined
  return missing ?? pageOf(found, found, page, "No files match.")
}

async function fileInfo({ path }: { path: string }, { workspace, signal }: ToolContext): Promise<ToolResult> {
  const info = cleanFolder(path) === "" ? undefined : await workspace.stat(path, { signal })
  if (!info) return await folderInfo(path, { workspace, signal })
  const sample = await workspace.read(path, { end: sampleBytes, signal })
  const text = textKind(sample)
  const kind = text ? textName(sample, text) : (imageType(sample)?.mediaType ?? "binary")
  const modified = new Date(info.modifiedAt).toISOString()
  return toolResult({
    text: `${info.path}: ${sizeText(info.size)} (${info.size}), changed ${modified}, ${info.size === 0 ? "empty" : kind}`,
    value: { path: info.path, size: info.size, modified, kind },
  })
}

async function folderInfo(path: string, { workspace, signal }: Pick<ToolContext, "workspace" | "signal">) {
  let [files, size] = [0, 0]
  for await (const info of workspace.list(path, { signal })) {
    files++
    size += info.size
    if (files === mostSeen) break
  }
  if (files === 0)
    return toolFailure("not-found", `There is no file or folder "${path}". List the folder to see what there is.`)
  const least = files === mostSeen ? "at least " : ""
  return toolResult({
    text: `${path}: a folder with ${least}${countOf(files, "file")}, ${sizeText(size)}`,
    value: { path, kind: "folder", files, size },
  })
}

function textName(sample: Uint8Array, kind: TextKind): string {
  const crlf = decode(sample, kind.encoding).includes("\r\n") ? ", CRLF" : ""
  return `text, ${encodingName(kind)}${crlf}`
}

// Both halves are cut alike: what the model reads, and what a cell gets.
function pageOf(items: readonly unknown[], lines: readonly string[], page: Page, none: string): ToolResult {
  const { limit, offset } = bounds(page)
  const shown = lines.slice(offset, offset + limit)
  const value = items.slice(offset, offset + limit)
  if (shown.length === 0) return toolResult({ text: offset > 0 ? `Nothing from ${offset} on.` : none, value })
  const more = lines.length > offset + limit ? `\n[More: go on with offset ${offset + limit}, or narrow it.]` : ""
  return toolResult({ text: `${shown.join("\n")}${more}`, value })
}

function bounds({ limit = 200, offset = 0 }: Page) {
  return { limit: Math.min(limit, mostShown), offset }
}

const mostShown = 1000
const mostSeen = 200_000
