// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AgentError, ConfigError } from "../../../src/core/errors.ts"
import { kwargs } from "../../../src/runtime/python/py-reference.ts"
import { table } from "../../../src/runtime/python/tables/table.ts"
import fc from "../../property.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { sharedRuntime } from "./shared-kernel.ts"

describe("values between TypeScript and Python", { skip: requires("python", "numpy") }, () => {
  const runtime = sharedRuntime({ echo: (value: unknown) => value, box: undefined as unknown })
  const there = async (value: unknown, expression: string) => {
    await runtime.update({ box: value })
    assert.equal(await runtime.value(expression), true, expression)
  }
  const back = async (expression: string) => {
    await runtime.ran(`result = ${expression}`)
    return retrieveAny(runtime, "result")
  }

  test("not-a-number, infinities and minus zero are themselves", async () => {
    await there(
      [NaN, Infinity, -Infinity, -0],
      "box[0] != box[0] and box[1] == float('inf') and box[2] < 0 and str(box[3]) == '-0.0'",
    )
    assert.deepEqual(await back("[float('nan'), float('inf'), float('-inf'), -0.0]"), [NaN, Infinity, -Infinity, -0])
  })

  test("undefined is None, and None is null", async () => {
    await there({ a: undefined, b: null, c: [undefined] }, "box == {'a': None, 'b': None, 'c': [None]}")
    assert.deepEqual(await back("{'a': None}"), { a: null })
  })

  test("whole numbers beyond what a number holds are bigints", async () => {
    await there(2n ** 70n, "box == 2**70")
    assert.deepEqual(await back("[2**53, -2**64, 2**53 - 1]"), [2n ** 53n, -(2n ** 64n), 2 ** 53 - 1])
  })

  test("whole numbers of any length cross", async () => {
    const long = 10n ** 5000n + 1n
    await runtime.inject({ long })
    assert.equal(await runtime.value("long == 10 ** 5000 + 1"), true)
    assert.equal(await runtime.value("-long"), -long)
  })

  test("what is too large to cross is an error, and its kernel lives", async () => {
    await runtime.ran("kept = 1\nmuch = ['x' * 1000] * 70_000\nmore = bytes(2 ** 29)")
    for (const name of ["much", "more"]) {
      await assert.rejects(
        retrieveAny(runtime, name),
        new RegExp(`"${name}" cannot cross to the host: \\d+ MB are too large`),
      )
    }
    assert.match((await runtime.failed("raise ValueError('x' * 70_000_000)")).error.message, /^ValueError: x{100}/)
    await runtime.ran("del much, more")
    assert.equal(await runtime.value("kept"), 1)
  })

  test("dates are instants", async () => {
    await there(new Date("2026-01-02T03:04:05.678Z"), "box.isoformat() == '2026-01-02T03:04:05.678000+00:00'")
    const code =
      "[datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.timezone(datetime.timedelta(hours=1))), datetime.date(2026, 1, 2)]"
    await runtime.ran("import datetime")
    assert.deepEqual(await back(code), [new Date("2026-01-02T02:00:00Z"), new Date("2026-01-02T00:00:00Z")])
  })

  test("bytes, sets, tuples, ranges and maps with any keys", async () => {
    await there(
      new Map<unknown, unknown>([
        [1, "a"],
        [null, "b"],
      ]),
      "box == {1: 'a', None: 'b'}",
    )
    await there([new Set([1, 2]), new Uint8Array([1, 2]).buffer], "box == [{1, 2}, b'\\x01\\x02']")
    assert.deepEqual(
      await back("{1: 'a', (1, 2): 'b'}"),
      new Map<unknown, unknown>([
        [1, "a"],
        [[1, 2], "b"],
      ]),
    )
    assert.deepEqual(await back("[(1, 2), range(3), {1, 2}, b'ab', bytearray(b'c')]"), [
      [1, 2],
      [0, 1, 2],
      new Set([1, 2]),
      new Uint8Array([97, 98]),
      new Uint8Array([99]),
    ])
  })

  test("masked elements of numpy are missing, and what is under the mask does not cross", async () => {
    await runtime.ran("import numpy as np")
    assert.deepEqual(await back("np.ma.array([1, 2], mask=[False, True])"), [1, null])
    assert.deepEqual(await back("np.ma.array([[1.5, 2], [3, 4]], mask=[[0, 1], [0, 0]])"), [
      [1.5, null],
      [3, 4],
    ])
    assert.deepEqual(await back("[np.ma.masked, np.ma.array([1, 2])]"), [null, [1, 2]])
  })

  test("arrays of numpy are typed arrays, row by row", async () => {
    await runtime.ran("import numpy as np")
    assert.deepEqual(await back("np.array([1.5, 2])"), new Float64Array([1.5, 2]))
    assert.deepEqual(await back("np.array([1, 2], dtype='int64')"), [1, 2])
    assert.deepEqual(await back("np.array([[1, 2], [3, 4]], dtype='uint8')"), [
      new Uint8Array([1, 2]),
      new Uint8Array([3, 4]),
    ])
    assert.deepEqual(await back("[np.float64(2.5), np.int32(7), np.bool_(True), np.str_('x'), np.array(5)]"), [
      2.5,
      7,
      true,
      "x",
      5,
    ])
    assert.deepEqual(await back("np.array(['a', 'b'])"), ["a", "b"])
    assert.deepEqual(await back("np.array(['2026-01-01', 'NaT'], dtype='datetime64[D]')"), [
      new Date("2026-01-01"),
      null,
    ])
    await there(new Float32Array([1, 2]), "box.dtype == 'float32' and float(box.sum()) == 3")
    assert.deepEqual(await back("np.array([1, 2, 3])[::-1].astype('>i2')"), new Int16Array([3, 2, 1]))
  })

  test("data that contains itself keeps its shape on the way in, and is an error with its path on the way out", async () => {
    const node: { name: string; self?: unknown } = { name: "a" }
    node.self = node
    await there(node, "box['self'] is box")
    await runtime.ran("loop = {'items': [1, []]}\nloop['items'][1].append(loop)")
    await assert.rejects(retrieveAny(runtime, "loop"), /"loop"\['items'\]\[1\]\[0\] cannot cross.*contains itself/)
  })

  test("keys that mean something to either side are only keys", async () => {
    const odd = JSON.parse('{"$": "n", "__proto__": {"polluted": true}, "constructor": 1, "k": {"$": 1}}')
    await there(odd, "box['$'] == 'n' and box['__proto__'] == {'polluted': True} and box['k'] == {'$': 1}")
    const found = (await back("{'__proto__': {'polluted': 1}, '$': {'$': 'h', 'id': 1}, 'a': float('inf')}")) as object
    assert.deepEqual(Object.keys(found), ["__proto__", "$", "a"])
    assert.equal(Object.getPrototypeOf(found), Object.prototype)
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  })

  test("what cannot cross into Python is an error that names its path", async () => {
    for (const [value, path] of [
      [{ rows: [{ id: Symbol("x") }] }, "box.rows[0].id"],
      [[Promise.resolve(1)], "box[0]"],
      [{ when: new Date(NaN) }, "box.when"],
      [{ m: new Map([[{}, 1]]) }, "box.m"],
    ] as const) {
      await assert.rejects(runtime.update({ box: value }), (error: unknown) => {
        assert.ok(error instanceof ConfigError)
        assert.ok(error.message.startsWith(`${path} cannot cross to Python`), error.message)
        return true
      })
    }
    assert.match((await runtime.failed("echo.async_ and echo(1)\necho_bad()")).error.message, /echo_bad/)
  })

  test("what has no form in TypeScript is an error inside data, and a handle by itself", async () => {
    await runtime.ran("from decimal import Decimal\nprice = Decimal('1.5')\nprices = {'a': [1, price]}")
    const handle = (await retrieveAny(runtime, "price")) as { __str__(): Promise<string> }
    assert.equal(await handle.__str__(), "1.5")
    await assert.rejects(retrieveAny(runtime, "prices"), (error: unknown) => {
      assert.ok(error instanceof AgentError)
      assert.match(error.message, /"prices"\['a'\]\[1\] cannot cross to the host: a Decimal/)
      return true
    })
  })

  test("nothing from Python can pass for a promise", async () => {
    await runtime.ran("trap = {'then': lambda *a: 1}")
    await assert.rejects(retrieveAny(runtime, "trap"), /then/)
    assert.deepEqual(await back("{'then': 1}"), { then: 1 })
  })

  test("any JSON survives the round trip", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (json) => {
        await runtime.update({ box: json })
        assert.deepEqual(await runtime.retrieve("box"), json)
      }),
      { numRuns: 60 },
    )
  })

  test("any structured value survives the round trip through a host function", async () => {
    const leaf = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.double({ noNaN: false }),
      fc.integer(),
      fc.bigInt({ min: 2n ** 60n, max: 2n ** 100n }),
      fc.date({ min: new Date("0001-01-02"), max: new Date("9999-12-30"), noInvalidDate: true }),
      fc.uint8Array(),
      fc.float64Array({ maxLength: 5 }),
      fc.boolean(),
      fc.constant(null),
    )
    const value = fc.array(fc.dictionary(fc.string(), leaf, { noNullPrototype: true }), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(value, async (given) => {
        await runtime.update({ box: given })
        assert.deepEqual(await runtime.retrieve("box"), given)
      }),
      { numRuns: 60 },
    )
  })

  test("eight million bytes of numbers cross whole", async () => {
    const numbers = Float64Array.from({ length: 1_000_000 }, (_, i) => i / 3)
    await there(numbers, "len(box) == 1_000_000 and box[999_999] == 333333.0")
    assert.deepEqual(await runtime.retrieve("box"), numbers)
  })
})

