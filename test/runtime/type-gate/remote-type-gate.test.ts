// test lane: runtimes, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { classType, fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { CellOptions } from "../../../src/runtime/runtime.ts"
import { requires } from "../../system.ts"
import { badLater, goodLater, laterBindings } from "./type-gate-later-corpus.ts"

const block: CellOptions = { typeGate: "block" }

class Lamp {
  level = 0
  dim(level: number): number {
    this.level = level
    return level
  }
}

const lampSource = "class Lamp { level: number; dim(level: number): number { return 0 } }"

class Wallet {
  balance = 10
  spend(amount: number) {
    this.balance -= amount
    return this.balance
  }
  label() {
    return "mine"
  }
}

for (const [name, make] of Object.entries({ jsRuntime, processRuntime })) {
  test(`${name}: a guarded object is checked like any other`, { skip: requires("typescript") ?? false }, async () => {
    const wallet = new Wallet()
    await using runtime = make({ wallet: variable(wallet, { guard: { spend: { maxCalls: 9 } } }) })
    for (const code of [
      "await wallet.spend(1)",
      "const left = await wallet.spend(1)\nleft + 1",
      "await wallet.label()",
    ]) {
      const execution = await runtime.execute(code, block)
      assert.ok(execution.ok, `${code}: ${execution.ok || execution.error.message}`)
    }
    const bad = {
      "await wallet.spned(1)": /spned.*Did you mean 'spend'/,
      "wallet.wipe()": /wipe/,
      "wallet.spend(1).toFixed()": /await/,
      "const rest = wallet.spend(1)\nrest.toFixed(1)": /await/,
      "wallet.spend(1) + 1": /await/,
      "`left: ${wallet.spend(1)}`": /await/,
      "if (wallet.spend(1)) 1": /await/,
    }
    for (const [code, expected] of Object.entries(bad)) {
      const execution = await runtime.execute(code, block)
      assert.ok(!execution.ok, `${code} ran`)
      assert.equal(execution.error.kind, "type", code)
      assert.match(execution.error.message, expected)
    }
    assert.equal(wallet.balance, 8)
  })
}

describe("the type gate of a processRuntime", { skip: requires("typescript") ?? false }, () => {
  test("good cells pass: handles, data that grows, names of earlier cells", async () => {
    await using runtime = processRuntime({
      Lamp: classType(Lamp, { source: lampSource }),
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
      Lamp: classType(Lamp, { source: lampSource }),
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

  test("a name of which its author said the type, and a cell made something else, is what the cell made", async () => {
    await using runtime = processRuntime({ tasks: variable([{ t: 1 }], { type: "{ t: number }[]" }) })
    const cells = [
      "tasks = new Map([['write', 3]])",
      "tasks.get('write')",
      "tasks = { open: 1 }",
      "tasks.open.toFixed()",
    ]
    for (const code of cells) {
      const execution = await runtime.execute(code, block)
      assert.ok(execution.ok, `${code}: ${execution.ok || execution.error.message}`)
    }
    const execution = await runtime.execute("tasks.get('write')", block)
    assert.ok(!execution.ok && execution.error.kind === "type", "it has no such method any more")
  })

  test("one await reads through several members of an object elsewhere", async () => {
    const company = new (class Company {
      address = { city: "Oslo", lines: ["a"], print: () => "printed" }
      wipe() {}
    })()
    await using runtime = processRuntime({ company })
    for (const code of [
      "await company.address.city",
      "await company.address.lines.length",
      "await company.address.print()",
    ]) {
      const execution = await runtime.execute(code, block)
      assert.ok(execution.ok, `${code}: ${execution.ok || execution.error.message}`)
    }
    for (const code of ["company.address.city.length", "'a' + `${company.wipe()}`", "await company.wype()"]) {
      const execution = await runtime.execute(code, block)
      assert.ok(!execution.ok && execution.error.kind === "type", code)
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

  test("in block mode a finding that does not refuse the cell is a hint", async () => {
    await using runtime = processRuntime({ settings: { port: 80 } })
    const fine = await runtime.execute("settings.prot", block)
    assert.ok(fine.ok)
    assert.match(fine.hints?.join() ?? "", /'prot' does not exist/)
    const refused = await runtime.execute("settings.prot\nnothing()", block)
    assert.ok(!refused.ok && refused.error.kind === "type")
    assert.match(refused.hints?.join() ?? "", /'prot' does not exist/)
  })
})
