// Reads a prompt from the words of a command line, standard input and image files.
import { readFile } from "node:fs/promises"
import { text as readAll } from "node:stream/consumers"
import type { Prompt, PromptPart } from "../../core/message.ts"
import { detectImageType, imageNames } from "../../tools/read-image/image-type.ts"
import { UsageError } from "../usage-error.ts"

/** Joins the words. The word "-" stands for standard input. Without words, standard input is the prompt if it is not a
 *  terminal. Returns an empty text if there is none. */
export async function readPromptText(words: readonly string[]): Promise<string> {
  if (words.length === 0) return process.stdin.isTTY ? "" : await readAll(process.stdin)
  if (!words.includes("-")) return words.join(" ")
  const input = await readAll(process.stdin)
  if (words.length === 1) return input
  return words.map((word) => (word === "-" ? `\n\n${input}` : word)).join(" ")
}

export async function withImages(text: string, paths: readonly string[]): Promise<Prompt> {
  if (paths.length === 0) return text
  return [{ type: "text", text }, ...(await Promise.all(paths.map(readImage)))]
}

async function readImage(path: string): Promise<PromptPart> {
  const bytes = await readFile(path).catch((error: Error) => {
    throw new UsageError(`--image ${path}: the file cannot be read (${error.message}).`)
  })
  const type = detectImageType(bytes)
  if (!type) throw new UsageError(`--image ${path}: this is no image of a known type: ${imageNames}.`)
  return { type: "image", mediaType: type.mediaType, data: bytes.toString("base64") }
}
