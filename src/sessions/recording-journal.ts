// Records the outcomes of everything outside a session's runs, for replays.
import { randomBytes } from "node:crypto"
import { types } from "node:util"
import type { Journal } from "../actions/journal-contract.ts"
import { callName, previewCall } from "../actions/preview-call.ts"
import { attempt } from "../core/attempt.ts"
import { bytesOf } from "../core/values/digest.ts"
import { type RecordedCall, recordModel } from "../models/recording.ts"
import type { RuntimeCall } from "../runtime/runtime.ts"
import type { StateChanges } from "../tools/tool-state.ts"
import type { CallLog } from "./call-log.ts"
import { encodeFailure, encodeOutcome, type Outcome } from "./outcome-codec.ts"

/** One outcome from outside a run: an answer of a model, the outcome of a call, or the clock values and random numbers
 *  of a cell. `in` is the run: its number in the session, and the path of child runs below it. */
export type RecordingEntry =
  | { kind: "model"; in: string; model: number; call: RecordedCall }
  | { kind: "call"; in: string; name: string; args: string; outcome: Outcome; state?: StateChanges }
  | { kind: "cell"; in: string; times: number[]; randoms: number[] }

/** A journal that records every outcome from outside a run, so that the run can be replayed. `calls` logs the calls of
 *  the cycle under way. */
export function createRecordingJournal(path: string, write: (entry: RecordingEntry) => void, calls: CallLog): Journal {
  let models = 0
  let children = 0
  return {
    answersApprovals: false,
    async call(call, { approve, make, state }) {
      const asked = { kind: "call" as const, in: path, name: callName(call), args: argumentsText(call) }
      const { done, changes } = state.recordChanges(async () => {
        await approve()
        const logged = call.journal === false ? undefined : calls.logCall(previewCall(call))
        return await make(call.id).finally(logged)
      })
      const ended = (outcome: Outcome) => {
        const changed = changes()
        write({ ...asked, outcome, ...(changed && { state: changed }) })
      }
      try {
        const value = await done
        ended(encodeOutcome(value))
        return value
      } catch (error) {
        ended(encodeFailure(error))
        throw error
      }
    },
    wrapModel(model) {
      const number = models++
      return recordModel(model, (call) => write({ kind: "model", in: path, model: number, call }), {
        includeRequests: false,
      })
    },
    cellEnv() {
      // The entry grows until the cycle ends; it is stored then.
      const entry = { kind: "cell" as const, in: path, times: [] as number[], randoms: [] as number[] }
      write(entry)
      return {
        now: () => pushLimited(entry.times, Date.now()),
        clock: { recorded: [], note: (reads) => void reads.map((time) => pushLimited(entry.times, time)) },
        random: () => pushLimited(entry.randoms, strongRandom()),
      }
    },
    openChild: (name) => createRecordingJournal(`${path}/${name}.${children++}`, write, calls),
  }
}

/** The arguments of a call as text: equal for equal data. No code of the arguments is executed. */
export function argumentsText({ args }: RuntimeCall): string {
  return attempt(() => JSON.stringify(plainCopy(args, new Set())).slice(0, 100_000)) ?? `${args.length} arguments`
}

/** Copies a value without code, so that JSON.stringify calls no `toJSON` and no getter. Throws for circular data. */
function plainCopy(value: unknown, path: Set<object>): unknown {
  if (typeof value === "bigint") return `${value}n`
  if (typeof value === "function") return "[function]"
  if (typeof value !== "object" || value === null) return value
  if (types.isProxy(value)) return "[proxy]"
  if (types.isDate(value)) return Date.prototype.toJSON.call(new Date(Date.prototype.getTime.call(value)))
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return Buffer.from(bytesOf(value)[0]).toString("hex")
  if (path.has(value)) throw new TypeError("It is circular.")
  path.add(value)
  const copy = copyMembers(value, (member) => plainCopy(member, path))
  path.delete(value)
  return copy
}

function copyMembers(value: object, copy: (member: unknown) => unknown): unknown {
  if (types.isMap(value)) return [...Map.prototype.entries.call(value)].map((pair) => pair.map(copy))
  if (types.isSet(value)) return [...Set.prototype.values.call(value)].map(copy)
  const members = Object.entries(Object.getOwnPropertyDescriptors(value)).filter(([, { enumerable }]) => enumerable)
  const copies = members.map(([key, property]): [string, unknown] => [
    key,
    property.get || property.set ? "[getter]" : copy(property.value),
  ])
  return Array.isArray(value) ? copies.map(([, member]) => member) : Object.fromEntries(copies)
}

function pushLimited(values: number[], value: number): number {
  if (values.length < maxNotedValues) values.push(value)
  return value
}

const maxNotedValues = 1000

// Cells may derive ids and keys from this, so it must be cryptographically strong.
function strongRandom(): number {
  return Number(randomBytes(8).readBigUInt64LE() >> 11n) / 2 ** 53
}
