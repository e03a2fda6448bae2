// Cases of the runtime suite: transactions and snapshots. A runtime without one of them reports that, and passes.
import assert from "node:assert/strict"
import { AgentError, UnsupportedError } from "../../core/errors.ts"
import type { CellExecution } from "../../runtime/runtime.ts"
import { type Code, type RuntimeTrial, runtimeCase, sameInBoth } from "./runtime-case.ts"

export const keepingCases = {
  rollback: runtimeCase(
    "a transaction that fails leaves the namespace as it was, or is refused as unsupported",
    async (trial) => {
      await trial.runtime.inject({ given: [1] })
      await trial.ran({ typescript: "let made = { list: [1] }", python: "made = {'list': [1]}" })
      const spoil = {
        typescript: "made.list.push(2)\ngiven.push(2)\nvar fresh = 1\nmade = { list: [] }",
        python: "made['list'].append(2)\ngiven.append(2)\nfresh = 1\nmade = {'list': []}",
      }
      const failing = { typescript: `${spoil.typescript}\nthrow new Error("no")`, python: `${spoil.python}\n1 / 0` }
      const thrown = await transaction(trial, failing, true)
      if (!thrown) return
      const refused = await transaction(trial, spoil, { check: async () => false })
      assert.ok(!thrown.ok && !refused?.ok)
      assert.equal(thrown.error.kind, "throw")
      assert.equal(refused?.error.kind, "refused")
      assert.deepEqual(thrown.changes, { created: [], reassigned: [], removed: [] })
      assert.deepEqual([thrown.notRolledBack, refused?.notRolledBack], [[], []])
      assert.deepEqual(await trial.runtime.retrieve("made"), { list: [1] })
      assert.deepEqual(await trial.value(sameInBoth("given")), [1])
      await assert.rejects(trial.runtime.retrieve("fresh"))
    },
  ),

  undo: runtimeCase("a transaction that succeeded can be undone once, until the next cell begins", async (trial) => {
    await trial.ran({ typescript: "let n = 1", python: "n = 1" })
    const first = await transaction(trial, sameInBoth("n = 2"), {
      check: async (runtime) => (await runtime.retrieve("n")) === 2,
    })
    if (!first) return
    assert.ok(first.ok && first.undo)
    assert.deepEqual(await first.undo(), [])
    assert.equal(await trial.runtime.retrieve("n"), 1)
    await assert.rejects(first.undo(), AgentError)
    const second = await transaction(trial, sameInBoth("n = 3"), true)
    await trial.ran(sameInBoth("n"))
    assert.ok(second?.ok && second.undo)
    await assert.rejects(second.undo(), AgentError)
    assert.equal(await trial.runtime.retrieve("n"), 3)
  }),

  snapshot: runtimeCase(
    "a snapshot is restored in another runtime, where it replaces the names that exist",
    async (trial) => {
      const { runtime } = trial
      const other = await trial.another()
      if (!runtime.snapshot || !other.restore) return
      await runtime.inject({ given: 1 })
      await other.inject({ given: 2 })
      await trial.ran({
        typescript: "const rows = [{ n: 1 }]\nlet first = rows[0]",
        python: "rows = [{'n': 1}]\nfirst = rows[0]",
      })
      const snapshot = await runtime.snapshot()
      assert.equal(snapshot.language, trial.language)
      assert.equal((await runtime.snapshot()).hash, snapshot.hash)
      await trial.ran({ typescript: "rows.push({ n: 2 })", python: "rows.append({'n': 2})" })
      assert.notEqual((await runtime.snapshot()).hash, snapshot.hash)
      await other.execute({ typescript: "let before = 1", python: "before = 1" }[trial.language])
      assert.deepEqual([snapshot.lost, await other.restore(snapshot)], [[], []])
      assert.deepEqual(await other.retrieve("rows"), [{ n: 1 }])
      assert.equal(await other.retrieve("given"), 2)
      await assert.rejects(other.retrieve("before"))
      const change = { typescript: "first.n = 7", python: "first['n'] = 7" }[trial.language]
      assert.ok((await other.execute(change)).ok)
      assert.deepEqual(await other.retrieve("rows"), [{ n: 7 }])
    },
  ),

  fork: runtimeCase("a fork begins with the same names and goes its own way", async (trial) => {
    const { runtime } = trial
    if (!runtime.fork) return
    await runtime.inject({ add: (a: number, b: number) => a + b })
    await trial.ran({ typescript: "const list = [1]", python: "list = [1]" })
    await using fork = await runtime.fork()
    const more: Code = { typescript: "list.push(await add(1, 1))", python: "list.append(add(1, 1))" }
    assert.ok((await fork.execute(more[trial.language])).ok)
    assert.deepEqual(await fork.retrieve("list"), [1, 2])
    assert.deepEqual(await runtime.retrieve("list"), [1])
    await fork.close()
    assert.deepEqual(await trial.value(sameInBoth("list")), [1])
  }),
}

type Transaction = NonNullable<Parameters<RuntimeTrial["execute"]>[1]>["transaction"]

/** Executes a cell as a transaction; undefined if the runtime has none. */
async function transaction(
  trial: RuntimeTrial,
  code: Code,
  transaction: Transaction,
): Promise<CellExecution | undefined> {
  try {
    return await trial.execute(code, { transaction })
  } catch (error) {
    if (error instanceof UnsupportedError) return undefined
    throw error
  }
}
