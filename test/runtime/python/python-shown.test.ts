// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { EventOf } from "../../../src/core/event.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { shownCases } from "../../fixtures/shown-values.ts"
import { requires } from "../../system.ts"
import { sharedRuntime } from "./shared-kernel.ts"

describe("a Python value within a budget", { skip: requires("python") }, () => {
  const runtime = sharedRuntime()
  const shown = async (code: string, maxPreviewChars: number) => (await runtime.ran(code, { maxPreviewChars })).preview

  for (const { title, value, budget, python } of shownCases) {
    test(title, async () => {
      const json = JSON.stringify(JSON.stringify(value))
      assert.equal(await shown(`import json\njson.loads(${json})`, budget), python)
    })
  }

  const named: [code: string, budget: number, text: string][] = [
    ["(1,)", 100, "(1,)"],
    ["()", 100, "()"],
    ["set()", 100, "set()"],
    ["frozenset([1])", 100, "frozenset({1})"],
    ["tuple(range(500))", 40, "(0, 1, 2, 3, 4, … 500 items)"],
    ["import collections\ncollections.deque(range(500))", 60, "deque([0, 1, 2, 3, 4, 5, 6, 7, 8, … 500 items])"],
    ["collections.defaultdict(list, {1: [2]})", 100, "defaultdict(<class 'list'>, {1: [2]})"],
    ["collections.namedtuple('P', 'x y')(1, 2)", 100, "P(x=1, y=2)"],
    ["import types\ntypes.SimpleNamespace(a=1)", 100, "namespace(a=1)"],
    [
      "import dataclasses\n@dataclasses.dataclass\nclass D:\n  a: int\n  b: list\nD(1, list(range(900)))",
      60,
      "D(a=1, b=[0, 1, 2, 3, 4, 5, 6, … 900 items])",
    ],
    [
      "class Light:\n  def __init__(self):\n    self.level = 3\n    self.name = 'desk'\nLight()",
      100,
      "<Light level=3, name='desk'>",
    ],
    ["Light()", 16, "<Light …2 keys>"],
    ["b'x' * 1000", 200, `b'${"x".repeat(100)}' … (1,000 bytes)`],
    ["10 ** 6000", 100, "<int of 19,932 bits>"],
    ["cycle = [1]\ncycle.append(cycle)\ncycle", 100, "[1, [...]]"],
    ["range(5)", 100, "range(0, 5)"],
  ]
  for (const [code, budget, text] of named) {
    test(`is ${text}`, async () => assert.equal(await shown(code, budget), text))
  }

  test("uses `__repr__`, and says so if that fails", async () => {
    await runtime.ran(
      "class Bad:\n  def __repr__(self):\n    raise ValueError('no')\nclass Good:\n  def __repr__(self):\n    return '<mine>'",
    )
    assert.equal(
      await shown("{'bad': Bad(), 'good': Good()}", 100),
      "{'bad': <Bad that cannot be shown: no>, 'good': <mine>}",
    )
  })

  test("uses the `__repr__` of a named tuple that has its own", async () => {
    const code =
      "class Login(collections.namedtuple('Login', 'user key')):\n  def __repr__(self):\n    return '<login>'"
    await runtime.ran(`import collections\n${code}`)
    assert.equal(await shown("[Login('ann', 'secret')]", 100), "[<login>]")
  })

  test("runs no properties and no iterators of a subclass", async () => {
    const code = `
def refuse(*given):
    raise RuntimeError("code of the value ran")
class Watched:
    def __init__(self):
        self.own = 1
    secret = property(refuse)
class Items(list):
    __iter__ = __len__ = __getitem__ = refuse
class Pairs(dict):
    __iter__ = items = keys = __getitem__ = refuse
[Watched(), Items([1]), Pairs(a=1)]`
    assert.equal(await shown(code, 100), "[<Watched own=1>, Items([1]), Pairs({'a': 1})]")
  })

  test("uses what a class or a library registered for IPython", async () => {
    const code = "class Pretty:\n  def _repr_pretty_(self, printer, cycle):\n    printer.text('<pretty>')\nPretty()"
    assert.equal(await shown(code, 100), "<pretty>")
    await runtime.ran(
      "get_ipython().display_formatter.formatters['text/plain'].for_type(set, lambda v, p, c: p.text('<set>'))",
    )
    assert.equal(await shown("{1, 2}", 100), "<set>")
  })

  test("stays within the budget, shows every key for 60 characters a key, and reads no more than it shows", async () => {
    const code = `
import random, sys
show = sys.modules["karst_kernel.show"].show
read = sys.modules["karst_kernel.show"].read
def make(r, depth):
    kind = r.randrange(7 if depth else 4)
    if kind == 0: return r.randrange(10 ** r.randrange(1, 12))
    if kind == 1: return "\\n'x" * r.randrange(200)
    if kind == 2: return r.random()
    if kind == 3: return r.choice([None, True, b"bytes" * 100])
    size = r.choice([0, 1, 3, 9, 40])
    if kind == 4: return [make(r, depth - 1) for _ in range(size)]
    if kind == 5: return tuple(make(r, depth - 1) for _ in range(size))
    return {"k" * r.randrange(1, 30) + str(at): make(r, depth - 1) for at in range(size)}
problems = []
for seed in range(400):
    r = random.Random(seed)
    value, budget = make(r, 3), r.randrange(2000)
    text, cut = show(value, budget)
    if len(text) > budget + 10: problems.append((seed, budget, len(text)))
    if isinstance(value, dict):
        text, cut = show(value, 60 * len(value))
        problems += [(seed, key) for key in value if repr(key) not in text]
class Counted(list):
    reads = 0
    def __iter__(self):
        return list.__iter__(self)
huge = list(range(10_000_000))
assert len(read({"huge": huge, "dict": dict.fromkeys(huge[:100_000])}, 250).members) == 2
problems`
    assert.deepEqual(await runtime.value(code), [])
  })

  test("of numpy and pandas", { skip: requires("pandas") }, async () => {
    await runtime.ran("import numpy as np, pandas as pd")
    assert.equal(await shown("np.arange(2000) / 4", 60), "array([0.0, 0.25, 0.5, 0.75, 1.0, … 2,000 items])")
    assert.equal(await shown("np.zeros(2, dtype='float32')", 60), "array([0.0, 0.0], dtype=float32)")
    assert.equal(
      await shown("{'frame': pd.DataFrame({'a': range(1000), 'b': 1}), 'series': pd.Series([1.5])}", 200),
      "{'frame': DataFrame (1,000 rows × 2 columns), 'series': Series (1 item, float64)}",
    )
    const frame = await runtime.ran("pd.DataFrame({'a': range(1000)})")
    assert.equal(frame.truncated, true)
  })

  test("is known to be cut if pandas leaves out rows of narrow columns", { skip: requires("pandas") }, async () => {
    await runtime.ran("import pandas as pd")
    for (const code of ["pd.DataFrame({'a': range(100)})", "pd.Series(range(100))", "pd.Series(['..'] * 100)"]) {
      assert.equal((await runtime.ran(code)).truncated, true, code)
      const { error } = await runtime.failed(`finish(${code})`, { allowFinish: true })
      assert.match(error.message, /too large to be shown whole.*to_string\(\)/)
    }
    const whole = await runtime.ran("finish(pd.DataFrame({'a': range(3)}))", { allowFinish: true })
    assert.equal(whole.finishText, "   a\n0  0\n1  1\n2  2")
  })
})

