// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Decision, RuntimeCall } from "karst"
import type { UnknownPolicy } from "karst/engine"
import { createRunJournal, type JournalEntry } from "../../../src/engine/journal/run-journal.ts"
import { decodeValue, encodeValue } from "../../../src/sessions/value-codec.ts"
import { createToolState } from "../../../src/tools/tool-state.ts"

describe("the journal of a cycle", () => {
  test("answers calls that were made side by side in the order they were completed", async () => {
    const entries: JournalEntry[] = []
    const first = journal(entries)
    const gates = new Map([1, 2, 3].map((n) => [n, Promise.withResolvers<void>()]))
    const program = async (make: (n: number) => Promise<unknown>) => {
      const order: number[] = []
      await Promise.all([1, 2, 3].map((n) => make(n).then(() => order.push(n))))
      return order
    }
    const running = program((n) => first.ask("work", [n], async () => await gates.get(n)?.promise))
    for (const n of [3, 1, 2]) {
      gates.get(n)?.resolve()
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(await running, [3, 1, 2])
    const again = journal(entries)
    const replayed = await program((n) => again.ask("work", [n], () => assert.fail("made again")))
    assert.deepEqual(replayed, [3, 1, 2])
  })

  test("tells equal calls apart by their order, and gives failures again", async () => {
    const entries: JournalEntry[] = []
    const first = journal(entries)
    let count = 0
    const made = async () => {
      if (++count === 2) throw new TypeError("second")
      return count
    }
    assert.equal(await first.ask("next", [], made), 1)
    await assert.rejects(first.ask("next", [], made), { name: "TypeError", message: "second" })
    const again = journal(entries)
    assert.equal(await again.ask("next", [], made), 1)
    await assert.rejects(again.ask("next", [], made), { name: "TypeError", message: "second" })
    assert.equal(count, 2)
  })

  for (const [policy, outcome] of [
    ["fail", "UnknownOutcome"],
    ["retry", "made"],
    ["ask", "made"],
  ] as const) {
    test(`treats a call that was begun as unknown: ${policy}`, async () => {
      const begun: JournalEntry[] = []
      void journal(begun).ask("pay", [1], () => new Promise(() => undefined))
      await new Promise((resolve) => setImmediate(resolve))
      const again = journal(begun, { unknown: policy, decision: "allow" })
      const result = await again.ask("pay", [1], async () => "made").catch((error: Error) => error.name)
      assert.equal(result, outcome)
    })
  }

  test("makes an idempotent call again with the same key", async () => {
    const entries: JournalEntry[] = []
    const keys: string[] = []
    const make = (key: string) => {
      keys.push(key)
      return keys.length === 1 ? new Promise(() => undefined) : Promise.resolve("ok")
    }
    void journal(entries).ask("put", [1], make, { idempotent: true })
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(await journal(entries).ask("put", [1], make, { idempotent: true }), "ok")
    assert.equal(keys[0], keys[1])
  })

  test("treats an outcome that cannot be stored as unknown", async () => {
    const entries: JournalEntry[] = []
    class Socket {}
    assert.ok((await journal(entries).ask("open", [], async () => new Socket())) instanceof Socket)
    await assert.rejects(
      journal(entries).ask("open", [], async () => new Socket()),
      { name: "UnknownOutcome", code: "unknown-outcome" },
    )
  })

  test("returns a result that is nested too deeply to be stored, and treats it as unknown later", async () => {
    const entries: JournalEntry[] = []
    let deep: unknown[] = []
    for (let depth = 0; depth < 50_000; depth++) deep = [deep]
    assert.equal(await journal(entries).ask("pay", [], async () => deep), deep)
    assert.deepEqual(
      entries.map(({ type }) => type),
      ["started", "done"],
    )
    await assert.rejects(
      journal(entries).ask("pay", [], async () => deep),
      { code: "unknown-outcome" },
    )
  })

  test("does not record a call as failed because its result could not be written", async () => {
    const entries: JournalEntry[] = []
    const failing = journal(entries, { failOn: "done" })
    await assert.rejects(
      failing.ask("pay", [], async () => "paid"),
      { message: "disk full" },
    )
    assert.deepEqual(
      entries.map(({ type }) => type),
      ["started"],
    )
  })

  test("reports calls that were made and are not asked for again", async () => {
    const entries: JournalEntry[] = []
    await journal(entries).ask("pay", [1], async () => 1)
    const again = journal(entries)
    await again.ask("pay", [2], async () => 2)
    again.reportUnaskedCalls()
    assert.match(again.diverged.join(), /not asked for again: pay/)
  })
})

test("values come back equal, and what has behaviour does not come back", () => {
  const shared = { a: 1 }
  for (const value of [
    1,
    -0,
    NaN,
    "x",
    null,
    undefined,
    [undefined],
    new Map([[1, new Set([2])]]),
    5n,
    new Date(0),
    [shared, shared],
  ]) {
    const stored = encodeValue(value)
    assert.ok(stored)
    assert.deepEqual(decodeValue(JSON.parse(JSON.stringify(stored))), value)
  }
  for (const value of [() => 1, Symbol(), new (class A {})(), { f() {} }, new Proxy({}, {})]) {
    assert.equal(encodeValue(value), undefined)
  }
})

function journal(
  entries: JournalEntry[],
  {
    unknown = "fail",
    decision = "deny",
    failOn,
  }: { unknown?: UnknownPolicy; decision?: Decision; failOn?: JournalEntry["type"] } = {},
) {
  const diverged: string[] = []
  const state = createToolState()
  const { journal, ...rest } = createRunJournal({
    run: "run_1",
    cycle: 0,
    seed: "seed",
    entries: entries.slice(),
    checkHeld: async () => {},
    claims: () => 1,
    async append(items) {
      if (items.some(({ type }) => type === failOn)) throw new Error("disk full")
      entries.push(...items)
    },
    unknown,
    approval: { recordedAnswer: () => undefined, wait: async () => decision },
    onEffect: () => undefined,
    onDiverged: (what) => diverged.push(what),
  })
  return {
    ...rest,
    state,
    diverged,
    ask(binding: string, args: unknown[], make: (key: string) => Promise<unknown>, options: Partial<RuntimeCall> = {}) {
      const signal = new AbortController().signal
      return journal.call(
        { id: "c", binding, args, approve: false, signal, ...options },
        { approve: async () => undefined, ask: async () => decision, make, state },
      )
    },
  }
}
