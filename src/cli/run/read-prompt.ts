// Reads a prompt from the words of a command line, standard input and image files.
import type { Prompt, PromptPart } from "../../core/message.ts"
import { detectImageType, imageNames } from "../../tools/read-image/image-type.ts"
import { readOptionFile } from "../load/read-option-file.ts"
import { UsageError } from "../usage-error.ts"

/** Joins the words. The word "-" stands for standard input. Without words, standard input is the prompt if it is not a
 *  terminal. Returns an empty text if there is none. */
export async function readPromptText(words: readonly string[]): Promise<string> {
  if (words.length === 0) return process.stdin.isTTY ? "" : await readStandardInput()
  if (!words.includes("-")) return words.join(" ")
  const input = await readStandardInput()
  if (words.length === 1) return input
  return words.map((word) => (word === "-" ? `\n\n${input}` : word)).join(" ")
}

const maxInputBytes = 10_000_000

/** Reads standard input to its end. Throws for a longer one, which may never end. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxInputBytes)
      throw new UsageError(
        `Standard input has more than ${maxInputBytes} bytes. Write it to a file, and give it as --data.`,
      )
  }
  return Buffer.concat(chunks).toString("utf8")
}

export const maxImageBytes = 20_000_000

export async function withImages(text: string, paths: readonly string[]): Promise<Prompt> {
  if (paths.length === 0) return text
  return [{ type: "text", text }, ...(await Promise.all(paths.map(readImage)))]
}

async function readImage(path: string): Promise<PromptPart> {
  const bytes = await readOptionFile("--image ", path, maxImageBytes)
  const type = detectImageType(bytes)
  if (!type) throw new UsageError(`--image ${path}: this is no image of a known type: ${imageNames}.`)
  return { type: "image", mediaType: type.mediaType, data: bytes.toString("base64") }
}
