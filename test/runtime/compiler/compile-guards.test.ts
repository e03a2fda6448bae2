import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { LoopGuard } from "../../../src/runtime/compiler/compile-cell.ts"
import { patientGuard, repl } from "./compiler-repl.ts"

/** Stops cells for good after a number of guarded steps. */
function stoppingGuard(steps: number): LoopGuard {
  let stopped = false
  const stop = () => {
    stopped = true
    guard.left = 0
    throw new Error("stopped")
  }
  const guard: LoopGuard = {
    left: steps,
    tick: () => (stopped || guard.left < 0 ? stop() : undefined),
    resume: (value) => (stopped ? stop() : value),
    value: (value) => value,
    fields: (value) => value,
    defaults() {},
    chosen: (value) => value,
    optional: (value) => value,
    optionalMethods: (value) => value,
  }
  return guard
}

/** Stops cells at the nth await. */
function stoppingAwait(nth: number): LoopGuard {
  let awaits = 0
  return patientGuard({
    resume(value) {
      if (++awaits === nth) throw new Error("stopped")
      return value
    },
  })
}

describe("guards", () => {
  const endless = {
    "a for loop": "for (;;) ;",
    "a for loop with a block": "for (;;) { n++ }",
    "a while loop": "while (true) n++",
    "a do loop": "do n++; while (true)",
    "a for-of loop": "for (const x of (function* () { for (;;) yield 1 })()) n++",
    "a for-in loop in a loop": "for (;;) for (const k in { a: 1 }) n++",
    "a labelled loop": "outer: while (true) { continue outer }",
    "recursion through a function": "function f() { f() } f()",
    "recursion through an arrow": "const f = () => f(); f()",
    "recursion through a method": "const o = { m() { this.m() } }; o.m()",
    "recursion through a getter": "const o = { get g() { return this.g } }; o.g",
    "recursion through a setter": "const o = { set s(v) { this.s = v } }; o.s = 1",
    "recursion through a constructor": "class A { constructor() { new A() } } new A()",
    "recursion through a class method": "class A { static m() { A.m() } } A.m()",
    "an endless callback":
      "const all = { [Symbol.iterator]: () => ({ next: () => ({ value: n++, done: false }) }) }; Array.from(all)",
    "a loop inside a generator": "const g = (function* () { while (true) n++ })(); g.next()",
    "a loop inside a handler": "try { throw 1 } catch { for (;;) n++ }",
  }
  for (const [what, code] of Object.entries(endless)) {
    test(`${what} is stopped`, async () => {
      const { run } = repl({ guard: stoppingGuard(500) })
      await assert.rejects(run("let n = 0", code), /stopped/)
    })
  }

  test("a cell is stopped after an await, before its next step", async () => {
    const { run } = repl({ guard: stoppingAwait(2) })
    await assert.rejects(run("let steps = 0; for (;;) { await null; steps++ }"), /stopped/)
    assert.equal(await run("steps"), 1)
  })

  test("awaits in functions and arrows of the cell are guarded too", async () => {
    for (const code of [
      "const f = async () => { await null; n++ }",
      "const f = async () => (await null, n++)",
      "async function f() { await null; n++ }",
    ]) {
      const { run } = repl({ guard: stoppingAwait(1) })
      await assert.rejects(run(`let n = 0; ${code}; await f()`), /stopped/)
      assert.equal(await run("n"), 0)
    }
  })

  test("a for await loop is stopped at its next turn", async () => {
    const { run } = repl({ guard: stoppingAwait(3) })
    await assert.rejects(run("let turns = 0; for await (const x of [1, 2, 3, 4, 5]) turns++"), /stopped/)
    assert.equal(await run("turns"), 2)
  })

  test("a stopped cell cannot go on in its own catch or finally", async () => {
    const log: string[] = []
    const { run } = repl({ guard: stoppingGuard(100), ambient: { log } })
    const code =
      "try { try { for (;;) ; } catch { log.push('catch') } finally { log.push('finally') } } finally { log.push('outer') }\nlog.push('after')"
    await assert.rejects(run(code), /stopped/)
    assert.deepEqual(log, [])
  })

  test("a loop that ends in time gives what it gives without guards", async () => {
    const { run, guard } = repl()
    guard.left = 2
    assert.equal(
      await run("let s = 0; for (let i = 0; i < 10; i++) { if (i === 3) continue; if (i === 8) break; s += i } s"),
      25,
    )
  })

  test("each turn of a loop and each call counts once", async () => {
    const { run, guard } = repl()
    guard.left = 1000
    await run("for (let i = 0; i < 10; i++) ; const f = (x) => x; [1, 2, 3].map(f); f(1)")
    assert.equal(guard.left, 1000 - 10 - 3 - 1)
  })
})
