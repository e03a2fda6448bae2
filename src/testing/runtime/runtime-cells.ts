// Cases of the runtime suite: what a cell does. Names stay, values and output are returned, errors have positions.
import assert from "node:assert/strict"
import type { CellOutput } from "../../runtime/runtime.ts"
import { runtimeCase, sameInBoth } from "./runtime-case.ts"

export const cellCases = {
  persistence: runtimeCase("names live on from cell to cell, and functions see their later values", async (trial) => {
    await trial.ran({
      typescript: "let count = 1\nconst read = () => count",
      python: "count = 1\ndef read():\n    return count",
    })
    await trial.ran(sameInBoth("count = 41"))
    assert.equal(await trial.value({ typescript: "count++\nread()", python: "count += 1\nread()" }), 42)
  }),

  redeclaration: runtimeCase("a name may be declared again, also as something else", async (trial) => {
    await trial.ran({ typescript: "const thing = 1", python: "thing = 1" })
    await trial.ran({
      typescript: "function thing() { return 'a function' }",
      python: "def thing():\n    return 'a function'",
    })
    assert.equal(await trial.value(sameInBoth("thing()")), "a function")
    await trial.ran({ typescript: "class thing { size = 3 }", python: "class thing:\n    size = 3" })
    assert.equal(await trial.value({ typescript: "new thing().size", python: "thing().size" }), 3)
    assert.equal(
      await trial.value({ typescript: "const thing = 'text'\nthing", python: "thing = 'text'\nthing" }),
      "text",
    )
  }),

  separation: runtimeCase("two runtimes never share a name", async (trial) => {
    const other = await trial.another()
    await trial.ran({ typescript: "const mine = 1", python: "mine = 1" })
    assert.ok(!(await other.execute("mine")).ok)
    await assert.rejects(other.retrieve("mine"))
  }),

  "trailing-value": runtimeCase("the trailing expression is the value of a cell, and only that", async (trial) => {
    const { value, preview } = await trial.ran({ typescript: "const x = 2\nx + 40", python: "x = 2\nx + 40" })
    assert.deepEqual([value, preview], [42, "42"])
    assert.deepEqual(await trial.value(sameInBoth("[1, [2, 'three']]")), [1, [2, "three"]])
    const statement = await trial.ran({ typescript: "const y = 1", python: "y = 1" })
    assert.deepEqual([statement.value, statement.preview], [undefined, undefined])
    const nothing = await trial.ran({ typescript: "undefined", python: "None" })
    assert.equal(nothing.preview, undefined)
    assert.equal((await trial.ran(sameInBoth(""))).value, undefined)
  }),

  "top-level-await": runtimeCase("a cell may await", async (trial) => {
    const code = {
      typescript: "const later = await new Promise((go) => setTimeout(() => go(5), 1))\nlater + 1",
      python: "import asyncio\nlater = await asyncio.sleep(0.001, 5)\nlater + 1",
    }
    assert.equal(await trial.value(code), 6)
  }),

  "error-line": runtimeCase(
    "an error is data: its kind, its message and the line in the cell's own text",
    async (trial) => {
      const { error } = await trial.failed({
        typescript: "const a: number = 1\n\nthrow new RangeError('too far')",
        python: "a = 1\n\nraise ValueError('too far')",
      })
      assert.equal(error.kind, "throw")
      assert.match(
        error.message,
        { typescript: /^RangeError: too far/, python: /^ValueError: too far/ }[trial.language],
      )
      assert.equal(error.line, 3)
    },
  ),

  "error-in-older-cell": runtimeCase(
    "an error in a function of an older cell has the line of this cell",
    async (trial) => {
      await trial.ran({
        typescript: "function fail() {\n  throw new Error('from the first')\n}",
        python: "def fail():\n    raise Exception('from the first')",
      })
      const { error } = await trial.failed(sameInBoth("\n\n\nfail()"))
      assert.match(error.message, /from the first/)
      assert.equal(error.line, 4)
    },
  ),

  "unknown-name": runtimeCase("using an unknown name is an error that names it", async (trial) => {
    const { error } = await trial.failed(sameInBoth("nowhere"))
    assert.equal(error.kind, "throw")
    assert.match(error.message, /nowhere/)
  }),

  "syntax-error": runtimeCase("a syntax error has its kind and line, and nothing of the cell ran", async (trial) => {
    const { error } = await trial.failed({
      typescript: "globalThis.ran = true\nconst = 5",
      python: "ran = True\nx = = 5",
    })
    assert.equal(error.kind, "syntax")
    assert.equal(error.line, 2)
    await assert.rejects(trial.runtime.retrieve("ran"))
  }),

  "error-half-way": runtimeCase(
    "changes that a cell made before it failed stay, and the runtime still works",
    async (trial) => {
      const { changes } = await trial.failed({
        typescript: "let before = 1\nthrow 'no'\nconst after = 2",
        python: "before = 1\nraise Exception('no')\nafter = 2",
      })
      assert.deepEqual(changes.created, ["before"])
      assert.equal(
        await trial.value({ typescript: "const after = before + 1\nafter", python: "after = before + 1\nafter" }),
        2,
      )
    },
  ),

  changes: runtimeCase("an execution reports which names the cell created, reassigned and removed", async (trial) => {
    const first = await trial.ran({ typescript: "let a = 1\nfunction b() {}", python: "a = 1\ndef b(): pass" })
    assert.deepEqual(first.changes.created.toSorted(), ["a", "b"])
    assert.deepEqual([first.changes.reassigned, first.changes.removed], [[], []])
    const second = await trial.ran({ typescript: "a = 2\ndelete globalThis.b", python: "a = 2\ndel b" })
    assert.deepEqual(second.changes, { created: [], reassigned: ["a"], removed: ["b"] })
    const third = await trial.ran(sameInBoth("a"))
    assert.deepEqual(third.changes, { created: [], reassigned: [], removed: [] })
    const equal = await trial.ran(sameInBoth("a = 2"))
    assert.deepEqual(equal.changes, { created: [], reassigned: ["a"], removed: [] })
  }),

  output: runtimeCase("printed text is captured by stream and in order, for each cell alone", async (trial) => {
    const { stdout, stderr, output } = await trial.ran({
      typescript: "console.log('one', 1)\nconsole.error('two')\nprocess.stdout.write('thrée')",
      python: "import sys\nprint('one', 1)\nprint('two', file=sys.stderr)\nsys.stdout.write('thrée')\nNone",
    })
    assert.deepEqual([stdout, stderr, output], ["one 1\nthrée", "two\n", "one 1\ntwo\nthrée"])
    assert.equal((await trial.ran(sameInBoth("1"))).output, "")
    const failed = await trial.failed({
      typescript: "console.log('so far')\nthrow 1",
      python: "print('so far')\nraise Exception()",
    })
    assert.equal(failed.stdout, "so far\n")
  }),

  "output-streaming": runtimeCase("output is reported while the cell runs", async (trial) => {
    const seen = Promise.withResolvers<void>()
    const chunks: CellOutput[] = []
    const text = (stream: CellOutput["stream"]) =>
      chunks.map((chunk) => (chunk.stream === stream ? chunk.text : "")).join("")
    await trial.runtime.inject({ untilSeen: () => seen.promise })
    const execution = await trial.ran(
      {
        typescript: "console.log('first')\nawait untilSeen()\nconsole.error('second')",
        python: "import sys\nprint('first')\nuntilSeen()\nprint('second', file=sys.stderr)",
      },
      {
        timeoutMs: 20_000,
        onOutput(chunk) {
          chunks.push(chunk)
          if (text("stdout") === "first\n") seen.resolve()
        },
      },
    )
    assert.deepEqual([text("stdout"), text("stderr")], ["first\n", "second\n"])
    assert.equal(execution.output, "first\nsecond\n")
  }),

  "large-output": runtimeCase("a long output arrives whole", async (trial) => {
    const { stdout } = await trial.ran({
      typescript: "for (let i = 0; i < 2000; i++) console.log(`line ${i} of many, long enough to fill a pipe`)",
      python: "for i in range(2000): print(f'line {i} of many, long enough to fill a pipe')",
    })
    const expected = Array.from({ length: 2000 }, (_, i) => `line ${i} of many, long enough to fill a pipe\n`)
    assert.equal(stdout, expected.join(""))
  }),
}
