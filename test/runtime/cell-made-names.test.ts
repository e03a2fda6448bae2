// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { jsRuntime, type Runtime } from "karst"
import { processRuntime } from "karst/process"

const code = `
const limit = 3
let count = 0
const rows = [{ id: 1 }]
function twice(n: number): number { return n * 2 }
const half = (n: number): number => n / 2
async function later(text: string): Promise<string> { return text }
function plain(a, b = 1) { return a + b }
class Box<T> {
  items: T[] = []
  add(item: T): void { this.items.push(item) }
}
const box = new Box()
const alias = load
`

for (const [name, open] of [
  ["jsRuntime", (bindings: Record<string, unknown>): Runtime => jsRuntime(bindings)],
  ["processRuntime", (bindings: Record<string, unknown>): Runtime => processRuntime(bindings)],
] as const) {
  describe(`${name} declares names that cells made as they are:`, () => {
    const declared = async (...names: string[]) => {
      await using runtime = open({ load: async (id: number) => id })
      const execution = await runtime.execute(code)
      assert.ok(execution.ok)
      return await runtime.describe(names)
    }

    test("constants as constant, variables as variable", async () => {
      assert.match(await declared("limit"), /^declare const limit: number/)
      assert.match(await declared("rows"), /^declare const rows: \{ id: number \}\[\]/)
      assert.match(await declared("count"), /^declare let count: number/)
    })

    test("synchronous functions as synchronous, with the types that the cell wrote", async () => {
      assert.equal(await declared("twice"), "declare function twice(n: number): number")
      assert.equal(await declared("half"), "declare function half(n: number): number")
      assert.match(await declared("plain"), /^declare function plain\(a: (any|unknown), b\?: \w+\): any/)
    })

    test("asynchronous functions as asynchronous", async () => {
      assert.equal(await declared("later"), "declare function later(text: string): Promise<string>")
    })

    test("classes with their members", async () => {
      const text = await declared("Box")
      assert.match(text, /^declare class Box<T> \{\n/)
      assert.match(text, /items: T\[\]/)
      assert.match(text, /add\(item: T\): void/)
    })

    test("a host function under another name as asynchronous", async () => {
      assert.match(await declared("alias"), /Promise<any>/)
    })
  })
}
