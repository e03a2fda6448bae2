// Writes parts of a prompt to private files, for CLIs that take paths.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { UnsupportedError } from "../../core/errors.ts"
import { messageText, type PromptPart, type UserMessage } from "../../core/message.ts"

/** The text of a prompt without its images. */
export function promptText(message: UserMessage): string {
  return messageText({ ...message, parts: message.parts.filter((part) => part.type !== "image") })
}

/** Writes the images of a prompt into a folder and returns their paths. */
export async function writeImageFiles(title: string, { parts }: UserMessage, folder: string): Promise<string[]> {
  const images = parts.filter((part): part is Extract<PromptPart, { type: "image" }> => part.type === "image")
  return await Promise.all(
    images.map(async ({ data, mediaType }, index) => {
      if (/^https?:/.test(data))
        throw new UnsupportedError(`${title} accepts images only as data, not as URLs. Fetch them first.`)
      const path = join(folder, `image-${index}.${mediaType.split("/").at(-1)}`)
      await writeFile(path, data, { encoding: "base64", mode: 0o600 })
      return path
    }),
  )
}

/** Writes a file that only the user can read, for texts too long or too secret for arguments, which every user can
 *  list. */
export async function writePrivateFile(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text, { mode: 0o600 })
  return path
}
