// The journal that replays a run from the recording of a session.

import type { Journal } from "../actions/journal-contract.ts"
import { callName } from "../actions/preview-call.ts"
import { AgentError } from "../core/errors.ts"
import type { Model } from "../models/model.ts"
import { replayModel } from "../models/recording.ts"
import { decodeOutcome } from "./outcome-codec.ts"
import { argumentsText, type RecordingEntry } from "./recording-journal.ts"

export interface ReplayJournalOptions {
  /** Calls that are really made, as `binding` or `binding.method`. */
  liveCalls: readonly string[]
  /** Called with a description of an outcome that the recording does not have. */
  onMissing(what: string): void
}

/** A journal that replays recorded outcomes: no model is called, and no call is made except the `liveCalls`. */
export function createReplayJournal(
  path: string,
  entries: readonly RecordingEntry[],
  options: ReplayJournalOptions,
): Journal {
  const own = entries.filter((entry) => entry.in === path)
  const calls = own.filter((entry) => entry.kind === "call").map((entry, position) => ({ ...entry, position }))
  const cells = own.filter((entry) => entry.kind === "cell")
  let models = 0
  let children = 0
  const waitForTurn = createRecordedOrder()

  return {
    answersApprovals: true,
    async call(call, { approve, make, state }) {
      const [name, args] = [callName(call), argumentsText(call)]
      if (options.liveCalls.includes(name)) {
        await approve()
        return await make(call.id)
      }
      const index = calls.findIndex((entry) => entry.name === name && entry.args === args)
      const [entry] = index < 0 ? [] : calls.splice(index, 1)
      if (!entry) throw notRecordedError(`a call of ${name} with ${shortened(args)}`, options)
      if ("opaque" in entry.outcome) {
        const why = `what ${name} gave, ${entry.outcome.opaque}, because only data is recorded`
        throw notRecordedError(`${why}; let it be called: liveCalls: ["${name}"]`, options)
      }
      await waitForTurn(entry.position)
      state.applyChanges(entry.state)
      return decodeOutcome(entry.outcome)
    },
    wrapModel(model): Model {
      const number = models++
      const answers = own.flatMap((entry) => (entry.kind === "model" && entry.model === number ? [entry.call] : []))
      return replayModel(answers, { id: model.id, contextWindow: model.contextWindow, price: model.price })
    },
    cellEnv() {
      const { times, randoms } = cells.shift() ?? { times: [], randoms: [] }
      return { now: replayNumbers(times, 1), clock: { recorded: times, note() {} }, random: replayNumbers(randoms, 0) }
    },
    openChild: (name) => createReplayJournal(`${path}/${name}.${children++}`, entries, options),
  }
}

/** Releases the outcomes of parallel calls in their recorded order. */
function createRecordedOrder(): (position: number) => Promise<void> {
  const waiting: { position: number; end: () => void }[] = []
  function endFirst(): void {
    waiting.sort((one, other) => one.position - other.position)
    waiting.shift()?.end()
    if (waiting.length > 0) setImmediate(endFirst)
  }
  return (position) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (waiting.push({ position, end: resolve }) === 1) setImmediate(endFirst)
    return promise
  }
}

// After the recorded values the clock continues in steps, so that code that waits for a time ends.
function replayNumbers(values: readonly number[], step: number): () => number {
  let index = 0
  let last = values.at(0) ?? 0
  return () => {
    last = values[index++] ?? last + step
    return last
  }
}

function notRecordedError(what: string, { onMissing: missing }: ReplayJournalOptions): AgentError {
  missing(what)
  return new AgentError(`The recording does not have ${what}.`, { code: "not-recorded" })
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)} …` : text
}
