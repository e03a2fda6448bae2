// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type DeclareTest, type StoreCase, testStore } from "karst/testing"
import { ConfigError } from "../../src/core/errors.ts"
import type { Json } from "../../src/core/json.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import type { Store, StoreChange } from "../../src/stores/store.ts"

type Breaks = (sound: Store) => Partial<Store>

/** Stores that a case must not let pass. */
const mutants: { [C in StoreCase]?: { [what: string]: Breaks } } = {
  values: {
    "tells another revision": ({ get }) => ({ get: async (key) => addOne(await get(key)) }),
    "takes null for nothing": ({ get }) => ({
      get: async (key) => {
        const entry = await get(key)
        return entry?.value === null ? undefined : entry
      },
    }),
  },
  bytes: { "gives bytes as a Buffer": ({ get }) => ({ get: async (key) => buffered(await get(key)) }) },
  unicode: {
    "normalises text": ({ commit }) => ({
      commit: (changes) => commit(JSON.parse(JSON.stringify(changes).normalize("NFC"))),
    }),
  },
  keys: {
    "ignores case": ({ get, commit }) => ({
      get: (key) => get(key.toLowerCase()),
      commit: (changes) =>
        commit(
          changes.map((change) => (change.type === "put" ? { ...change, key: change.key.toLowerCase() } : change)),
        ),
    }),
    "lists in the order of code units": ({ keys }) => ({
      async *keys(prefix) {
        yield* (await Array.fromAsync(keys(prefix))).sort()
      },
    }),
  },
  "bad-keys": { "takes the good part": ({ commit }) => ({ commit: oneByOne(commit) }) },
  close: { "goes on after its end": () => ({ async close() {} }) },
  revisions: {
    "counts only what changes something": ({ commit }) => ({
      commit: async (changes, guard) => (changes.length ? commit(changes, guard) : 1),
    }),
  },
  guard: {
    "has no guard": ({ commit }) => ({ commit: (changes) => commit(changes) }),
    "appends first and asks then": ({ commit }) => ({
      async commit(changes, guard) {
        await commit(changes.filter(({ type }) => type === "append"))
        return commit(changes, guard)
      },
    }),
  },
  order: {
    "appends last": ({ commit }) => ({ commit: (changes, guard) => commit(changes.toSorted(appendsLast), guard) }),
  },
  delete: {
    "deletes all that begins so": ({ commit, keys }) => ({
      commit: async (changes, guard) => commit(await deepened(changes, keys), guard),
    }),
  },
  log: { "counts from one": ({ read }) => ({ read: (log, from = 0) => read(log, from && from - 1) }) },
  "read-end": {
    "reads what comes meanwhile": ({ read }) => ({
      async *read(log, from = 0) {
        for (let at = from; at < from + 10; at++) {
          const [item] = await Array.fromAsync(read(log, at))
          if (item === undefined) return
          yield item
        }
      },
    }),
  },
  watch: {
    "begins at the start": ({ watch }) => ({ watch: (log, _from, signal) => watch?.(log, 0, signal) ?? none() }),
    "ends where the log ends": ({ read }) => ({ watch: (log, from) => read(log, from) }),
  },
  "watch-abort": {
    "throws when it is stopped": ({ watch }) => ({
      async *watch(log, from, signal) {
        yield* watch?.(log, from, signal) ?? none()
        signal.throwIfAborted()
      },
    }),
  },
}

describe("testStore", () => {
  for (const [name, broken] of Object.entries(mutants)) {
    for (const [what, breaks] of Object.entries(broken)) {
      test(`${name} catches a store that ${what}`, async () => {
        const open = () => {
          const sound = memoryStore()
          return { ...sound, ...breaks(sound) }
        }
        const check = declared(open).get(name) ?? assert.fail(name)
        await assert.rejects(check({ skip: () => assert.fail("skipped") }), (error) => !/It hangs/.test(String(error)))
      })
    }
  }

  test("skips what it is told to with the reason, and refuses a case that it does not know", async () => {
    const reasons: unknown[] = []
    const cases = declared(() => memoryStore(), { restart: "it forgets" })
    for (const name of ["restart", "race"]) await cases.get(name)?.({ skip: (reason) => reasons.push(reason) })
    assert.deepEqual(reasons, ["it forgets", 'by design: the suite was given no "module"'])
    assert.throws(() => declared(() => memoryStore(), { restarts: "typo" } as object), ConfigError)
  })
})

function declared(
  open: () => Store,
  skip: { [C in StoreCase]?: string } = {},
): Map<string, Parameters<DeclareTest>[1]> {
  const found = new Map<string, Parameters<DeclareTest>[1]>()
  const note: DeclareTest = (title, body) => found.set(title.split(":")[0] ?? "", body)
  testStore({ test: note, location: () => "memory", open, skip })
  return found
}

function addOne(entry: Awaited<ReturnType<Store["get"]>>) {
  return entry && { ...entry, revision: entry.revision + 1 }
}

function buffered(entry: Awaited<ReturnType<Store["get"]>>) {
  return entry?.value instanceof Uint8Array ? { ...entry, value: Buffer.from(entry.value) } : entry
}

function oneByOne(commit: Store["commit"]): Store["commit"] {
  return async (changes) => {
    let revision = 0
    for (const change of changes) revision = await commit([change])
    return revision
  }
}

function appendsLast(a: StoreChange, b: StoreChange): number {
  return Number(a.type === "append") - Number(b.type === "append")
}

async function deepened(changes: readonly StoreChange[], keys: Store["keys"]): Promise<StoreChange[]> {
  const all: StoreChange[] = []
  for (const change of changes) {
    if (change.type !== "delete") all.push(change)
    else for await (const key of keys(change.key)) all.push({ type: "delete", key })
  }
  return all
}

async function* none(): AsyncGenerator<Json> {}
