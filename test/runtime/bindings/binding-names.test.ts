import assert from "node:assert/strict"
import { test } from "node:test"
import { ConfigError } from "../../../src/core/errors.ts"
import { ambientNames, createNameGenerator, nameProblem } from "../../../src/runtime/bindings/binding-names.ts"
import { createAmbient } from "../../../src/runtime/js/ambient/cell-env.ts"
import { createCellTimers } from "../../../src/runtime/js/ambient/cell-timers.ts"
import type { SharedCellState } from "../../../src/runtime/js/running-cell.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"

const ambient = new Set(["console", "globalThis"])

test("identifiers of any alphabet are names", () => {
  for (const name of ["x", "__", "$", "übergröße", "名前", "a1", "Type", "of", "async"]) {
    assert.equal(nameProblem(name, ambient), undefined, name)
  }
})

test("what is no identifier, a reserved word or the platform's own is no name", () => {
  for (const name of ["", "1a", "a-b", "a b", "a.b", "#x", "🙂"]) {
    assert.match(nameProblem(name, ambient) ?? "", /identifier/, name)
  }
  for (const name of ["for", "await", "let", "yield", "eval", "arguments", "undefined", "null", "enum", "this"]) {
    assert.match(nameProblem(name, ambient) ?? "", /reserved/, name)
  }
  assert.match(nameProblem("console", ambient) ?? "", /another name/)
})

test("fresh names count up, skip what is taken and never come twice", () => {
  const taken = new Set(["_output_1"])
  const maker = createNameGenerator((name) => taken.has(name))
  maker.markUsed("_output_3")
  assert.equal(maker.createName("_output"), "_output_2")
  taken.clear()
  assert.equal(maker.createName("_output"), "_output_4")
  assert.equal(maker.createName("result"), "result_1")
})

test("a prefix that cannot begin an identifier is refused", () => {
  const maker = createNameGenerator(() => false)
  assert.throws(() => maker.createName("1st"), ConfigError)
  assert.throws(() => maker.createName("my output"), ConfigError)
})

test("the names refused when a runtime is made are just those that cells find besides their namespace", () => {
  const shared: SharedCellState = {
    cells: new Set(),
    gate: undefined,
    lateOutput: [],
    lateOutputLength: 0,
    epoch: 0,
    onCellStopped() {},
  }
  const ambient = createAmbient({ shared, timers: createCellTimers(shared), cwd: ".", scope: () => ({}) })
  assert.deepEqual(Object.keys(ambient).sort(), [...ambientNames].sort())
  for (const name of ambientNames) assert.throws(() => jsRuntime({ [name]: 1 }), ConfigError)
})
