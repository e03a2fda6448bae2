// test lane: runtimes, long
import assert from "node:assert/strict"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { ConfigError, UnsupportedError } from "../../../src/core/errors.ts"
import { classType, variable } from "../../../src/runtime/bindings.ts"
import { py } from "../../../src/runtime/python/py-reference.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { cellsOf, sharedRuntime } from "./shared-kernel.ts"

describe("a cell of Python", { skip: requires("python") }, () => {
  const runtime = sharedRuntime()

  test("keeps names, imports, functions and classes for the cells after it", async () => {
    await runtime.ran("import math\nfrom collections import Counter\nbase = 2")
    await runtime.ran(
      "def area(r):\n    return math.pi * r ** base\n\nclass Box:\n    def __init__(self, n): self.n = n",
    )
    assert.equal(await runtime.value("round(area(2), 3)"), 12.566)
    assert.equal(await runtime.value("Box(5).n + Counter('aab')['a']"), 7)
  })

  test("shows its last value as Python does, and prints nothing for None", async () => {
    assert.equal((await runtime.ran("{'a': [1, 'x']}")).preview, "{'a': [1, 'x']}")
    assert.equal((await runtime.ran("None")).preview, undefined)
    assert.equal((await runtime.ran("x = 1")).output, "")
  })

  test("has its last value converted when it is small data, and as a live handle when it is not", async () => {
    assert.deepEqual(await runtime.value("(1, 2.5, None, True, 'é')"), [1, 2.5, null, true, "é"])
    const many = await runtime.value("list(range(100_000))")
    assert.equal(await (many as { __len__(): Promise<number> }).__len__(), 100_000)
  })

  test("shows a long value shortened", async () => {
    const { preview = "" } = await runtime.ran("'x' * 1_000_000")
    assert.ok(preview.length < 101_000)
    assert.match(preview, /\(1,000,000 characters\)$/)
  })

  for (const [code, name] of [
    ["1 / 0", "ZeroDivisionError"],
    ["nobody", "NameError"],
    ["'a' + 1", "TypeError"],
    ["{}['k']", "KeyError"],
  ]) {
    test(`fails with ${name}, and the state survives`, async () => {
      await runtime.ran("kept = 7")
      const { error } = await runtime.failed(`first = 1\n${code}`)
      assert.equal(error.kind, "throw")
      assert.match(error.message, new RegExp(`^${name}`))
      assert.equal(error.line, 2)
      assert.equal(await runtime.value("kept + first"), 8)
    })
  }

  test("tells the place of a syntax error", async () => {
    const { error } = await runtime.failed("a = 1\nif a\n    pass")
    assert.deepEqual([error.kind, error.line], ["syntax", 2])
    assert.match(error.message, /^SyntaxError/)
    assert.equal((await runtime.failed("return 5")).error.kind, "syntax")
    assert.match((await runtime.failed("if True:\npass")).error.message, /^IndentationError/)
  })

  test("has tracebacks of its own frames only", async () => {
    await runtime.ran("import json\ndef load(text):\n    return json.loads(text)")
    const { error } = await runtime.failed("1\nload('{')")
    assert.match(error.stack ?? "", /cell-\d+\.py", line 2.*cell-\d+\.py", line 3, in load.*JSONDecodeError/s)
    assert.doesNotMatch(error.stack ?? "", /decoder\.py|IPython|site-packages|dist-packages/)
    assert.equal(error.line, 2)
  })

  test("shows the cause of an exception", async () => {
    const { error } = await runtime.failed("try:\n    1/0\nexcept Exception as e:\n    raise ValueError('bad') from e")
    assert.match(error.stack ?? "", /ZeroDivisionError.*direct cause.*ValueError: bad/s)
  })

  test("may await, also tasks in parallel", async () => {
    const code = "import asyncio\nawait asyncio.gather(*(asyncio.sleep(0.001, n) for n in range(3)))"
    assert.deepEqual(await runtime.value(code), [0, 1, 2])
  })

  test("streams both outputs, also of a subprocess", async () => {
    const chunks: string[] = []
    const code =
      "import subprocess, sys\nprint('one')\nprint('two', file=sys.stderr)\nsubprocess.run(['echo', 'three'])\nprint('four')\nNone"
    const { stdout, stderr } = await runtime.ran(code, { onOutput: ({ stream }) => chunks.push(stream) })
    assert.equal(stderr, "two\n")
    for (const word of ["one", "three", "four"]) assert.match(stdout, new RegExp(word))
    assert.deepEqual([chunks[0], chunks[1]], ["stdout", "stderr"])
  })

  test("may fork", async () => {
    const code =
      "import multiprocessing\ndef square(n):\n    print('child', flush=True)\n    return n * n\n" +
      "with multiprocessing.get_context('fork').Pool(2) as pool:\n    squares = pool.map(square, [1, 2, 3])\nsquares"
    const { value, stdout } = await runtime.ran(code)
    assert.deepEqual(value, [1, 4, 9])
    assert.match(stdout, /child/)
  })

  test("shows what display() is given as text", async () => {
    assert.equal((await runtime.ran("display({'a': 1})")).stdout, "{'a': 1}\n")
  })

  test("cannot ask for input", async () => {
    assert.match((await runtime.failed("input('name?')")).error.message, /input/)
  })

  test("may delete what the host gave, and the host give it again", async () => {
    await runtime.inject({ loan: 1 })
    await assert.rejects(runtime.inject({ loan: 2 }), /already there/)
    await runtime.ran("del loan")
    await runtime.inject({ loan: 2 })
    assert.equal(await runtime.value("loan"), 2)
  })

  test("may say exit() without ending its kernel", async () => {
    await runtime.ran("still = 1")
    assert.match((await runtime.failed("exit()")).error.message, /SystemExit/)
    assert.equal(await runtime.value("still"), 1)
  })

  test("shows no value that ends with a semicolon", async () => {
    const { preview, value } = await runtime.ran("5;")
    assert.deepEqual([preview, value], [undefined, undefined])
    assert.equal(await runtime.value("5"), 5)
    assert.equal((await runtime.ran("5;  # five")).preview, undefined)
    assert.equal((await runtime.ran("5  # five;")).preview, "5")
  })

  test("may fail with an error that cannot tell its own text", async () => {
    const failing = "class Mute(Exception):\n    def __str__(self): raise ValueError()\nraise Mute()"
    const { error } = await runtime.failed(failing)
    assert.deepEqual([error.kind, error.line], ["throw", 3])
    assert.match(error.message, /^Mute/)
  })

  test("knows magics when there are no rules", async () => {
    assert.match((await runtime.ran("!echo from a shell")).stdout, /from a shell/)
  })

  test("begins with what was printed after the cell before it had ended", async () => {
    await runtime.ran(
      "import threading, time\ndone = threading.Event()\ndef late():\n    done.wait(); print('late')\nthread = threading.Thread(target=late); thread.start()",
    )
    await runtime.ran("import asyncio\nasyncio.get_event_loop().call_soon(done.set)\nNone")
    const { stdout } = await runtime.ran("thread.join()\nprint('now')")
    assert.match(stdout, /now/)
  })

  test("twenty of them one after another leave a sum", async () => {
    await runtime.ran("total = 0")
    for (let n = 1; n <= 20; n++) await runtime.ran(`total += ${n}`)
    assert.equal(await runtime.retrieve("total"), 210)
  })

  test("cannot be rolled back", async () => {
    await assert.rejects(runtime.execute("1", { transaction: true }), UnsupportedError)
  })

  test("runs in a folder of its own, without the host's environment", async () => {
    process.env.KARST_TEST_SECRET = "hidden"
    const other = pythonRuntime()
    try {
      const { value } = cellsOf(other)
      assert.equal(
        await value("import os\nopen('note.txt', 'w').write('x')\nos.environ.get('KARST_TEST_SECRET')"),
        undefined,
      )
      const folder = String(await value("os.getcwd()"))
      assert.equal(readFileSync(`${folder}/note.txt`, "utf8"), "x")
      await other.close()
      assert.equal(existsSync(folder), false)
    } finally {
      delete process.env.KARST_TEST_SECRET
      await other.close()
    }
  })
})