describe("output of Python cells that is too long", { skip: requires("python") }, () => {
  const cell = (code: string) => `\`\`\`python\n${code}\n\`\`\`\n`

  test("is kept: a value as itself, the last eight, by names that were never used", async () => {
    const runtime = sharedRuntime()
    const codes = [
      "rows = [{'id': at} for at in range(900)]\n[rows][0]",
      "_output_1 is rows and _ is rows",
      ...Array(8).fill("list(range(900))"),
      "print('word ' * 300)",
      "'_output_1' in globals(), '_output_2' in globals(), '_output_3' in globals(), type(_output_10).__name__",
    ]
    const agent = createAgent({
      model: scriptedModel([...codes.map(cell), "ok"]),
      runtime,
      maxOutputChars: 300,
      limits: { cycles: 20 },
    })
    const { trajectory } = await agent.run("go")
    const ends = trajectory.events.filter((event): event is EventOf<"code-end"> => event.type === "code-end")
    assert.match(
      ends[0]?.text ?? "",
      /… 900 items\n\]\n… shortened; whole value in _output_1\n\(new: .*\)\n<\/output>$/,
    )
    assert.match(ends[1]?.text ?? "", /True/)
    assert.deepEqual([ends[9]?.keptValue, ends[9]?.dropped], ["_output_9", ["_output_1"]])
    assert.deepEqual([ends[10]?.kept, ends[10]?.dropped], ["_output_10", ["_output_2"]])
    assert.match(ends[11]?.text ?? "", /\(False, False, True, 'str'\)/)
  })

  test("is in a snapshot", async () => {
    const runtime = sharedRuntime()
    const options = { maxPreviewChars: 60, keepCutValue: { prefix: "_output", reservedNames: ["_output_1"] } }
    const { kept } = await runtime.ran("list(range(900))", options)
    assert.equal(kept, "_output_2")
    const other = sharedRuntime()
    await other.restore(await runtime.snapshot())
    assert.equal(await other.value("_output_2[899]"), 899)
  })

  test("`_` is the last value, until a cell assigns it", async () => {
    const runtime = sharedRuntime()
    assert.equal(await runtime.value("_ is None"), true)
    await runtime.ran("[1, 2, 3]")
    await runtime.ran("other = 5")
    await runtime.ran("None")
    assert.equal(await runtime.value("len(_)"), 3)
    assert.equal(await runtime.value("_ + 1"), 4)
    await runtime.ran("_, second = 'mine', 2")
    await runtime.ran("second + 1")
    assert.equal(await runtime.value("_"), "mine")
    await assert.rejects(runtime.inject({ _: 1 }), /"_" is a name that the shell keeps for itself/)
  })
})
