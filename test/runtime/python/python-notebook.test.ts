// test lane: runtimes, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { fn } from "../../../src/runtime/bindings.ts"
import { safePythonRules } from "../../../src/runtime/python/rules/safe-python-rules.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { requires } from "../../system.ts"
import { cellsOf, sharedRuntime } from "./shared-kernel.ts"

class Bulb {
  watts = 5
  swap() {}
}

class Lamp {
  level = 3
  bulb = new Bulb()
  /** Dims the lamp. */
  dim(to: number) {
    this.level = to
    return to
  }
}

const hostBindings = () => ({
  add: fn((a: number, b: number) => a + b, { signature: "(a: number, b: number) => number", description: "Adds." }),
  lamp: new Lamp(),
})

describe("the values of earlier cells of Python", { skip: requires("python") }, () => {
  const runtime = sharedRuntime()

  test("are `_`, `__` and `___`, `Out[n]` and `_n`, by the number of the cell in its tracebacks", async () => {
    const { error } = await runtime.failed("1 / 0")
    const number = Number(/cell-(\d+)\.py/.exec(error.stack ?? "")?.[1])
    await runtime.ran("'a'")
    await runtime.ran("'b'")
    await runtime.ran("'c'")
    assert.deepEqual(await runtime.value("[_, __, ___]"), ["c", "b", "a"])
    assert.deepEqual(await runtime.value(`[Out[${number + 1}], _${number + 2}, Out.get(${number})]`), ["a", "b", null])
  })

  test("are kept for the last 8 cells that had one; the error for another says which", async () => {
    for (let n = 0; n < 9; n++) await runtime.ran(`${n}`)
    await runtime.ran("made = 1\nNone")
    await runtime.ran("5;")
    assert.deepEqual(await runtime.value("list(Out.values())"), [1, 2, 3, 4, 5, 6, 7, 8])
    const { error } = await runtime.failed("Out[1]")
    assert.match(
      error.message,
      /^KeyError: Out has no 1\. It has the values of cells \d+(, \d+){7}: only the last 8 values stay\./,
    )
    assert.match((await runtime.failed("_1")).error.message, /^NameError/)
  })

  test("are not changes of the namespace, and `Out` does not contain itself", async () => {
    assert.deepEqual((await runtime.ran("[1]")).changes, { created: [], reassigned: [], removed: [] })
    const last = await runtime.value("len(Out), _")
    await runtime.ran("Out")
    assert.deepEqual(await runtime.value("_"), last)
    assert.doesNotMatch((await runtime.ran("%who")).stdout, /Out|exit|quit/)
  })

  test("leave a name to a cell that assigns it", async () => {
    await runtime.ran("__ = 'mine'")
    await runtime.ran("1")
    await runtime.ran("2")
    await runtime.ran("3")
    assert.deepEqual(await runtime.value("[_, __, ___]"), [3, "mine", 1])
    await runtime.ran("del __")
    assert.deepEqual((await runtime.ran("Out = 'mine'")).changes.created, ["Out"])
    assert.deepEqual((await runtime.ran("del Out\n7")).changes.removed, ["Out"])
    assert.equal(await runtime.value("Out[max(Out)]"), 7)
  })

  test("are in no snapshot and in no copy: both begin empty there", async () => {
    await runtime.ran("'before'")
    const copy = await runtime.fork?.()
    assert.ok(copy)
    const { value, failed } = cellsOf(copy)
    assert.match((await failed("Out[1]")).error.message, /^KeyError: Out is empty: no cell has had a value/)
    assert.equal(await value("_ is None"), true)
    await copy.close()
  })
})

