// One compaction in progress: its limits, its events, and the user hooks around each step.
import { rejectOnAbort } from "../core/abort.ts"
import { isMessageList } from "../core/checks/message-shape.ts"
import { errorData } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import { copyIfJson } from "../core/json.ts"
import type { Message } from "../core/message.ts"
import { addUsage, noUsage, type Usage } from "../core/usage.ts"
import type {
  Compacted,
  CompactHooks,
  FullConversation,
  MaybeMessages,
  MemoryServices,
  MemoryState,
} from "../memory.ts"
import { isPaired } from "./call-result-pairs.ts"
import { estimateConversation, resetEstimate } from "./estimate-tokens.ts"
import { estimateForTokens } from "./request-size.ts"

/** One compaction. All sizes are estimates; the limit is converted accordingly. */
export interface CompactionJob {
  readonly services: MemoryServices
  readonly emit: Emit
  /** For the whole request. */
  readonly limit: number
  /** For the conversation: the limit without the system prompt. */
  readonly room: number
  state: MemoryState
  /** Usage that no event has reported yet. */
  usage: Usage
  changed: boolean
  /** The estimate of the whole request. */
  tokens(): number
  /** Replaces the messages from one index up to, but not including, another, and emits the event. */
  replaceMessages(tier: Compacted["tier"], from: number, to: number, messages: Message[]): Promise<void>
}

export function createCompactionJob(
  state: MemoryState,
  services: MemoryServices,
  emit: Emit,
  tokens: number,
): CompactionJob {
  const limit = estimateForTokens(state, tokens)
  const job: CompactionJob = {
    services,
    emit,
    limit,
    // A large system prompt must still leave some room for the conversation.
    room: Math.max(limit - services.systemTokens, limit / 4),
    state,
    usage: noUsage,
    changed: false,
    tokens: () => services.systemTokens + estimateConversation(services.messages),
    async replaceMessages(tier, from, to, messages) {
      // The usage of summaries is reported once, with the step that used them.
      const { usage } = job
      job.usage = noUsage
      const all = services.messages
      const proposed = { tier, replaced: all.slice(from, to), messages, usage }
      const compacted = await runAfterCompact(job, proposed, (instead) => [
        ...all.slice(0, from),
        ...instead,
        ...all.slice(to),
      ])
      await emitCompacted(job, compacted, all[to])
    },
  }
  return job
}

export function spendUsage(job: CompactionJob, usage: Usage): void {
  job.usage = addUsage(job.usage, usage)
  job.services.spend(usage)
}

/** Runs the `beforeCompact` hooks. If they return messages, these are emitted as a first step. */
export async function runBeforeCompact(job: CompactionJob, full: FullConversation): Promise<void> {
  let { messages } = full
  for (const hooks of job.services.hooks) {
    const returned = await rejectOnAbort(hooks.beforeCompact?.({ ...full, messages }), job.services.signal)
    const given = checkedMessages(returned, "beforeCompact", messages)
    if (!given) continue
    if (splitsPairs(given, messages)) throw new Error(unpairedText("beforeCompact"))
    messages = given
  }
  if (messages === full.messages) return
  await emitCompacted(job, { tier: 1, replaced: full.messages, messages, usage: noUsage }, undefined)
}

async function emitCompacted(job: CompactionJob, compacted: Compacted, next: Message | undefined): Promise<void> {
  const { tier, replaced, messages, usage } = compacted
  const [first] = replaced
  if (!first) return
  const to = next && { to: next.id }
  job.emit({ type: "memory-compacted", tier, from: first.id, ...to, messages: [...messages], usage })
  job.changed = true
  resetEstimate(job.services.messages)
  for (const hooks of job.services.hooks) {
    if (hooks.onCompact) await callHookSafely(job, () => hooks.onCompact?.(compacted), hooks)
  }
}

async function runAfterCompact(
  job: CompactionJob,
  proposed: Compacted,
  whole: (messages: readonly Message[]) => readonly Message[],
): Promise<Compacted> {
  let compacted = proposed
  for (const hooks of job.services.hooks) {
    const given = await callHookSafely<MaybeMessages>(job, async () =>
      checkedMessages(await hooks.afterCompact?.(compacted), "afterCompact", compacted.messages),
    )
    if (!given) continue
    if (splitsPairs(whole(given), whole(compacted.messages))) warn(job, unpairedText("afterCompact"))
    else compacted = { ...compacted, messages: given }
  }
  return compacted
}

// Checks the messages that a hook returned. New ones are copied, because they become part of the conversation.
function checkedMessages(returned: MaybeMessages, hook: string, before: readonly Message[]): Message[] | undefined {
  if (returned === undefined || returned === null) return undefined
  const known = new Set(before)
  const messages = isMessageList(returned)
    ? returned.map((message) => (known.has(message) ? message : copyIfJson(message)))
    : [undefined]
  if (messages.every((message) => message !== undefined)) return messages
  throw new TypeError(
    `${hook} returned something else than nothing or a list of messages. Return messages as JSON data.`,
  )
}

// A conversation from elsewhere may already contain calls without results.
function splitsPairs(given: readonly Message[], before: readonly Message[]): boolean {
  return (isPaired(before) && !isPaired(given)) || new Set(given.map(({ id }) => id)).size < given.length
}

async function callHookSafely<T>(
  job: CompactionJob,
  hook: () => T | Promise<T> | undefined,
  observer?: CompactHooks,
): Promise<T | undefined> {
  try {
    return await rejectOnAbort(hook(), job.services.signal)
  } catch (error) {
    if (job.services.signal.aborted) throw error
    const isKnown = observer && failedObservers(job).has(observer)
    if (observer) failedObservers(job).add(observer)
    if (!isKnown) warn(job, `A hook failed while the conversation was made shorter: ${errorData(error).message}`)
    return undefined
  }
}

// An observer changes nothing, so one warning per run is enough.
const failedObserversByRun = new WeakMap<MemoryServices, WeakSet<CompactHooks>>()

function failedObservers({ services }: CompactionJob): WeakSet<CompactHooks> {
  const known = failedObserversByRun.get(services) ?? new WeakSet()
  failedObserversByRun.set(services, known)
  return known
}

function warn({ emit }: CompactionJob, message: string): void {
  emit({ type: "warning-raised", code: "hook-failed", message })
}

function unpairedText(hook: string): string {
  const problem = "a cell or call has no result, a result nothing to belong to, or one is there twice"
  return `${hook} gave messages in which ${problem}. Keep pairs together, each message once.`
}
