// The JSON state that the tools of a conversation share, with recording of changes for the journal.
import { AsyncLocalStorage } from "node:async_hooks"
import { ConfigError } from "../core/errors.ts"
import { type Json, toFrozenJson } from "../core/json.ts"
import type { ToolState } from "./tool.ts"

/** The shared state of one conversation's tools. Values are JSON and frozen. */
export interface SharedState extends ToolState {
  /** All values by key. The object lives as long as the conversation. */
  readonly values: StateValues
  /** Runs `work` and collects the changes that it makes to this state. */
  recordChanges<T>(work: () => Promise<T>): { done: Promise<T>; changes(): StateChanges | undefined }
  /** Applies recorded changes again. Of two recorded changes of one key the later one wins, in whatever order they
   *  are applied. */
  applyChanges(changes: StateChanges | undefined): void
}

export type StateValues = { [key: string]: Json }

/** The last change of each key, with its position among all changes. */
export type StateChanges = { [key: string]: [order: number, value: Json] }

interface ChangeRecorder {
  values: StateValues
  changes: StateChanges
  outer: ChangeRecorder | undefined
}

const activeRecorders = new AsyncLocalStorage<ChangeRecorder>()

export function createToolState(initial: StateValues = {}): SharedState {
  const values: StateValues = {}
  const applied = new Map<string, number>()
  let order = 0

  function change(key: string, value: Json, at: number): void {
    defineKey(values, key, value)
    for (let recorder = activeRecorders.getStore(); recorder; recorder = recorder.outer) {
      if (recorder.values === values) defineKey(recorder.changes, key, [at, value])
    }
  }

  const state: SharedState = {
    values,
    get: (key) => (Object.hasOwn(values, key) ? values[key] : undefined),
    set(key, value) {
      const copy = toFrozenJson(value, `The state "${key}"`)
      applied.delete(key)
      change(key, copy, ++order)
    },
    recordChanges(work) {
      const recorder: ChangeRecorder = { values, changes: {}, outer: activeRecorders.getStore() }
      const done = activeRecorders.run(recorder, work)
      return { done, changes: () => (Object.keys(recorder.changes).length > 0 ? { ...recorder.changes } : undefined) }
    },
    applyChanges(changes = {}) {
      for (const [key, [at, value]] of Object.entries(changes)) {
        if (at < (applied.get(key) ?? 0)) continue
        order = Math.max(order, at)
        applied.set(key, at)
        change(key, toFrozenJson(value, `The state "${key}"`), at)
      }
    },
  }
  for (const [key, value] of Object.entries(initial)) state.set(key, value)
  return state
}

// Also works for keys such as "__proto__".
function defineKey<T>(target: { [key: string]: T }, key: string, value: T): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Keys with this prefix belong to Karst. */
export const reservedPrefix = "karst:"

/** The state without the keys that belong to Karst. */
export function userState(values: Readonly<StateValues>): StateValues {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !key.startsWith(reservedPrefix)))
}

/** Throws a `ConfigError` if an initial state is not an object of JSON values. */
export function checkInitialState(state: unknown, option: string): void {
  if (state === undefined) return
  if (typeof state !== "object" || state === null || Array.isArray(state)) {
    throw new ConfigError(`${option}: give an object of JSON values by key, such as { budget: 100 }.`)
  }
  for (const [key, value] of Object.entries(state)) {
    if (key.startsWith(reservedPrefix))
      throw new ConfigError(`${option}: keys that begin with "${reservedPrefix}" are for Karst itself.`)
    try {
      toFrozenJson(value, `${option}.${key}`)
    } catch (cause) {
      throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause })
    }
  }
}
