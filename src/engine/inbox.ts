import type { Decision } from "../core/agent.ts"
import type { Json } from "../core/json.ts"
import type { Store } from "../stores/store.ts"
import { keysOf } from "./checkpoint.ts"
import { followLog } from "./follow.ts"

/** What is said to a run that a worker may hold, wherever that is. */
export type Letter =
  | { type: "steer"; text: string }
  | { type: "abort"; reason?: string }
  | { type: "decision"; key: string; decision: Decision }

export interface Inbox {
  /** How many letters were read, those before included. */
  readonly read: number
  close(): Promise<void>
}

/** Hands each letter over as it comes. */
export function readInbox(store: Store, id: string, from: number, take: (letter: Letter) => void): Inbox {
  const controller = new AbortController()
  let read = from
  const reading = (async () => {
    for await (const item of followLog(store, keysOf(id).inbox, from, controller.signal)) {
      read++
      take(asLetter(item))
    }
    // A store that fails here fails the next commit, which somebody waits for.
  })().catch(() => undefined)
  return {
    get read() {
      return read
    },
    async close() {
      controller.abort()
      await reading
    },
  }
}

/** Letters that are there now, from that place on. */
export async function lettersFrom(store: Store, id: string, from: number): Promise<Letter[]> {
  const letters: Letter[] = []
  for await (const item of store.read(keysOf(id).inbox, from)) letters.push(asLetter(item))
  return letters
}

// Only the engine writes there.
const asLetter = (item: Json) => item as unknown as Letter
