// The contents of files that a person mentioned in a prompt: further text parts of the message, which the model gets and
// which are not shown to the person as a part of the prompt.
import { type Message, partText } from "./message.ts"
import { taggedText } from "./text/tagged-text.ts"

/** The text of a part with the content of a file. */
export function mentionedFileText(path: string, content: string): string {
  return taggedText("file", content, ` path="${path}"`)
}

/** The text of a message as the person wrote it, without the contents of mentioned files. */
export function typedText(message: Message): string {
  const [first, ...others] = message.parts.map(partText)
  return [first, ...others.filter((text) => !mentionedFile.test(text))].filter(Boolean).join("\n")
}

const mentionedFile = /^<file path="[^"\n]*">\n[\s\S]*\n<\/file>$/