describe("a plot", { skip: requires("python", "matplotlib") }, () => {
  test("is an image of the execution", async () => {
    await using runtime = pythonRuntime()
    const { ran } = cellsOf(runtime)
    const { images = [] } = await ran("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nNone")
    assert.equal(images.length, 1)
    assert.equal(images[0]?.mediaType, "image/png")
    const bytes = Buffer.from(images[0]?.data ?? "", "base64")
    assert.equal(bytes.subarray(1, 4).toString(), "PNG")
  })
})

describe("setup and py()", { skip: requires("python") }, () => {
  const setup = `
import math
class Model:
    """Multiplies."""
    def __init__(self, factor: int = 2):
        self.factor = factor
    def predict(self, values: list[float], *, bias: float = 0) -> list[float]:
        """Predicts one value for each."""
        return [value * self.factor + bias for value in values]
model = Model(3)
`
  const runtime = sharedRuntime({ Fraction: py("fractions:Fraction"), path: py("os.path") }, { setup })

  test("put Python's own objects into the namespace, and the model is told of them", async () => {
    assert.deepEqual(await runtime.value("model.predict([1, 2])"), [3, 6])
    assert.equal(await runtime.value("str(Fraction(1, 2) + Fraction(1, 3))"), "5/6")
    const text = await runtime.describe()
    assert.match(text, /^import math$/m)
    assert.match(text, /class Model:\n {4}"""Multiplies\."""/)
    assert.match(text, /def predict\(self, values: list\[float\], \*, bias: float = 0\) -> list\[float\]:/)
    assert.match(text, /Predicts one value for each/)
    assert.match(text, /^model: Model$/m)
    assert.match(text, /class Fraction/)
  })

  test("are told of before anything has run", async () => {
    await using fresh = pythonRuntime({}, { setup })
    assert.match(await fresh.describe(), /^model: Model$/m)
  })

  test("may be a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "karst-setup-"))
    after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, "tools.py")
    writeFileSync(file, "def triple(n: int) -> int:\n    return 3 * n\n")
    await using own = pythonRuntime({}, { setup: { file } })
    assert.match(await own.describe(), /def triple\(n: int\) -> int/)
    const { value, failed } = cellsOf(own)
    assert.equal(await value("triple(2)"), 6)
    await failed("import os\nos._exit(1)")
    assert.equal(await value("triple(3)"), 9)
  })

  test("give what a reference leads to when it is retrieved, under the type it was said to have", async () => {
    interface Fraction {
      limit_denominator(most: number): Promise<unknown>
      readonly numerator: Promise<number>
    }
    interface Fractions {
      (numerator: number, denominator: number): Promise<Fraction>
      from_float(value: number): Promise<Fraction>
    }
    const given = { Fraction: py<Fractions>("fractions:Fraction"), described: variable(py<number>("math:pi"), "π") }
    await using own = pythonRuntime({
      ...given,
      Decimal: classType(py<object>("decimal:Decimal")),
      unknown: py("math:e"),
    })
    const fractions: Fractions = await own.retrieve("Fraction")
    assert.equal(await (await fractions(6, 4)).numerator, 3)
    const pi: number = await own.retrieve("described")
    assert.equal(pi.toFixed(2), "3.14")
    const e: unknown = await own.retrieve("unknown")
    assert.ok(e)
  })

  test("of a class may be bound as a type, with as much of it shown as is wanted", async () => {
    const whole = classType(py("fractions:Fraction"), { description: "Exact numbers" })
    await using own = pythonRuntime({
      Fraction: whole,
      Counter: classType(py("collections:Counter"), { schema: false, doc: false }),
    })
    const text = await own.describe()
    assert.match(text, /class Fraction\(Rational\):\n {4}"""Exact numbers"""\n[\s\S]*def limit_denominator\(self/)
    assert.match(text, /class Counter\(dict\): \.\.\./)
    const names = await own.names()
    assert.deepEqual(
      names.map(({ name, kind, injected }) => `${name} ${kind} ${injected}`),
      ["Fraction type true", "Counter type true"],
    )
    assert.equal(await cellsOf(own).value("str(Fraction(1, 3) * 2)"), "2/3")
    await assert.rejects(own.update({ Fraction: 5 }), /is a type and cannot become a variable/)
  })

  test("are there again after a restart", async () => {
    await runtime.ran("model.factor = 10\nmine = 1")
    await runtime.reset()
    assert.deepEqual(await runtime.value("model.predict([1])"), [3])
    await assert.rejects(retrieveAny(runtime, "mine"), ConfigError)
  })

  test("that fail are an error that says how", async () => {
    await using broken = pythonRuntime({}, { setup: "1 / 0" })
    await assert.rejects(broken.execute("1"), /setup code failed.*ZeroDivisionError/s)
    await using missing = pythonRuntime({ thing: py("no_such_package:thing") })
    await assert.rejects(missing.execute("1"), /no_such_package/)
    assert.throws(() => py("not a path"), ConfigError)
    await using unnamed = pythonRuntime({ thing: py("os:nothing") })
    await assert.rejects(unnamed.execute("1"), /py\("os:nothing"\) cannot be had/)
    await using lost = pythonRuntime({}, { setup: { file: "/nowhere/setup.py" } })
    await assert.rejects(lost.execute("1"), /setup: "\/nowhere\/setup\.py" cannot be read/)
    assert.throws(() => pythonRuntime({}, { cwd: "/nowhere" }), /cwd: there is no folder/)
  })
})
