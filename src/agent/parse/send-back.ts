// The messages for a model whose answer contains code that was not run.
import { type CodeSyntax, languageNames, otherLanguage } from "./tags.ts"

/** Why nothing of an answer was run although it is not a final answer. */
export type SendBackReason =
  | { kind: "other-language" | "untagged" | "quoted" | "empty" | "call" | "never-closed" | "thought" }
  | { kind: "program"; tag: string }
  | { kind: "markup"; name: string }

export function sendBackMessage(reason: SendBackReason, { language, fence }: CodeSyntax): string {
  const block = `\`\`\`${fence} block`
  const own = languageNames[language]
  switch (reason.kind) {
    case "other-language":
      return `(This session runs ${own}, so your ${languageNames[otherLanguage(language)]} code was not run. To run it, write it in ${own} in a ${block}. ${asText("it")})`
    case "untagged":
      return `(Your code was not run, because it is not tagged. To run it, send it as a ${block}. ${asText("it")})`
    case "program":
      return `(Your \`\`\`${reason.tag} block was not run: only a ${block} is. To act, write ${own} in one. ${asText("the block")})`
    case "quoted":
      return `(Your code was not run, because it is in a quotation. To run it, send it as a ${block} without ">". ${asText("it")})`
    case "empty":
      return `(Nothing was run: your block contains no code. Write the fence \`\`\`${fence} on a line of its own, then the code.)`
    case "call":
      return `(Your call was not made: a call written as text has no effect. To act, write a ${block}.)`
    case "markup":
      return `(Nothing was run: <${reason.name}> has no effect. To act, write a ${block}.)`
    case "never-closed":
      return `(Your code was not run: its block was never closed. Send it again, complete, as a ${block}.)`
    case "thought":
      return `(Your answer has only thoughts; code in thoughts is not run. After </think>, write a ${block} or the answer.)`
  }
}

function asText(what: string): string {
  return `If ${what} is only part of your answer, tag it \`\`\`text.`
}
