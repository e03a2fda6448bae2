// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { variable } from "../../../src/runtime/bindings.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { sharedRuntime } from "./shared-kernel.ts"

class Account {
  hist = [1]
  nested: { a: { b: number } } = { a: { b: 1 } }
  tags = new Set(["x"])
  rates = new Map<string, unknown>([["eur", 1]])
  samples = new Float64Array([1, 2])
  readonly locked = [1]
  owner = new Owner()
  large = Array.from({ length: 30_000 }, (_, index) => `row ${index} ${"x".repeat(30)}`)
  history() {
    return this.hist
  }
  save(items: number[]) {
    this.hist = items
  }
  get computed() {
    return [1, 2]
  }
}

class Owner {
  pets = ["cat"]
  call() {}
}

describe("a copy that a cell of Python read as a field", { skip: requires("python", "numpy") }, () => {
  let acc = new Account()
  const runtime = sharedRuntime({ acc, open: variable(new Account(), { extend: true }) })
  const fresh = async () => {
    acc = new Account()
    await runtime.update({ acc })
  }
  const changed = (path: string) =>
    `${path} is a copy, and the cell changed only the copy. Write it back: ${path} = <the changed value>`

  const changes: [code: string, path: string][] = [
    ["acc.hist.append(2)", "acc.hist"],
    ['acc.nested["a"]["b"] = 5', "acc.nested"],
    ["acc.tags.add('y')", "acc.tags"],
    ["acc.rates['usd'] = 2", "acc.rates"],
    ["acc.samples[0] = 5", "acc.samples"],
    ["acc.owner.pets.clear()", "acc.owner.pets"],
    ["mine = acc\nh = mine.hist\nh += [2]", "acc.hist"],
  ]
  for (const [code, path] of changes) {
    test(`and changed is named with the cure: ${code.replaceAll("\n", "; ")}`, async () => {
      await fresh()
      const before = structuredClone({ ...acc, owner: undefined })
      const { hints } = await runtime.ran(code)
      assert.deepEqual(hints, [changed(path)])
      assert.deepEqual(structuredClone({ ...acc, owner: undefined }), before)
    })
  }

  test("and only read is not named, nor a copy that a method gave", async () => {
    await fresh()
    const { hints } = await runtime.ran("sum(acc.hist), acc.nested['a'], sorted(acc.tags)\nacc.history().append(2)")
    assert.equal(hints, undefined)
  })

  test("is written back into the very object of the host", async () => {
    await fresh()
    const { hist, nested, tags, rates } = acc
    const inner = nested.a
    const { hints } = await runtime.ran(
      [
        "acc.hist += [2, 3]",
        "n = acc.nested\nn['a']['b'] = 5\nacc.nested = n",
        "t = acc.tags\nt.add('y')\nacc.tags = t",
        "r = acc.rates\nr['usd'] = 2\nacc.rates = r",
      ].join("\n"),
    )
    assert.equal(hints, undefined)
    assert.ok(acc.hist === hist && acc.nested === nested && acc.nested.a === inner && acc.tags === tags)
    assert.deepEqual([hist, inner, [...tags].sort()], [[1, 2, 3], { b: 5 }, ["x", "y"]])
    assert.equal(acc.rates, rates)
    assert.deepEqual([...rates], Object.entries({ eur: 1, usd: 2 }))
  })

  test("of a Map stays a Map, also inside of other data", async () => {
    await fresh()
    const inner = new Map([["eur", 1]])
    acc.rates = new Map<string, unknown>([["now", inner]])
    await runtime.ran("r = acc.rates\nr['now']['usd'] = 2\nr['list'] = [{'a': 1}]\nacc.rates = r")
    assert.deepEqual(
      acc.rates,
      new Map<string, unknown>([
        ["now", inner],
        ["list", [{ a: 1 }]],
      ]),
    )
    assert.deepEqual(
      [...inner],
      [
        ["eur", 1],
        ["usd", 2],
      ],
    )
    await runtime.ran("acc.rates = {'chf': 1}")
    assert.deepEqual(acc.rates, new Map([["chf", 1]]))
  })

  test("keeps the types for which Python has only one", async () => {
    const kept = {
      whole: 5n,
      wholes: new BigInt64Array([1n, 2n]),
      clamped: new Uint8ClampedArray([1]),
      bytes: Buffer.from("ab"),
      raw: new ArrayBuffer(2),
      options: { unset: undefined, none: null, size: 1n, list: [undefined, 1] },
    }
    Object.assign(acc, kept)
    await runtime.ran(
      [
        "acc.whole += 1\nacc.wholes = acc.wholes + 1\nacc.clamped = acc.clamped\nacc.bytes = acc.bytes + b'c'\nacc.raw = acc.raw",
        "o = acc.options\no['more'] = None\no['size'] += 1\nacc.options = o",
      ].join("\n"),
    )
    assert.deepStrictEqual(Object.fromEntries(Object.keys(kept).map((key) => [key, Reflect.get(acc, key)])), {
      whole: 6n,
      wholes: new BigInt64Array([2n, 3n]),
      clamped: new Uint8ClampedArray([1]),
      bytes: Buffer.from("abc"),
      raw: new ArrayBuffer(2),
      options: { unset: undefined, none: null, size: 2n, list: [undefined, 1], more: null },
    })
  })

  test("that contains itself is not taken for changed", async () => {
    await fresh()
    const ring: Record<string, unknown> = { size: 1 }
    ring.self = ring
    Object.assign(acc, { ring })
    const { hints = [] } = await runtime.ran("acc.ring['size']")
    assert.match(hints.join("\n"), /^acc\.ring is a copy, which was not checked for changes \(it contains itself\)/)
  })

  test("is not named when the cell gives it to a call", async () => {
    await fresh()
    const { hints } = await runtime.ran("h = acc.hist\nh.append(2)\nacc.save(h)")
    assert.equal(hints, undefined)
    assert.deepEqual(acc.hist, [1, 2])
  })

  test("and too large to compare is said not to have been checked", async () => {
    await fresh()
    const { hints = [] } = await runtime.ran("len(acc.large)")
    assert.equal(hints.length, 1)
    assert.match(hints[0] ?? "", /acc\.large is a copy.*not checked/)
  })

  test("is named also when the cell fails", async () => {
    await fresh()
    const { hints, error } = await runtime.failed("acc.hist.append(2)\n1 / 0")
    assert.match(error.message, /ZeroDivisionError/)
    assert.deepEqual(hints, [changed("acc.hist")])
  })

  test("cannot be written to a field that takes no values: the cell fails at that line", async () => {
    await fresh()
    for (const [code, problem] of [
      ["1\nacc.computed = [1]", /computed.*getter/],
      ["1\nacc.history = [1]", /history.*method/],
      ["1\nacc.brandNew = 5", /brandNew.*extend: true/],
      ["1\nacc.constructor = 5", /constructor/],
    ] as const) {
      const { error } = await runtime.failed(code)
      assert.match(error.message, problem)
      assert.equal(error.line, 2)
    }
    await runtime.ran("open.brandNew = [5]\nassert open.brandNew == [5]")
  })
})