describe("tables between TypeScript and pandas", { skip: requires("python", "pandas") }, () => {
  const rows = [
    { id: 1, name: "Ada", score: 1.5, ok: true, at: new Date("2026-01-01"), tags: ["x"] },
    { id: 2, name: null, score: null, ok: false, at: null, tags: [] },
  ]
  const runtime = sharedRuntime({ df: table(rows), plain: rows, box: table([{ a: 1 }]) })

  test("a marked array of records is a DataFrame with the right types, an unmarked one a list of dicts", async () => {
    const types = await runtime.value("{name: str(dtype) for name, dtype in df.dtypes.items()}")
    assert.deepEqual(types, {
      id: "int64",
      name: "object",
      score: "float64",
      ok: "bool",
      at: "datetime64[ns, UTC]",
      tags: "object",
    })
    assert.equal(await runtime.value("type(plain).__name__ + type(plain[0]).__name__"), "listdict")
    assert.equal(await runtime.value("bool(df['at'].isna()[1]) and df['name'][1] is None"), true)
  })

  test("an object that a list, a table and a keyword argument share is the same object in each", async () => {
    const tags = ["x"]
    const shared = [{ id: 1, tags }]
    await runtime.inject({ shared, framed: table(shared) })
    assert.deepEqual(await runtime.value("framed['tags'].tolist() + [framed['tags'][0] is shared[0]['tags']]"), [
      tags,
      true,
    ])
    await runtime.ran("class Pair:\n    def same(self, a, b=None): return a is b\npair = Pair()")
    const pair = (await retrieveAny(runtime, "pair")) as { same(a: unknown, b: unknown): Promise<boolean> }
    assert.equal(await pair.same(tags, kwargs({ b: tags })), true)
  })

  test("a DataFrame comes back as an array of records", async () => {
    assert.deepEqual(await runtime.retrieve("df"), [rows[0], { ...rows[1], score: NaN }])
  })

  test("what cells made of it comes back as well, an index that says something as a column", async () => {
    await runtime.ran(
      "import pandas as pd\nby = pd.DataFrame({'g': ['a', 'a', 'b'], 'n': [1, 2, 3]}).groupby('g').sum()",
    )
    assert.deepEqual(await retrieveAny(runtime, "by"), [
      { g: "a", n: 3 },
      { g: "b", n: 3 },
    ])
    await runtime.ran("series = by['n']\nflat = pd.Series([1.5, 2.5])\nbig = pd.DataFrame({'n': [2**60]})")
    assert.deepEqual(
      await retrieveAny(runtime, "series"),
      new Map([
        ["a", 3],
        ["b", 3],
      ]),
    )
    assert.deepEqual(await retrieveAny(runtime, "flat"), new Float64Array([1.5, 2.5]))
    assert.deepEqual(await retrieveAny(runtime, "big"), [{ n: 2n ** 60n }])
    await runtime.ran(
      "odd = pd.DataFrame({'c': pd.Categorical(['u', 'v']), 'i': pd.array([1, None], dtype='Int64'), 3: [1, 2]})",
    )
    assert.deepEqual(await retrieveAny(runtime, "odd"), [
      { c: "u", i: 1, 3: 1 },
      { c: "v", i: null, 3: 2 },
    ])
  })

  test("columns by name work too, typed arrays as they are", async () => {
    await runtime.update({ box: table({ x: new Float32Array([1, 2]), y: ["a", "b"] }) })
    assert.equal(await runtime.value("str(box['x'].dtype) + ''.join(box['y'])"), "float32ab")
    assert.throws(() => table({ x: [1], y: [1, 2] }), /x has 1, y has 2/)
  })

  test("an update of a table with records is a table again", async () => {
    await runtime.update({ df: [{ n: 5 }] })
    assert.equal(await runtime.value("int(df['n'].sum())"), 5)
  })

  test("a table that has nothing, and one that has no rows", async () => {
    await runtime.ran("empty = pd.DataFrame()\nhead = pd.DataFrame({'a': []})")
    assert.deepEqual(await retrieveAny(runtime, "empty"), [])
    assert.deepEqual(await retrieveAny(runtime, "head"), [])
    await runtime.update({ box: table([]) })
    assert.equal(await runtime.value("len(box)"), 0)
  })

  test("what a table cannot be is said with its place", async () => {
    await runtime.ran(
      "twice = pd.DataFrame([[1, 2]], columns=['a', 'a'])\nfrom decimal import Decimal\nmoney = pd.DataFrame({'m': [1, Decimal('2')]})",
    )
    await assert.rejects(retrieveAny(runtime, "twice"), /two columns named 'a'/)
    await assert.rejects(retrieveAny(runtime, "money"), /"money"\['m'\]\[1\] cannot cross.*Decimal/)
  })

  test("any table survives the round trip", async () => {
    const column = fc.oneof(
      fc.record({ kind: fc.constant("n"), make: fc.constant(fc.double()) }),
      fc.record({ kind: fc.constant("s"), make: fc.constant(fc.oneof(fc.string(), fc.constant(null))) }),
      fc.record({ kind: fc.constant("b"), make: fc.constant(fc.boolean()) }),
      fc.record({ kind: fc.constant("i"), make: fc.constant(fc.integer()) }),
      fc.record({
        kind: fc.constant("d"),
        make: fc.constant(fc.date({ min: new Date("1700-01-01"), max: new Date("2200-01-01"), noInvalidDate: true })),
      }),
    )
    const tables = fc.array(column, { minLength: 1, maxLength: 4 }).chain((columns) => {
      const fields = Object.fromEntries(columns.map(({ make }, at) => [`c${at}`, make as fc.Arbitrary<unknown>]))
      return fc.array(fc.record(fields, { noNullPrototype: true }), { minLength: 1, maxLength: 6 })
    })
    await fc.assert(
      fc.asyncProperty(tables, async (records) => {
        await runtime.update({ box: table(records) })
        const found = (await runtime.retrieve("box")) as object[]
        assert.deepEqual(found, records)
      }),
      { numRuns: 60 },
    )
  })
})
