// Cases of the runtime suite: the order of cells, stopping them, and closing the runtime.
import assert from "node:assert/strict"
import { AgentError } from "../../core/errors.ts"
import type { PauseSignal } from "../../runtime/runtime.ts"
import { type Code, runtimeCase, sameInBoth } from "./runtime-case.ts"

export const stopCases = {
  turns: runtimeCase("cells run one at a time, in the order they came", async (trial) => {
    const story: string[] = []
    await trial.runtime.inject({ note: (text: string) => void story.push(text) })
    const cell = (name: string): Code => ({
      typescript: `await note("${name} in")\nawait new Promise((go) => setTimeout(go, 1))\nawait note("${name} out")`,
      python: `import asyncio\nnote("${name} in")\nawait asyncio.sleep(0.001)\nnote("${name} out")`,
    })
    await Promise.all(["a", "b", "c"].map((name) => trial.ran(cell(name))))
    assert.deepEqual(story, ["a in", "a out", "b in", "b out", "c in", "c out"])
  }),

  "failure-in-line": runtimeCase("a cell that fails does not take those behind it along", async (trial) => {
    const cells = [sameInBoth("1"), { typescript: "throw 2", python: "raise Exception(2)" }, sameInBoth("3")]
    const executions = await Promise.all(cells.map((code) => trial.execute(code)))
    assert.deepEqual(
      executions.map(({ ok }) => ok),
      [true, false, true],
    )
  }),

  "timeout-loop": runtimeCase(
    "a time-out ends an endless loop; the runtime still works and has the injected values",
    async (trial) => {
      await trial.runtime.inject({ given: 41 })
      const { error } = await trial.failed(endless, { timeoutMs: 200 })
      assert.equal(error.kind, "timeout")
      assert.match(error.message, /200 ms/)
      assert.equal(await trial.value(sameInBoth("given + 1")), 42)
    },
  ),

  "timeout-pauses": runtimeCase(
    "a time-out does not count while time stands still, and goes on afterwards",
    async (trial) => {
      const listeners = new Set<(paused: boolean) => void>()
      const seen: string[] = []
      await trial.runtime.inject({
        async ask() {
          for (const listener of listeners) listener(true)
          await new Promise((resolve) => setTimeout(resolve, 1000))
          for (const listener of listeners) listener(false)
        },
        note: (text: string) => void seen.push(text),
      })
      const code = {
        typescript: "await ask()\nawait note('answered')\nwhile (true) {}",
        python: "ask()\nnote('answered')\nwhile True: pass",
      }
      const pauses: PauseSignal = (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      }
      const { error } = await trial.failed(code, { timeoutMs: 1000, subscribeToPauses: pauses })
      assert.equal(error.kind, "timeout")
      assert.deepEqual(seen, ["answered"])
      assert.equal(listeners.size, 0)
    },
  ),

  "timeout-nothing-after": runtimeCase("nothing of a cell happens after its time-out", async (trial) => {
    const seen: string[] = []
    const never = Promise.withResolvers<void>()
    await trial.runtime.inject({ wait: () => never.promise, note: (text: string) => void seen.push(text) })
    const code = {
      typescript: `
const other = async () => { await wait(); await note("other branch") }
const careful = async () => { try { await wait() } catch { await note("catch") } finally { await note("finally") } }
await Promise.allSettled([other(), careful()])
await note("end")`,
      python: `
try:
    wait()
except BaseException:
    note("except")
finally:
    note("finally")
note("end")`,
    }
    const { error } = await trial.failed(code, { timeoutMs: 200 })
    assert.equal(error.kind, "timeout")
    never.resolve()
    assert.equal(await trial.value(sameInBoth("'alive'")), "alive")
    assert.deepEqual(seen, [])
  }),

  "timeout-signal": runtimeCase(
    "a time-out aborts the signal of a call, and a call that still waits at the gate is not made",
    async (trial) => {
      let made = 0
      const heard = Promise.withResolvers<unknown>()
      const open = Promise.withResolvers<void>()
      await trial.runtime.inject({ wipe: () => ++made })
      // The first cell of a process takes longer.
      await trial.value(sameInBoth("'ready'"))
      const { error } = await trial.failed(
        { typescript: "await wipe()", python: "wipe()" },
        {
          timeoutMs: 2000,
          async callGate({ signal }, next) {
            signal.addEventListener("abort", () => heard.resolve(signal.reason))
            await open.promise
            return next()
          },
        },
      )
      assert.equal(error.kind, "timeout")
      assert.ok((await heard.promise) instanceof Error)
      open.resolve()
      assert.equal(await trial.value(sameInBoth("'alive'")), "alive")
      assert.equal(made, 0)
    },
  ),

  "timeout-unneeded": runtimeCase(
    "a cell that is quick enough is not stopped, and waiting for its turn does not count",
    async (trial) => {
      const open = Promise.withResolvers<void>()
      await trial.runtime.inject({ wait: () => open.promise })
      const first = trial.execute({ typescript: "await wait()", python: "wait()" })
      const second = trial.execute(sameInBoth("'in time'"), { timeoutMs: 1000 })
      await new Promise((resolve) => setTimeout(resolve, 1100))
      open.resolve()
      assert.ok((await first).ok)
      const execution = await second
      assert.equal(execution.ok ? execution.value : execution.error.message, "in time")
    },
  ),

  abort: runtimeCase(
    "a signal ends a running cell; its printed text is kept, and the runtime still works",
    async (trial) => {
      const controller = new AbortController()
      await trial.runtime.inject({ leave: () => controller.abort(new Error("the user left")) })
      const code = {
        typescript: "console.log('before')\nawait leave()\nwhile (true) await 1",
        python: "print('before', flush=True)\nleave()\nwhile True: pass",
      }
      const { error, output } = await trial.failed(code, { signal: controller.signal })
      assert.equal(error.kind, "aborted")
      assert.match(error.message, /the user left/)
      assert.equal(output, "before\n")
      assert.equal(await trial.value(sameInBoth("'alive'")), "alive")
    },
  ),

  "abort-before": runtimeCase("with a signal that fired before, nothing runs", async (trial) => {
    const { error } = await trial.failed(
      { typescript: "const ran = 1", python: "ran = 1" },
      { signal: AbortSignal.abort() },
    )
    assert.equal(error.kind, "aborted")
    await assert.rejects(trial.runtime.retrieve("ran"))
  }),

  "abort-in-line": runtimeCase("a cell that waits for its turn can be aborted at once", async (trial) => {
    const open = Promise.withResolvers<void>()
    const seen: string[] = []
    await trial.runtime.inject({ wait: () => open.promise, note: (text: string) => void seen.push(text) })
    const note = (text: string): Code => ({ typescript: `await note("${text}")`, python: `note("${text}")` })
    const controller = new AbortController()
    const first = trial.execute({ typescript: "await wait()", python: "wait()" })
    const second = trial.failed(note("second"), { signal: controller.signal })
    const others = Promise.allSettled([first, trial.execute(note("third"))])
    controller.abort()
    assert.equal((await second).error.kind, "aborted")
    open.resolve()
    assert.ok((await others).every(({ status }) => status === "fulfilled"))
    assert.deepEqual(seen, ["third"])
  }),

  close: runtimeCase("a closed runtime says so to every later use, and closing twice is fine", async ({ runtime }) => {
    await runtime.inject({ given: 1 })
    await Promise.all([runtime.close(), runtime.close()])
    await runtime.close()
    const uses = {
      execute: () => runtime.execute("1"),
      inject: () => runtime.inject({ more: 1 }),
      update: () => runtime.update({ given: 2 }),
      retrieve: () => runtime.retrieve("given"),
      names: () => runtime.names(),
      describe: () => runtime.describe(),
      keep: () => runtime.keep("x", 1),
      reset: () => runtime.reset(),
    }
    for (const [name, use] of Object.entries(uses)) {
      await assert.rejects(use, (error: unknown) => {
        assert.ok(error instanceof AgentError, `${name}: ${error}`)
        assert.equal(error.code, "closed", name)
        return true
      })
    }
  }),

  "close-while-running": runtimeCase("closing aborts the cell that runs and refuses those that wait", async (trial) => {
    const started = Promise.withResolvers<void>()
    await trial.runtime.inject({ begin: () => started.resolve() })
    const stuck = trial.failed({
      typescript: "await begin()\nawait new Promise(() => {})",
      python: "begin()\nwhile True: pass",
    })
    const refused = assert.rejects(trial.execute(sameInBoth("1")), /closed/)
    await started.promise
    await trial.runtime.close()
    assert.equal((await stuck).error.kind, "aborted")
    await refused
  }),

  disposal: runtimeCase("`await using` closes a runtime", async (trial) => {
    const kept = await trial.another()
    {
      await using runtime = kept
      assert.ok((await runtime.execute("1")).ok)
    }
    await assert.rejects(kept.execute("1"), /closed/)
  }),
}

const endless: Code = { typescript: "while (true) {}", python: "while True: pass" }
