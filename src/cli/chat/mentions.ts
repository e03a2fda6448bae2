// `@file` in a prompt: completes the names of files, and puts the contents of the mentioned files into the prompt.
import { readdir, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { mentionedFileText } from "../../core/mentioned-files.ts"
import type { Prompt, PromptPart } from "../../core/message.ts"
import { isInFolder } from "../../core/path-within.ts"
import { readRegularFile } from "../../core/read-regular-file.ts"
import { detectImageType } from "../../tools/read-image/image-type.ts"
import { maxImageBytes } from "../run/read-prompt.ts"

/** The mention that the cursor is at the end of: where its `@` is, and what is written of the path. */
export interface OpenMention {
  start: number
  path: string
}

// An address such as ada@example.org is no mention, so a space or a line start must come before the sign.
const openMention = /(?:^|\s)@([^\s@"]*|"[^"\n]*)$/
const mention = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s@"]+))/g

export function mentionAt(text: string, cursor: number): OpenMention | undefined {
  const [found, path] = openMention.exec(text.slice(0, cursor)) ?? []
  if (found === undefined || path === undefined) return undefined
  return { start: cursor - path.length - 1, path: path.replace(/^"/, "") }
}

/** Returns the paths that begin with what is written, folders with a slash at the end. */
export async function completePath(path: string, cwd: string, most = 8): Promise<string[]> {
  const folder = path.endsWith("/") ? path : join(dirname(`${path}x`), "/")
  const begin = path.slice(path.lastIndexOf("/") + 1)
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => [])
  return entries
    .filter(({ name }) => name.startsWith(begin) && (begin !== "" || !name.startsWith(".")))
    .filter(({ name }) => name !== "node_modules" && !/[\x00-\x1f\x7f"]/.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, most)
    .map((entry) => `${path.slice(0, path.length - begin.length)}${entry.name}${entry.isDirectory() ? "/" : ""}`)
}

/** Writes a path as a mention. */
export function mentionText(path: string): string {
  return /\s/.test(path) ? `@"${path}"` : `@${path}`
}

/** The longest common beginning of several paths. */
export function commonStart(paths: readonly string[]): string {
  const [first = "", ...others] = paths
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  return first.slice(0, length)
}

const maxFileBytes = 200_000
const maxFiles = 20

/** Returns the prompt with the contents of the mentioned files, and what the person should know: what could not be
 *  read, and which files outside of `cwd` are sent, because pasted text may mention any. Names without a file stay text:
 *  `@deprecated` is a word. */
export async function readMentions(text: string, cwd: string): Promise<{ prompt: Prompt; problems: string[] }> {
  const parts: PromptPart[] = []
  const problems: string[] = []
  for (const { path, file, size } of await mentionedFiles(text, cwd)) {
    if (parts.length === maxFiles) {
      problems.push(`A prompt can have ${maxFiles} files. The contents of @${path} and later ones are not sent.`)
      break
    }
    const part = await readPart(path, file, size)
    if (typeof part === "string") problems.push(part)
    else {
      parts.push(part)
      if (!isInFolder(cwd, file)) problems.push(`The content of @${path}, which is outside of this folder, is sent.`)
    }
  }
  return { prompt: parts.length === 0 ? text : [{ type: "text", text }, ...parts], problems }
}

interface MentionedFile {
  /** As it is written. */
  path: string
  file: string
  size: number
}

/** Returns the files that a text mentions and that are there. */
export async function mentionedFiles(text: string, cwd: string): Promise<MentionedFile[]> {
  const paths = new Set([...text.matchAll(mention)].map(([, quoted, plain = ""]) => quoted ?? plain))
  const files: MentionedFile[] = []
  for (const path of paths) {
    const file = resolve(cwd, path)
    const found = await stat(file).catch(() => undefined)
    if (found?.isFile()) files.push({ path, file, size: found.size })
  }
  return files
}

async function readPart(path: string, file: string, size: number): Promise<PromptPart | string> {
  // Longer files are not read at all: they may be larger than the memory.
  if (size > maxImageBytes) return tooLong(path, size)
  const found = await readRegularFile(file, maxImageBytes)
  if ("problem" in found) return `@${path} ${found.problem}.`
  const { bytes } = found
  const image = detectImageType(bytes)
  if (image) return { type: "image", mediaType: image.mediaType, data: bytes.toString("base64") }
  if (bytes.includes(0)) return `@${path} is neither text nor an image; only its name is sent.`
  if (bytes.length > maxFileBytes) return tooLong(path, bytes.length)
  return { type: "text", text: mentionedFileText(path, bytes.toString("utf8")) }
}

function tooLong(path: string, size: number): string {
  return `@${path} is too long to send (${size} bytes, at most ${maxFileBytes}); give it as --data.`
}
