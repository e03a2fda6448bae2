// The messages for a model whose answer contains code that was not run.
import { textsIn } from "../../core/prompt-texts.ts"
import { type CodeSyntax, languageNames, otherLanguage } from "./tags.ts"

/** Why nothing of an answer was run although it is not a final answer. */
export type SendBackReason =
  | { kind: "other-language" | "untagged" | "quoted" | "empty" | "call" | "never-closed" | "thought" }
  | { kind: "program"; tag: string }
  | { kind: "markup"; name: string }

export function sendBackMessage(reason: SendBackReason, { language, fence, promptLanguage }: CodeSyntax): string {
  const texts = textsIn(promptLanguage)
  const own = languageNames[language]
  switch (reason.kind) {
    case "other-language":
      return texts.otherLanguage(own, languageNames[otherLanguage(language)], fence)
    case "untagged":
      return texts.untaggedCode(fence)
    case "program":
      return texts.otherProgram(reason.tag, own, fence)
    case "quoted":
      return texts.quotedCode(fence)
    case "empty":
      return texts.emptyBlock(fence)
    case "call":
      return texts.callAsText(fence)
    case "markup":
      return texts.unknownMarkup(reason.name, fence)
    case "never-closed":
      return texts.blockNeverClosed(fence)
    case "thought":
      return texts.onlyThoughts(fence)
  }
}
