// Reads the prose around a code block: whether it announces an action, or shows the user an example.

/** What the prose before a block says about it; `none` if there is no prose. */
export type Introduction = "action" | "example" | "unclear" | "none"

/** Only the last sentence counts. Sentences that announce an action contain "let me", "I'll" and the like; sentences
 *  that introduce an example end in a colon or are a heading. English only: anything else is unclear. */
export function readIntroduction(prose: string): Introduction {
  const sentence = lastSentence(prose.slice(-maxIntroductionChars))
  if (sentence === "") return "none"
  if (announcement.test(sentence)) return "action"
  const isOpen = /[:：][*_]*$/.test(sentence) || /^#+ |^\*\*.*\*\*$/.test(sentence)
  if (isOpen && (addressedToUser.test(sentence) || exampleLabel.test(sentence))) return "example"
  return "unclear"
}

/** Returns true if the prose after a block says that its result is awaited. */
export function awaitsResult(prose: string): boolean {
  return awaiting.test(prose)
}

/** How many characters before a block are read. */
export const maxIntroductionChars = 500

function lastSentence(prose: string): string {
  // The marker of a list item or a quotation may stand before the fence itself.
  const before = prose.replace(/(?:^|\n)[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]*)*$/, "").trimEnd()
  const paragraph = before.split(/\n[ \t]*\n/).at(-1) ?? ""
  const item = paragraph.split(/\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)]|#{1,6}) )/).at(-1) ?? ""
  const text = item
    .trim()
    .replace(/^(?:[-*+]|\d{1,9}[.)])[ \t]+/, "")
    .replaceAll("’", "'")
  return (text.split(/(?<=[.!?。！？])\s+/).at(-1) ?? "").trim()
}

const announcement = new RegExp(
  [
    String.raw`\blet me\b(?! know)|\blet's\b|\blet us\b`,
    String.raw`\bI(?:'ll| will| shall)\b|\bI(?:'m| am) (?:going to|now )|\bI(?:'d like| would like| need| want| have) to\b`,
    String.raw`\b(?:first|next|now|then),? I\b`,
    String.raw`^(?:Checking|Looking|Computing|Calculating|Counting|Loading|Reading|Running|Inspecting|Exploring|Trying)\b`,
  ].join("|"),
  "i",
)

const addressedToUser = new RegExp(
  [
    String.raw`\byou (?:can|could|may|might|would|will|should) (?:(?:now|also|then|just|simply|later|always|even|either) )?` +
      "(?:call|use|run|write|try|pass|get|read|import|invoke|reuse|reproduce|repeat|load|start|apply|query|do|add|" +
      "install|check|test|combine)",
    String.raw`\byou now (?:have|get)\b|\byou (?:have|get)\W*$`,
    String.raw`\bto (?:use|reuse|call|reproduce|repeat|try) (?:it|this|them)\b`,
    String.raw`^(?:call|use|invoke|import|try) (?:it|them|this)\b`,
  ].join("|"),
  "i",
)

const exampleLabel =
  /\bfor (?:example|instance)\W*$|\be\.g\.\W*$|^\W*(?:(?:an?|another|some|more|usage|code|short|small|simple|minimal|quick) )*(?:examples?|usage)(?: usage| of use)?\W*$/i

const awaiting =
  /\bonce (?:it|this|that|the (?:code|cell|block|result|output))\b|\bwait(?:ing)? for\b|\bI(?:'ll| will) (?:then |now )?(?:report|tell|use|check|look|share|summari[sz]e|analy[sz]e|continue|proceed|go on)\b|\bafter (?:it|this) (?:runs|has run)\b/i