describe("whole numbers of numpy", { skip: requires("python", "numpy", "pandas") }, () => {
  const kept: unknown[] = []
  const runtime = sharedRuntime(
    { keep: (value: unknown) => void kept.push(value), give: () => kept.at(-1) },
    {
      setup: "import numpy as np\nimport pandas as pd",
    },
  )

  test("arrive as ordinary numbers where those hold them, and go back as they were", async () => {
    for (const code of ["np.array([1, -2, 3])", "pd.Series([1, -2, 3])", "pd.Index([1, -2, 3])"]) {
      assert.equal(await runtime.value(`keep(${code})\nstr(give().dtype) + str(list(give()))`), "int64[1, -2, 3]", code)
      assert.deepEqual(kept.at(-1), [1, -2, 3])
    }
    assert.deepEqual(await runtime.value("np.arange(6).reshape(2, 3)"), [
      [0, 1, 2],
      [3, 4, 5],
    ])
    await runtime.ran("ids = np.array([1, 2])")
    assert.deepEqual(await retrieveAny(runtime, "ids"), [1, 2])
    assert.deepEqual(await runtime.value("np.array([], dtype='int64')"), [])
  })

  test("that are larger arrive as big integers", async () => {
    assert.deepEqual(await runtime.value("np.array([2**60, 1])"), new BigInt64Array([2n ** 60n, 1n]))
    assert.deepEqual(await runtime.value("np.array([2**63], dtype='uint64')"), new BigUint64Array([2n ** 63n]))
    assert.equal(await runtime.value("keep(np.array([2**60]))\nint(give()[0]) == 2**60 and str(give().dtype)"), "int64")
  })

  test("of 32 bits stay typed arrays", async () => {
    assert.deepEqual(await runtime.value("np.array([1, 2], dtype='int32')"), new Int32Array([1, 2]))
  })
})
