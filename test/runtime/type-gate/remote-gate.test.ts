import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { fn, type, variable } from "../../../src/runtime/bindings.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { ExecuteOptions } from "../../../src/runtime/runtime.ts"
import { requires } from "../../system.ts"
import { badLater, goodLater, laterBindings } from "./later-corpus.ts"

const block: ExecuteOptions = { typeGate: "block" }

class Lamp {
  level = 0
  dim(level: number): number {
    this.level = level
    return level
  }
}

const lampSource = "class Lamp { level: number; dim(level: number): number { return 0 } }"

describe("the type gate of a processRuntime", { skip: requires("typescript") ?? false }, () => {
  test("good cells pass: handles, data that grows, names of earlier cells", async () => {
    await using runtime = processRuntime({
      Lamp: type(Lamp, { source: lampSource }),
      lamp: new Lamp(),
      settings: { port: 80 },
      rows: variable([{ id: 1 }], { type: "{ id: number }[]" }),
      double: fn((n: number) => n * 2, { signature: "(n: number) => number" }),
    })
    const cells = [
      "await lamp.dim(3)",
      "settings.host = 'a'; settings.host.length",
      "settings.host.length",
      "const sum = rows.reduce((total, row) => total + row.id, 0)",
      "sum.toFixed(1) + (await double(sum))",
      "let word = 'a'",
      "word = [1]",
      "word.length + word.at(0)",
    ]
    for (const code of cells) {
      const execution = await runtime.execute(code, block)
      assert.ok(execution.ok, `${code}: ${execution.ok || execution.error.message}`)
    }
  })

  test("bad cells are refused before they cross", async () => {
    let calls = 0
    await using runtime = processRuntime({
      Lamp: type(Lamp, { source: lampSource }),
      lamp: new Lamp(),
      double: fn(() => ++calls, { signature: "(n: number) => number" }),
    })
    assert.ok((await runtime.execute("const list = [1, 2]", block)).ok)
    const cells = {
      "await double(1)\nawait dubble(2)": /dubble/,
      "const twice = double(2)\ntwice.toFixed()": /await/,
      "await double()": /Expected 1 arguments/,
      "await lamp.dimm(2)": /Did you mean 'dim'/,
      "list.lenght": /Did you mean 'length'/,
    }
    for (const [code, expected] of Object.entries(cells)) {
      const execution = await runtime.execute(code, block)
      assert.ok(!execution.ok, `${code} ran`)
      assert.equal(execution.error.kind, "type")
      assert.match(execution.error.message, expected)
    }
    assert.equal(calls, 0)
  })

  test("what cells gave to objects is not held against later ones, as nobody here sees the values", async () => {
    for (const { title, before = [], code } of goodLater) {
      await using runtime = processRuntime(laterBindings())
      for (const cell of [...before, code]) {
        const execution = await runtime.execute(cell, block)
        assert.ok(execution.ok, `${title}: ${execution.ok || execution.error.message}`)
      }
    }
    for (const { title, before = [], code } of badLater) {
      await using runtime = processRuntime(laterBindings())
      for (const cell of before) assert.ok((await runtime.execute(cell, block)).ok)
      const execution = await runtime.execute(code, block)
      assert.ok(!execution.ok && execution.error.kind === "type", title)
    }
  })

  test("members that cells gave to classes of the language are there", async () => {
    await using runtime = processRuntime()
    const cells = [
      "Array.prototype.lastOne = function () { return this[this.length - 1] }",
      "Object.defineProperty(String.prototype, 'loud', { get() { return this + '!' } })\nMath.sum = (a, b) => a + b",
      "Number.half = (n) => n / 2",
      "[1, 2].lastOne() + 'a'.loud.length + Math.sum(1, 2) + Number.half(4)",
    ]
    for (const code of cells) {
      const execution = await runtime.execute(code, block)
      assert.ok(execution.ok, `${code}: ${execution.ok || execution.error.message}`)
    }
  })

  test("names of cells that were not checked are known, and hints are told", async () => {
    await using runtime = processRuntime({ rows: variable([1], { type: "number[]" }) })
    await runtime.execute("const later = { a: 1 }")
    assert.ok((await runtime.execute("later.b", block)).ok)
    const execution = await runtime.execute("rows.lenght", { typeGate: "hint" })
    assert.ok(execution.ok)
    assert.match(execution.hints?.join() ?? "", /length/)
  })
})
