import assert from "node:assert/strict"
import { test } from "node:test"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { CellNotExecuted, Runtime } from "../../../src/runtime/runtime.ts"

async function failureOf(runtime: Runtime, code: string): Promise<CellNotExecuted> {
  const execution = await runtime.execute(code)
  assert.ok(!execution.ok, "the cell should have failed")
  return execution
}

test("an error tells its name, message, line and column in the cell's own text", async () => {
  const { error, thrown } = await failureOf(jsRuntime(), "const a: number = 1\n\n  throw new RangeError('too far')")
  assert.equal(error.kind, "throw")
  assert.equal(error.message, "RangeError: too far")
  assert.deepEqual([error.line, error.column], [3, 9])
  assert.ok(thrown instanceof RangeError)
})

test("the line is that of this cell, also when an older one throws", async () => {
  const runtime = jsRuntime()
  await runtime.execute("function fail() {\n  throw new Error('from the first')\n}")
  const { error } = await failureOf(runtime, "\n\n\nfail()")
  assert.equal(error.line, 4)
  assert.match(error.stack ?? "", /at fail \(cell-1\.ts:2:9\)\n.*cell-2\.ts:4:\d/)
})

test("the stack has the frames of cells, and none of the host's files or Node's", async () => {
  const runtime = jsRuntime({
    explode: function explode() {
      throw new TypeError("in the host")
    },
    tools: {
      later: async function later() {
        await null
        throw new TypeError("in the host, later")
      },
    },
  })
  const { error } = await failureOf(runtime, "await explode()")
  assert.match(error.stack ?? "", /^TypeError: in the host\n {4}at async cell-1\.ts:1:1$/)
  assert.doesNotMatch(error.stack ?? "", /node:internal|src\/runtime|karst:|js-errors/)
  const later = await failureOf(runtime, "1\nawait tools.later()")
  assert.equal(later.error.line, 2)
  assert.match(later.error.stack ?? "", /^TypeError: in the host, later\n {4}at .*cell-2\.ts:2:\d+\)?$/)
})

test("anything can be thrown and is kept by reference", async () => {
  const runtime = jsRuntime({ thing: { a: 1 } })
  const object = await failureOf(runtime, "throw thing")
  assert.equal(object.error.message, "Uncaught { a: 1 }")
  assert.equal(object.thrown, await runtime.retrieve("thing"))
  assert.equal((await failureOf(runtime, "throw 'text'")).error.message, "Uncaught 'text'")
  assert.equal((await failureOf(runtime, "throw undefined")).error.message, "Uncaught undefined")
  assert.equal((await failureOf(runtime, "await Promise.reject(null)")).error.message, "Uncaught null")
})

test("causes and the errors of an aggregate are told", async () => {
  const runtime = jsRuntime()
  const caused = await failureOf(runtime, "throw new Error('outer', { cause: new TypeError('inner') })")
  assert.equal(caused.error.message, "Error: outer\n  because of TypeError: inner")
  const many = await failureOf(runtime, "await Promise.any([Promise.reject(new Error('a')), Promise.reject('b')])")
  assert.equal(many.error.message, "AggregateError: All promises were rejected\n  because of Error: a\n  'b'")
})

test("an error class of the cell's own keeps its name", async () => {
  const runtime = jsRuntime()
  const { error } = await failureOf(
    runtime,
    "class OutOfStock extends Error { name = 'OutOfStock' }\nthrow new OutOfStock('sorry')",
  )
  assert.equal(error.message, "OutOfStock: sorry")
})

test("a syntax error has kind, line and column, and nothing ran", async () => {
  const runtime = jsRuntime({ touched: [] as number[] })
  const { error, thrown } = await failureOf(runtime, "touched.push(1)\nconst = 5")
  assert.equal(error.kind, "syntax")
  assert.match(error.message, /^SyntaxError: /)
  assert.deepEqual([error.line, error.column], [2, 7])
  assert.equal(thrown, undefined)
  assert.deepEqual(await runtime.retrieve("touched"), [])
})

test("names of a cell that failed half-way are kept and may be declared again", async () => {
  const runtime = jsRuntime()
  await failureOf(runtime, "const before = 1; const dead = (() => { throw new Error('no') })(); const after = 2")
  const execution = await runtime.execute("const dead = before + 1; const after = 3; dead + after")
  assert.ok(execution.ok && execution.value === 5)
})

test("the runtime goes on after every kind of failure", async () => {
  const runtime = jsRuntime()
  for (const code of ["throw 1", "(", "nobody", "null.x", "await Promise.reject(new Error('x'))"])
    await failureOf(runtime, code)
  const execution = await runtime.execute("'alive'")
  assert.ok(execution.ok && execution.value === "alive")
})

