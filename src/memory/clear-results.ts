// Replaces old results by short markers: the first step of a compaction, and the last if it is still too long.
import type { CodeResultPart, ImagePart, Message, ResultMessage, ToolResultPart } from "../core/message.ts"
import { isKeptIn } from "../core/text/kept-text.ts"
import type { MemoryServices } from "../memory.ts"
import type { CompactionJob } from "./compaction-job.ts"
import { keepImages, keepValue } from "./kept-values.ts"

export interface ClearOptions {
  /** How many of the newest results stay whole. */
  wholeResults: number
  /** How many characters of each result stay visible. Default 0. */
  headChars?: number
}

/** Replaces old results by markers that say what they were and which variable has the whole text. Short results and
 *  cleared ones stay: clearing twice changes nothing. */
export async function clearResults(job: CompactionJob, { wholeResults, headChars = 0 }: ClearOptions): Promise<void> {
  const { services } = job
  const { messages } = services
  const results = [...messages.entries()].filter(([, message]) => message.role === "result")
  const old = results.slice(0, Math.max(0, results.length - wholeResults))
  const markers = new Map<number, ResultMessage>()
  let titles: Map<string, string> | undefined
  for (const [index, message] of old) {
    if (message.role !== "result" || !message.parts.some((part) => mustBeCleared(part, headChars))) continue
    titles ??= cellTitles(messages)
    markers.set(index, await clearMessage(message, titles, headChars, services))
  }
  const indexes = [...markers.keys()]
  const [first, last] = [indexes[0], indexes.at(-1)]
  if (first === undefined || last === undefined) return
  const range = messages.slice(first, last + 1).map((message, offset) => markers.get(first + offset) ?? message)
  await job.replaceMessages(resultsClearedTier, first, last + 1, range)
}

// The approximate length of a marker. A shorter result is not worth a variable.
const markerLength = 200
const resultsClearedTier = 1

function mustBeCleared(part: ResultMessage["parts"][number], headChars: number): boolean {
  if (part.type === "image") return true
  if (part.type === "tool-result" && part.retained) return false
  return !part.cleared && part.text.length > markerLength + headChars
}

async function clearMessage(
  message: ResultMessage,
  titles: ReadonlyMap<string, string>,
  headChars: number,
  services: MemoryServices,
): Promise<ResultMessage> {
  const images = message.parts.filter((part) => part.type === "image")
  const parts: ResultMessage["parts"] = []
  for (const part of message.parts) {
    if (part.type === "image") continue
    const next = mustBeCleared(part, headChars) ? await createMarker(part, titles, headChars, services) : part
    parts.push(parts.length === 0 && images.length > 0 ? await withImages(next, images, services) : next)
  }
  return { ...message, parts }
}

async function createMarker<T extends CodeResultPart | ToolResultPart>(
  part: T,
  titles: ReadonlyMap<string, string>,
  headChars: number,
  services: MemoryServices,
): Promise<T> {
  const kept = existingKeptName(part) ?? (await keepValue("_output", part.text, services))
  const what = part.type === "tool-result" ? `the tool ${part.name}` : `the cell ${titles.get(part.id) ?? "before"}`
  const how = part.ok ? "ok" : "failed"
  const length = part.text.length.toLocaleString("en")
  // The result of a tool may be stored as data instead of text.
  const whole = part.kept === kept && part.type === "tool-result" ? "result" : "text"
  const words = `[The result of ${what} (${how}, ${length} characters) was cleared to save room; the whole ${whole} ${isKeptIn(services.resultStorage, kept)}.]`
  const text = headChars === 0 ? words : `${words}\nIt begins:\n${part.text.slice(0, headChars).toWellFormed()}`
  return { ...part, text, kept, cleared: true }
}

const outputEnd = "</output>"

// Output that was too long to show is already stored. Any other text that the model saw must be stored now.
function existingKeptName({ type, ok, text, kept }: CodeResultPart | ToolResultPart): string | undefined {
  if (type === "tool-result") return kept
  // Only if the text is one block of output that was shortened, as actions/cell-output.ts writes it.
  if (!ok || kept === undefined || text.indexOf(outputEnd) !== text.length - outputEnd.length) return undefined
  const named = text.match(/\b_output(?:_p\d+)?_\d+\b/g) ?? []
  const isWhole = text.includes(`the whole text ${isKeptIn("variable", kept)}`)
  return isWhole && named.every((name) => name === kept) ? kept : undefined
}

async function withImages<T extends CodeResultPart | ToolResultPart>(
  part: T,
  images: readonly ImagePart[],
  services: MemoryServices,
): Promise<T> {
  const words = await keepImages(images, services)
  return { ...part, text: [part.text, ...words].join("\n") }
}

// A cell is identified by its first line.
function cellTitles(messages: readonly Message[]): Map<string, string> {
  const titles = new Map<string, string>()
  for (const message of messages) {
    for (const part of message.parts) {
      if (part.type !== "code") continue
      const line = part.code.trimStart().split("\n", 1)[0] ?? ""
      titles.set(part.id, `\`${line.length > 60 ? `${line.slice(0, 57).toWellFormed()}…` : line}\``)
    }
  }
  return titles
}
