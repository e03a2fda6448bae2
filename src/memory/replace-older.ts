// The second step of a compaction: replaces older messages by a summary.
import { errorData, isAbortError } from "../core/errors.ts"
import type { Message, SummaryPart, SummarySections } from "../core/message.ts"
import { oneLine } from "../core/text/tagged-text.ts"
import { estimateTokens } from "../core/usage.ts"
import type { MemoryServices } from "../memory.ts"
import { modelWarningHandlers } from "../models/model-warnings.ts"
import type { RuntimeName } from "../runtime/runtime.ts"
import { cutPoints, startsStep, startsTurn } from "./call-result-pairs.ts"
import { type CompactionJob, spendUsage } from "./compaction-job.ts"
import { estimateMessage, estimateMessages } from "./estimate-tokens.ts"
import { keepValue, keptNamePattern, nameRanges } from "./kept-values.ts"
import { summarise } from "./summarise.ts"
import { sectionsText, summaryMessage, summaryOf } from "./summary-text.ts"
import { transcript } from "./transcript.ts"

// After this many failed summaries in a row, the next compactions are done without one.
const failuresBeforePause = 3
const skipsWhilePaused = 10
// How many unsummarised texts the next summary reads, so that a failing model does not get ever longer requests.
const maxReadBack = 16

/** Replaces older messages by a summary, or by a note only if there is none. Newer messages stay, up to a share of the
 *  room; so do the newest prompt and pinned messages. */
export async function replaceOlderMessages(job: CompactionJob, share: number): Promise<void> {
  const { services } = job
  const plan = planReplacement(job, share)
  if (!plan) return
  const { cut, removed: going, retained: staying, earlier } = plan
  const entries = await transcript(going, services)
  const unread = earlier?.unread ?? []
  const sections = await writeSections(job, entries, earlier, unread.slice(-maxReadBack))
  const text = [...(earlier?.sections ? [`[summary]\n${sectionsText(earlier.sections)}`] : []), ...entries]
  const name = await keepValue("_history", text.join("\n\n"), services)
  const history = [...(earlier?.history ?? []), name]
  const live = await liveNames(services, summaryTokens(job) / 2)
  const part = sections
    ? { sections, history, unread: unread.slice(0, -maxReadBack) }
    : {
        ...(earlier?.sections && { sections: earlier.sections }),
        history,
        unread: [...unread, name],
      }
  await job.replaceMessages(sections ? 2 : 3, 0, cut, [summaryMessage(part, live, services.resultStorage), ...staying])
}

interface ReplacementPlan {
  /** The index of the first newer message, which stays. */
  cut: number
  removed: Message[]
  /** Older messages that stay word for word. */
  retained: Message[]
  earlier: SummaryPart | undefined
}

function planReplacement(job: CompactionJob, share: number): ReplacementPlan | undefined {
  const { services, room } = job
  const { messages } = services
  // In a small room, the longest summary would not fit beside half of the messages.
  const newer = Math.min(room * share, room - summaryTokens(job) * 2.5 - 80)
  const half = firstNewerIndex(messages, newer)
  if (half === undefined) return undefined
  // Retained messages reduce the room for newer ones.
  const cut = firstNewerIndex(messages, newer - estimateMessages(messagesToRetain(messages, half, room / 4))) ?? half
  const staying = messagesToRetain(messages, cut, room / 4)
  const older = messages.slice(0, cut)
  const last = older.findLast(summaryOf)
  const going = older.filter((message) => message !== last && !staying.includes(message))
  // A summary of a few words would cost more than it saves.
  return estimateMessages(going) > room / 10
    ? { cut, removed: going, retained: staying, earlier: last && summaryOf(last) }
    : undefined
}

// Returns the first message of those that stay: as many as the budget allows, from the start of a turn on if that
// leaves at least half as much, otherwise from an answer of the model on. At least the last exchange stays.
function firstNewerIndex(messages: readonly Message[], budget: number): number | undefined {
  const points = new Set(cutPoints(messages))
  const fitting: { index: number; tokens: number }[] = []
  let tokens = 0
  for (let index = messages.length - 1; index > 0; index--) {
    const message = messages[index]
    if (message) tokens += estimateMessage(message)
    if (fitting.length > 0 && tokens > budget) break
    if (points.has(index)) fitting.unshift({ index, tokens })
  }
  const [most] = fitting
  const enough = fitting.filter(({ tokens }) => tokens >= (most?.tokens ?? 0) / 2)
  const isStart = (test: typeof startsTurn) => enough.find(({ index }) => test(messages, index))
  return (isStart(startsTurn) ?? isStart(startsStep) ?? most)?.index
}