test("endless recursion is an error of the cell", async () => {
  const { error } = await failureOf(jsRuntime(), "function f() { return f() + 1 }\nf()")
  assert.match(error.message, /RangeError: Maximum call stack/)
})

const hostile: { [what: string]: string } = {
  "an unreadable stack": "throw Object.defineProperty(new Error('m'), 'stack', { get() { throw 1 } })",
  "an unreadable message": "throw Object.defineProperty(new Error(), 'message', { get() { throw 1 } })",
  "a message that is no text": "throw Object.assign(new Error(), { message: Symbol('m') })",
  "an unreadable name": "throw Object.defineProperty(new Error(), 'name', { get() { throw 1 } })",
  "an unreadable cause": "throw Object.defineProperty(new Error(), 'cause', { get() { throw 1 } })",
  "unreadable parts": "throw Object.assign(new AggregateError([]), { errors: new Proxy([1], { get() { throw 1 } }) })",
  "a proxy that refuses everything": "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 1 } })",
  "a hostile error about a hostile error":
    "throw Object.defineProperty(new Error(), 'stack', { get() { throw { toString() { throw 2 } } } })",
}
for (const [what, code] of Object.entries(hostile)) {
  test(`an error with ${what} is told like any other`, async () => {
    const runtime = jsRuntime()
    assert.equal((await failureOf(runtime, code)).error.kind, "throw")
    assert.equal((await failureOf(runtime, `try { ${code} } catch (error) { throw error }`)).error.kind, "throw")
    const printed = await runtime.execute(`setTimeout(() => { ${code} }); await new Promise((go) => setTimeout(go, 2))`)
    assert.ok(printed.ok)
  })
}

test("a value that cannot be shown is the value all the same", async () => {
  for (const code of [
    "class Odd extends Array { slice() { throw 1 } }; new Odd()",
    "({ [Symbol.for('nodejs.util.inspect.custom')]() { throw { toString() { throw 1 } } } })",
    "Object.create(new Proxy({}, { getPrototypeOf() { throw 1 } }))",
    "Object.defineProperty(new Error(), 'stack', { get() { throw { toString() { throw 1 } } } })",
  ]) {
    const execution = await jsRuntime().execute(code)
    assert.ok(execution.ok && typeof execution.preview === "string", code)
  }
})

test("an import that fails is told at its line, without frames of Node", async () => {
  for (const code of ["// one\nimport x from 'no-such-package'", "1\nawait import('no-such-package')"]) {
    const { error } = await failureOf(jsRuntime(), code)
    assert.equal(error.line, 2)
    assert.doesNotMatch(error.stack ?? "", /node:/)
  }
})

test("printed errors end with a frame that says something", async () => {
  const { stdout } = await jsRuntime().execute("await new Promise((go) => { console.log(new Error('m')); go() })")
  assert.match(stdout, /cell-1\.ts:1:\d+\)?\n( {4}at cell-1\.ts:1:\d+\n)?$/)
})

test("a comment in a cell does not rename it, and its frames speak of its own names", async () => {
  const { error } = await failureOf(
    jsRuntime(),
    "//# sourceURL=other.js\nconst fail = [() => {\n  //# sourceURL=third.js\n  throw new Error('m')\n}]\nfail[0]()",
  )
  assert.equal(error.line, 4)
  assert.equal(error.stack, "Error: m\n    at fail (cell-1.ts:4:9)\n    at cell-1.ts:6:8")
})

test("an error of a host function has the line of the cell that called it, whatever the error is", async () => {
  const again = new Error("the same each time")
  const frozen = Object.freeze(new Error("frozen"))
  const deep = (levels: number): never => {
    if (levels > 0) return deep(levels - 1)
    throw new Error("from the depths")
  }
  const runtime = jsRuntime({
    reuse: async () => {
      throw again
    },
    freeze: () => Promise.reject(frozen),
    dive: () => deep(40),
  })
  const stack = again.stack
  for (const [code, line] of [
    ["await reuse()", 1],
    ["\n\n\nawait reuse()", 4],
    ["\nawait freeze()", 2],
    ["\n\nawait dive()", 3],
    ["\nlet e\ntry { await reuse() } catch (error) { e = error }\n\nthrow e", 3],
    ["\nconst run = async () => {\n  await reuse()\n}\nawait run()", 3],
    ["\n\nreuse()", 3],
  ] as const) {
    assert.equal((await failureOf(runtime, code)).error.line, line, code)
  }
  assert.equal(again.stack, stack, "the error is the host's own")
})
