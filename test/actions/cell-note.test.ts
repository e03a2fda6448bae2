// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { cellNote } from "../../src/actions/cell-note.ts"
import type { CellExecuted } from "../../src/runtime/runtime.ts"
import { requires } from "../system.ts"

/** Runs cells in one runtime and returns what the model sees of each. */
async function seen(runtime: Runtime, ...cells: string[]): Promise<string[]> {
  await using opened = runtime
  const tag = opened.language === "python" ? "python" : "ts"
  const model = scriptedModel([...cells.map((code) => `\`\`\`${tag}\n${code}\n\`\`\`\n`), "Done."])
  const texts: string[] = []
  for await (const event of createAgent({ model, runtime: opened }).run("Go on.")) {
    if (event.type === "code-end") texts.push(event.text)
  }
  return texts
}

const output = (text: string) => `<output>\n${text}\n</output>`

class Lamp {
  level = 3
  dim(to: number) {
    this.level = to
  }
}

for (const [name, open] of [
  ["jsRuntime", (bindings?: Record<string, unknown>) => jsRuntime(bindings)],
  ["processRuntime", (bindings?: Record<string, unknown>) => processRuntime(bindings)],
] as const) {
  describe(`after a cell of ${name}, the model sees`, () => {
    test("the names that it created, with their types", async () => {
      const [first, second] = await seen(
        open(),
        "const total = 3\nlet rows = [{ id: 1 }, { id: 2 }]\nfunction twice(n: number) { return n * 2 }\nclass Box {}\nconst box = new Box()",
        "console.log('hello')\nconst text = 'x'",
      )
      assert.equal(
        first,
        output("(new: twice: (n) => …, total: number, rows: { id: number }[] (2), Box: class Box, box: Box)"),
      )
      assert.equal(second, output("hello\n(new: text: string)"))
    })

    test("the names that it changed", async () => {
      const [, second] = await seen(open(), "let a = 1\nlet b = 2", "a = 5; b")
      assert.equal(second, output("2\n(changed: a: number)"))
    })

    test("that a promise was not awaited", async () => {
      const [first] = await seen(open(), "const r = Promise.resolve(1)")
      assert.equal(first, output("(new: r: Promise (not awaited))"))
    })

    test("that a call of a host function was not awaited", async () => {
      const [first] = await seen(open({ load: async () => 1 }), "const r = load()")
      assert.equal(first, output("(new: r: Promise (not awaited))"))
    })

    test("that its last expression was undefined, if it printed nothing", async () => {
      const texts = await seen(open(), "[1].forEach(() => {})", "console.log('x')", "let y", "let z\nz", "if (true) {}")
      assert.deepEqual(texts, [
        output("(undefined)"),
        output("x"),
        output("(new: y: undefined)"),
        output("(undefined; new: z: undefined)"),
        output("(no output)"),
      ])
    })

    test("a type for a Proxy that fails, without running its code", async () => {
      const texts = await seen(
        open(),
        "const list = new Proxy([1], { get() { throw new Error('ran') } });",
        "const { proxy, revoke } = Proxy.revocable([1], {})\nrevoke()",
      )
      assert.match(texts[0] ?? "", /^<output>\n\(new: list: [^\n]+\)\n<\/output>$/)
      assert.match(texts[1] ?? "", /\(undefined; new: proxy: [^\n]+, revoke: [^\n]+\)\n<\/output>$/)
    })

    test("the names that a failed cell left behind", async () => {
      const [first] = await seen(open(), "const a = 1\nthrow new Error('no')")
      assert.match(first ?? "", /^<output>\n\(new: a: number\)\n<\/output>\n<error>\nError: no/)
    })
  })
}

test("after a cell in another process, the model sees the class of a host object that got a name", async () => {
  const [first] = await seen(processRuntime({ lamp: new Lamp() }), "const mine = lamp")
  assert.match(first ?? "", /^<output>\n\(new: mine: [^\n]+\)\n<\/output>$/)
})

describe("after a cell of pythonRuntime, the model sees", { skip: requires("python") }, () => {
  test("no modules, and no shape of a number", async () => {
    const [text] = await seen(pythonRuntime(), "import numpy\nmean = numpy.array([1.0, 2.0]).mean()")
    assert.equal(text, output("(new: mean: numpy.float64)"))
  })

  test("the names that it created, with their types; None; changed and removed names; failed cells", async () => {
    const texts = await seen(
      pythonRuntime(),
      "total = 3\nrows = [{'id': 1}, {'id': 2}]\ndef twice(n): return n * 2\nclass Box: pass\nbox = Box()",
      "print('hello')\ntext = 'x'",
      "async def f(): return 1\nr = f()",
      "[].sort()",
      "print('x')",
      "total = 4",
      "del total",
      "if True:\n    pass",
      "None;",
      "a = 1\n1 / 0",
    )
    assert.deepEqual(texts.slice(0, 9), [
      output("(new: total: int, rows: list[dict[str, int]] (2), twice: function, Box: class, box: Box)"),
      output("hello\n(new: text: str)"),
      output("(new: f: function, r: coroutine (not awaited))"),
      output("(None)"),
      output("x"),
      output("(changed: total: int)"),
      output("(removed: total)"),
      output("(no output)"),
      output("(no output)"),
    ])
    assert.match(texts[9] ?? "", /^<output>\n\(new: a: int\)\n<\/output>\n<error>\n[\s\S]*ZeroDivisionError/)
  })
})

test("after a Python cell that awaited a task or coroutine, the model sees that it is done", {
  skip: requires("python"),
}, async () => {
  const [first] = await seen(
    pythonRuntime(),
    "import asyncio\ntask = asyncio.create_task(asyncio.sleep(0))\nlater = asyncio.sleep(0)\nawait task\nawait later;",
  )
  assert.equal(first, output("(new: task: Task (done), later: coroutine (done))"))
})

test("after a Python cell that draws, the model sees the number of images", {
  skip: requires("python", "matplotlib"),
}, async () => {
  const [first] = await seen(pythonRuntime(), "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
  assert.match(first ?? "", /\(1 image\)\n<\/output>$/)
})

describe("the note after a cell", () => {
  const execution = (changes: Partial<CellExecuted["changes"]>, more: Partial<CellExecuted> = {}): CellExecuted => ({
    ok: true,
    value: undefined,
    ...{ stdout: "", stderr: "", output: "", durationMs: 0 },
    changes: { created: [], reassigned: [], removed: [], ...changes },
    ...more,
  })

  test("has one line of at most 200 characters, however many names there are and whatever their types contain", () => {
    const names = Array.from({ length: 300 }, (_, at) => `name${"x".repeat(at % 60)}${at}`)
    const types = Object.fromEntries(names.map((name) => [name, "{\n  a: string\n}".repeat(30)]))
    for (const count of [0, 1, 2, 3, 5, 20, 300]) {
      const some = names.slice(0, count)
      const note = cellNote(
        execution({ created: some, reassigned: some, removed: some }, { types, endsInUndefined: true }),
        false,
        "typescript",
      )
      assert.ok(note.length <= 200, `${note.length}: ${note}`)
      assert.doesNotMatch(note, /\n/)
    }
  })

  test("shows only the names if the runtime does not tell their types", () => {
    assert.equal(cellNote(execution({ created: ["a", "b"] }), true, "typescript"), "(new: a, b)")
  })

  test("counts images", () => {
    const image = { type: "image" as const, mediaType: "image/png", data: "" }
    assert.equal(cellNote(execution({}, { images: [image] }), true, "python"), "(1 image)")
    assert.equal(cellNote(execution({}, { images: [image, image] }), false, "python"), "(2 images)")
  })
})
