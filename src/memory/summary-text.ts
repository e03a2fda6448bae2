// Parses, merges and formats summaries.
import type { Message, SummaryPart, SummarySections } from "../core/message.ts"
import { newId } from "../core/message.ts"
import { estimateTokens } from "../core/usage.ts"
import type { MemoryServices } from "../memory.ts"
import { nameRanges } from "./kept-values.ts"

/** The headings of a summary, as the model is asked to write them. */
export const sectionHeadings: Record<keyof SummarySections, string> = {
  goals: "Goals",
  decisions: "Decisions",
  facts: "Facts",
  open: "Open work",
}

/** The heading under which the model lists what it leaves out on purpose. */
export const outdatedHeading = "No longer true"

/** A summary as written by the model, and the items it calls outdated. */
export interface SummaryDraft {
  sections: SummarySections
  outdated: string
}

/** Parses a summary; undefined if a heading is missing or all sections are empty. */
export function parseSummary(answer: string): SummaryDraft | undefined {
  const text = withoutAnalysis(answer)
  const body = insideSummary(text) ?? text.replace(/<\/?summary>/gi, "")
  const found = new Map<string, string[]>()
  let lines: string[] | undefined
  for (const line of body.split("\n")) {
    const title = headingOf(line)
    if (title) {
      lines = found.get(title) ?? []
      found.set(title, lines)
    } else if (line.trim()) {
      lines?.push(line.trimEnd())
    }
  }
  const section = (title: string) => found.get(title)?.join("\n")
  const { goals, decisions, facts, open } = sectionHeadings
  const [g, d, f, o] = [section(goals), section(decisions), section(facts), section(open)]
  if (g === undefined || d === undefined || f === undefined || o === undefined) return undefined
  if ([g, d, f, o].every((text) => itemsOf(text).length === 0)) return undefined
  return { sections: { goals: g, decisions: d, facts: f, open: o }, outdated: section(outdatedHeading) ?? "" }
}

/** Adds the lines of the earlier summary that the draft neither repeats nor calls outdated, so that nothing is
 *  forgotten. If there would be more than `maxTokens`, the oldest of these lines are dropped. */
export function carryForward(
  draft: SummaryDraft,
  earlier: SummarySections | undefined,
  maxTokens: number,
): SummarySections {
  if (!earlier) return draft.sections
  const mentioned = wordsOf([...Object.values(draft.sections), draft.outdated].join("\n"))
  let left = maxTokens - estimateTokens(sectionsText(draft.sections))
  const carry = (key: keyof SummarySections): string => {
    const forgotten = itemsOf(earlier[key]).filter((item) => !isRepeated(item, mentioned))
    const carried: string[] = []
    for (const item of forgotten.toReversed()) {
      left -= estimateTokens(item) + 2
      if (left < 0) break
      carried.unshift(`- ${item}`)
    }
    const written = carried.length > 0 && itemsOf(draft.sections[key]).length === 0 ? "" : draft.sections[key]
    return [...carried, written].filter(Boolean).join("\n")
  }
  // Facts have priority if not everything fits.
  const facts = carry("facts")
  const decisions = carry("decisions")
  const goals = carry("goals")
  return { goals, decisions, facts, open: draft.sections.open }
}

export function sectionsText(sections: SummarySections): string {
  const { goals, decisions, facts, open } = sectionHeadings
  return [
    `## ${goals}\n${sections.goals}`,
    `## ${decisions}\n${sections.decisions}`,
    `## ${facts}\n${sections.facts}`,
    `## ${open}\n${sections.open}`,
  ].join("\n\n")
}

/** Creates the message that replaces the removed messages. */
export function summaryMessage(
  part: Omit<SummaryPart, "type" | "text">,
  live: readonly string[],
  resultStorage: MemoryServices["resultStorage"],
): Message {
  const where = resultStorage === "variable" ? "texts in the session" : "artifacts"
  const { sections, history, unread } = part
  const read = sections ? "What matters of them is summed up here. " : ""
  const text = [
    `(Older messages were taken out of this conversation to save room. ${read}` +
      `Word for word they are ${where}: ${nameRanges(history)}. Look there when you need a detail.)`,
    ...(sections ? [sectionsText(sections)] : []),
    ...(sections && unread.length > 0 ? [`Not summed up: ${nameRanges(unread)}.`] : []),
    ...(live.length > 0 ? [`## Live variables\n${live.join("\n")}`] : []),
  ].join("\n\n")
  return { id: newId("m"), role: "user", origin: "host", parts: [{ type: "summary", text, ...part }] }
}

export function summaryOf(message: Message): SummaryPart | undefined {
  if (message.role !== "user") return undefined
  return message.parts.find((part) => part.type === "summary")
}

function withoutAnalysis(answer: string): string {
  const pieces = answer.split(/(<\/analysis>)/i)
  return pieces
    .map((piece, index) => {
      if (index % 2 === 1) return /<analysis>/i.test(pieces[index - 1] ?? "") ? "" : piece
      const start = index === pieces.length - 1 ? -1 : piece.search(/<analysis>/i)
      return start === -1 ? piece : piece.slice(0, start)
    })
    .join("")
}

function insideSummary(text: string): string | undefined {
  const start = text.search(/<summary>/i)
  if (start === -1) return undefined
  const inside = text.slice(start + "<summary>".length)
  const end = inside.search(/<\/summary>/i)
  return end === -1 ? undefined : inside.slice(0, end)
}

const allHeadings = [...Object.values(sectionHeadings), outdatedHeading]

function headingOf(line: string): string | undefined {
  const [mark = ""] = /^\s{0,3}(?:#{1,6}|\*\*)/.exec(line) ?? []
  if (mark === "") return undefined
  const text = line
    .slice(mark.length)
    .replace(/(?<![\s#*:])[\s#*:]+$/, "")
    .trimStart()
  return allHeadings.find((title) => title.toLowerCase() === text.toLowerCase())
}

function itemsOf(section: string): string[] {
  return section
    .split("\n")
    .map((line) => line.trim().replace(/^[-*•]\s+/, ""))
    .filter((line) => line !== "" && !/^\(?none\)?\.?$/i.test(line))
}

// A line counts as repeated if all its words with digits and most of its other words occur.
function isRepeated(item: string, mentioned: ReadonlySet<string>): boolean {
  const words = [...wordsOf(item)]
  const exact = words.filter((word) => /\p{N}/u.test(word))
  if (exact.some((word) => !mentioned.has(word))) return false
  const others = words.filter((word) => !/\p{N}/u.test(word) && (word.length > 3 || !/^[a-z]+$/.test(word)))
  return others.filter((word) => mentioned.has(word)).length >= others.length * 0.6
}

// Scripts without spaces between words are compared by character.
const wordPattern =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]|[\p{L}\p{N}_@][\p{L}\p{N}_@.:/$-]*/gu
const trailingPunctuation = /(?<![@.:/$-])[@.:/$-]+$/

function wordsOf(text: string): Set<string> {
  return new Set(
    text
      .toLowerCase()
      .match(wordPattern)
      ?.map((each) => each.replace(trailingPunctuation, "")),
  )
}