describe("help in a cell of Python", { skip: requires("python") }, () => {
  const runtime = sharedRuntime(hostBindings())
  const printed = async (code: string) => (await runtime.ran(code)).stdout

  test("`name?` shows the signature and the documentation of Python's objects", async () => {
    await runtime.ran('def area(r: float) -> float:\n    """Area of a circle.\n\n    In m²."""\n    return 3 * r * r')
    assert.equal(
      await printed("area?"),
      'def area(r: float) -> float:\n    """Area of a circle.\n    \n    In m²."""\n',
    )
    assert.equal(await printed("?len"), 'def len(obj, /):\n    """Return the number of items in a container."""\n')
    assert.match(await printed("import json\njson.dumps?"), /^def dumps\(obj, \*,.*Serialize/s)
    assert.equal(await printed("n = [1, 2]\nn?"), "n: list[int]\n[1, 2]\n")
  })

  test("`name?` shows an object with its class", async () => {
    await runtime.ran('class Light:\n    """A light."""\n    level = 1\n    def dim(self, to: int): self.level = to')
    assert.match(
      await printed("light = Light()\nlight?"),
      /^light: Light\n.*\nclass Light:\n {4}"""A light\."""\n {4}def dim\(self, to: int\)/,
    )
  })

  test("`name??` shows the source", async () => {
    assert.match(await printed("area??"), /^def area.*return 3 \* r \* r\n$/s)
    assert.match(await printed("len??"), /^def len\(obj, \/\)/)
  })

  test("host functions, objects and methods are shown as they are declared to the model", async () => {
    const declared = 'def add(a: float, b: float) -> float:\n    """Adds."""\n'
    for (const code of ["add?", "add??", "help(add)", "alias = add\nalias?"])
      assert.equal(await printed(code), declared, code)
    assert.equal(await printed("lamp?"), `${await runtime.describe(["lamp"])}\n`)
    assert.match(await printed("lamp.dim?"), /^def dim\(self, to.*:\n {4}"""Dims the lamp\."""\n$/)
    assert.match(await printed("help(lamp.dim)"), /^def dim\(self, to.*:\n {4}"""Dims the lamp\."""\n$/)
  })

  test("a host object is shown by its binding also under another name, and by its members if it has no binding", async () => {
    assert.match(await printed("kept = add\nadd = 5\nkept?"), /^def add\(a: float/)
    assert.equal(await printed("add?"), "add: int\n5\n")
    await runtime.ran("add = kept\ndel kept")
    assert.match(await printed("lamp.bulb?"), /^class Bulb:\n {4}watts\n {4}def swap\(self, \*args\): \.\.\.\n$/)
  })

  test("a name that does not exist, a magic and a pattern", async () => {
    assert.match((await runtime.failed("nothing?")).error.message, /^NameError: name 'nothing' is not defined/)
    assert.match(await printed("%timeit?"), /Time execution of a Python statement/)
    assert.match(await printed("*lam*?"), /lamp/)
  })

  test("help() of Python's objects is Python's own", async () => {
    assert.match(await printed("help(area)"), /Help on function area.*Area of a circle/s)
  })

  test("is refused with the cure where the runtime has rules", async () => {
    await using ruled = pythonRuntime({}, { rules: safePythonRules() })
    const { failed, ran } = cellsOf(ruled)
    assert.match((await failed("a = 1\nlen?")).error.message, /line 2.*write print\(name\.__doc__\) in place of name\?/)
    assert.doesNotMatch((await failed("!ls")).error.message, /__doc__/)
    assert.match((await ran("print(len.__doc__)")).stdout, /Return the number of items/)
  })
})

describe("await and asyncio in a cell of Python", { skip: requires("python") }, () => {
  const runtime = sharedRuntime(hostBindings())
  test("a host function, a method and a member may be awaited", async () => {
    assert.deepEqual(await runtime.value("[await add(1, 2), await lamp.dim(4), await lamp.level]"), [3, 4, 4])
  })

  test("asyncio.to_thread makes several calls at once", async () => {
    await runtime.ran("import asyncio")
    const code = "await asyncio.gather(*(asyncio.to_thread(add, 1, n) for n in range(3)))"
    assert.deepEqual(await runtime.value(code), [1, 2, 3])
  })

  test("the error of asyncio.gather over results names asyncio.to_thread", async () => {
    const { error } = await runtime.failed("results = [add(1, 1), add(1, 2)]\nawait asyncio.gather(*results)")
    assert.match(error.message, /A host function returns its result.*asyncio\.to_thread\(f, x\)/)
    assert.match(error.stack ?? "", /asyncio\.to_thread/)
  })

  test("the error of awaiting a result says to leave out the await", async () => {
    const { error } = await runtime.failed("sum = add(1, 2)\nawait sum")
    assert.match(error.message, /object int can't be used in 'await' expression\n.*leave out this `await`/)
  })

  test("asyncio.run(main()) at the top level works, also under `if __name__`", async () => {
    await runtime.ran("async def main(n):\n    await asyncio.sleep(0)\n    return await add(n, 1)")
    assert.equal(await runtime.value("asyncio.run(main(1))"), 2)
    await runtime.ran('if __name__ == "__main__":\n    result = asyncio.run(main(2))')
    assert.equal(await runtime.value("result"), 3)
    assert.equal(await runtime.value("asyncio.get_event_loop().run_until_complete(main(3))"), 4)
  })

  test("asyncio.run in a function is an error with the cure; in a thread it is Python's own", async () => {
    const { error } = await runtime.failed("def start():\n    return asyncio.run(main(1))\nstart()")
    assert.match(error.message, /running event loop\n.*write `await main\(\)`/)
    assert.match((await runtime.ran("%%time\nasyncio.run(main(1))")).stderr, /write `await main\(\)`/)
    assert.equal(await runtime.value("await asyncio.to_thread(lambda: asyncio.run(main(5)))"), 6)
  })

  test("a private member can be awaited inside its class", async () => {
    const code =
      "class Box:\n    def __init__(self): self.__task = main(1)\n    async def get(self): return await self.__task\nawait Box().get()"
    assert.equal(await runtime.value(code), 2)
  })
})

describe("habits of notebooks and scripts in a cell of Python", { skip: requires("python") }, () => {
  const runtime = sharedRuntime(hostBindings())

  test("an error that a magic shows is printed, and the cell goes on as in a notebook", async () => {
    const { stderr, value } = await runtime.ran("%time 1/0\n5")
    assert.match(stderr, /ZeroDivisionError: division by zero/)
    assert.equal(value, 5)
    assert.match((await runtime.ran("%%capture\nraise ValueError('inner')")).stderr, /ValueError: inner/)
    assert.equal((await runtime.failed("raise ValueError('own')")).stderr, "")
  })

  test("an error of __repr__ is printed", async () => {
    const { stderr } = await runtime.ran("class Mute:\n    def __repr__(self): raise ValueError('no text')\nMute()")
    assert.match(stderr, /in __repr__.*ValueError: no text/s)
  })

  test("a shell command is stopped with its cell, and the session goes on", async () => {
    await runtime.ran("before = 1")
    assert.equal((await runtime.failed("!sleep 60", { timeoutMs: 500 })).error.kind, "timeout")
    assert.equal(await runtime.value("before"), 1)
  })

  test("exit(), quit() and sys.exit() end the cell and say that the session goes on", async () => {
    for (const code of ["exit()", "quit()", "exit(1)", "import sys\nsys.exit()"]) {
      const { error } = await runtime.failed(`${code}\nreached = 1`)
      assert.match(error.message, /^SystemExit.*\nThis ended the cell; the session goes on\.$/, code)
    }
    assert.equal(await runtime.value("'reached' in globals()"), false)
  })

  test("input(), getpass() and breakpoint() say that there is no one to ask", async () => {
    assert.match((await runtime.failed("input('name?')")).error.message, /^EOFError: input\(\) has no one to ask/)
    assert.match(
      (await runtime.failed("import getpass\ngetpass.getpass()")).error.message,
      /getpass\(\) has no one to ask/,
    )
    assert.match((await runtime.failed("breakpoint()")).error.message, /no debugger here/)
  })

  test("%reset is refused, because it would remove the host's objects", async () => {
    assert.match((await runtime.failed("%reset -f")).error.message, /would remove the host's objects too/)
    assert.equal(await runtime.value("add(1, 2)"), 3)
  })

  test("magics and shell commands work and leave no names of their own", async () => {
    assert.match((await runtime.ran("%timeit -n 1 -r 1 add(1, 2)")).stdout, /per loop/)
    const { stdout, changes } = await runtime.ran("!echo hello")
    assert.equal(stdout, "hello\n")
    assert.match((await runtime.ran("!cat; echo ended")).stdout, /^ended$/m)
    assert.deepEqual(changes.created, [])
    assert.deepEqual(await runtime.value("files = !echo a.csv\nlist(files)"), ["a.csv"])
    assert.match((await runtime.failed("%nothing")).error.message, /`%nothing` not found/)
  })

  test("a name, member or item on a line of its own is shown, not only at the end", async () => {
    await runtime.ran("rows = [1, 2]\nnothing = None")
    const { stdout, preview } = await runtime.ran("rows\nprint('between')\nlamp.level\nrows[1]\nnothing\nadd(1, 2)\n5")
    assert.deepEqual([stdout, preview], ["[1, 2]\nbetween\n3\n2\n", "5"])
    assert.equal((await runtime.ran("rows;")).preview, undefined)
    assert.match((await runtime.failed("rows\nmissing\n5")).error.message, /^NameError: name 'missing'/)
  })

  test("HTML and Markdown are shown as their source", async () => {
    assert.equal(
      (await runtime.ran("from IPython.display import HTML, Markdown\nHTML('<b>1</b>')")).preview,
      "<b>1</b>",
    )
    assert.equal((await runtime.ran("display(Markdown('# Title'))")).stdout, "# Title\n")
  })

  test('`if __name__ == "__main__"` runs its body', async () => {
    assert.equal((await runtime.ran('if __name__ == "__main__":\n    print("main")')).stdout, "main\n")
  })

  test("plt.show(), and a plot without it, are images", async () => {
    const code = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])"
    assert.equal((await runtime.ran(`${code}\nplt.show()`)).images?.length, 1)
    const { images, preview } = await runtime.ran("plt.plot([1, 2]);")
    assert.deepEqual([images?.length, preview], [1, undefined])
    const script = "import matplotlib\nmatplotlib.use('Agg')\nplt.plot([1, 2])\nplt.show()"
    assert.equal((await runtime.ran(script)).images?.length, 1)
    assert.equal((await runtime.ran("1 + 1")).images, undefined)
  })
})

describe("a sandboxed cell of Python", { skip: requires("python", "bwrap") }, () => {
  const runtime = sharedRuntime(hostBindings(), { isolation: "os" })

  test("has the same manners of a notebook", async () => {
    await runtime.ran("'first'")
    assert.deepEqual(await runtime.value("[_, Out[1]]"), ["first", "first"])
    assert.match((await runtime.ran("add?")).stdout, /^def add\(a: float/)
    assert.equal(await runtime.value("import asyncio\nasyncio.run(asyncio.sleep(0, 4))"), 4)
    assert.equal((await runtime.ran("!echo hello")).stdout, "hello\n")
    assert.match((await runtime.failed("input()")).error.message, /no one to ask/)
  })
})