// Retains the newest prompt, the host messages directly before it, and pinned messages.
function messagesToRetain(messages: readonly Message[], cut: number, budget: number): Message[] {
  const staying: Message[] = []
  let left = budget
  let prompt: number | undefined
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role !== "user" || summaryOf(message)) continue
    const newest =
      prompt === undefined ? message.origin === "prompt" : message.origin === "host" && index === prompt - 1
    if (newest) prompt = index
    if (index >= cut || !(newest || message.pinned)) continue
    left -= estimateMessage(message)
    if (left >= 0) staying.unshift(message)
  }
  return staying
}

async function writeSections(
  job: CompactionJob,
  entries: readonly string[],
  earlier: SummaryPart | undefined,
  unread: readonly string[],
): Promise<SummarySections | undefined> {
  const { services, state, emit } = job
  if (state.skips > 0) {
    job.state = { ...state, skips: state.skips - 1 }
    return undefined
  }
  const { model, ownModel, summariserWindow } = services.memory
  const tokens = summaryTokens(job)
  try {
    const texts = await readUnsummarised(unread, services)
    const sections = await summarise(
      {
        model,
        providerOptions: ownModel ? services.request.providerOptions : undefined,
        signal: services.signal,
        // The instructions, the earlier summary and the new one need room too.
        inputTokens: Math.max(200, summariserWindow * 0.9 - 600 - tokens * 4),
        summaryTokens: tokens,
        spent: (usage) => spendUsage(job, usage),
        onRetry: modelWarningHandlers(emit).onRetry,
      },
      [...texts, ...entries],
      earlier?.sections,
    )
    job.state = { ...state, failures: 0 }
    return sections
  } catch (error) {
    if (isAbortError(error)) throw error
    const failures = state.failures + 1
    job.state = { ...state, failures, skips: failures >= failuresBeforePause ? skipsWhilePaused : 0 }
    const message = `No summary of the older messages: ${errorData(error).message}. They were taken out without one, and stay in the session as text.`
    emit({ type: "warning-raised", code: "summary-failed", message })
    return undefined
  }
}

function summaryTokens({ room }: CompactionJob): number {
  return Math.min(2000, Math.max(100, Math.floor(room / 8)))
}

// Returns the stored texts that no summary covers yet.
async function readUnsummarised(names: readonly string[], { valueStore }: MemoryServices): Promise<string[]> {
  const texts: string[] = []
  for (const name of names) {
    // A cell may have removed it, or a restart may have lost it.
    const text = await valueStore.retrieve(name).catch(() => undefined)
    if (typeof text === "string") texts.push(text)
  }
  return texts
}

// Names that the system prompt declares are not repeated.
async function liveNames({ valueStore, request }: MemoryServices, budget: number): Promise<string[]> {
  const names = await valueStore.names()
  const declared = new Set(request.system.match(/[\p{L}\p{N}_$]+/gu))
  const ours = names.filter(({ name }) => name.match(keptNamePattern))
  const others = names.filter((name) => !ours.includes(name) && !(name.injected && declared.has(name.name)))
  const outputs = ours.map(({ name }) => name).filter((name) => !name.startsWith("_history"))
  const lines = outputs.length > 0 ? [`- ${nameRanges(outputs)}: whole results of earlier cells`] : []
  let left = budget
  // The newest names are the most likely to be needed.
  for (const [index, name] of others.toReversed().entries()) {
    const line = nameLine(name)
    left -= estimateTokens(line) + 1
    if (left < 0) return [`- and ${others.length - index} more`, ...lines]
    lines.unshift(line)
  }
  return lines
}

function nameLine({ name, type, size }: RuntimeName): string {
  return `- ${oneLine(name, 100)}: ${oneLine(type.replace(/\s+/g, " "), 79)}${size === undefined ? "" : ` (${size})`}`
}
