// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { requires } from "../../../system.ts"
import { sharedRuntime } from "../shared-kernel.ts"

describe("Arrow in Python", { skip: requires("python", "pandas", "pyarrow") }, () => {
  const runtime = sharedRuntime({}, { setup: "import datetime, pandas as pd, pyarrow as pa" })
  const columns = `{
    "n": [1, None, 3],
    "x": [0.5, 1.5, 2.5],
    "big": [2**60, 1, 2],
    "s": ["a", None, "c"],
    "yes": [True, None, False],
    "at": pa.array([datetime.datetime(2024, 1, 1), None, datetime.datetime(2024, 1, 2)], pa.timestamp("us", tz="Europe/Berlin")),
    "far": pa.array([datetime.datetime(9999, 1, 1), None, datetime.datetime(1, 1, 2)], pa.timestamp("us", tz="UTC")),
    "list": [[1], [2, 3], None],
    "struct": [{"a": 1}, None, {"a": 2}],
    "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
  }`.replaceAll(/\n\s*/g, " ")
  const records = [
    {
      ...{ n: 1, x: 0.5, big: 2n ** 60n, s: "a", yes: true, at: new Date("2024-01-01T00:00Z") },
      ...{ far: new Date("9999-01-01T00:00Z"), list: [1], struct: { a: 1 }, kind: "x" },
    },
    {
      ...{ n: null, x: 1.5, big: 1, s: null, yes: null, at: null },
      ...{ far: null, list: [2, 3], struct: null, kind: "y" },
    },
    {
      ...{ n: 3, x: 2.5, big: 2, s: "c", yes: false, at: new Date("2024-01-02T00:00Z") },
      ...{ far: new Date("0001-01-02T00:00Z"), list: null, struct: { a: 2 }, kind: "x" },
    },
  ]

  test("a table or a batch is retrieved as records", async () => {
    await runtime.ran(`found = pa.table(${columns})\nbatch = found.to_batches()[0]\nnone = found.slice(0, 0)`)
    assert.deepEqual(await runtime.retrieve("found"), records)
    assert.deepEqual(await runtime.retrieve("batch"), records)
    assert.deepEqual(await runtime.retrieve("none"), [])
  })

  test("a DataFrame whose columns are Arrow's is retrieved as any other, with its index", async () => {
    await runtime.ran(`df = pa.table(${columns}).to_pandas(types_mapper=pd.ArrowDtype)`)
    assert.deepEqual(await runtime.retrieve("df"), records)
    await runtime.ran("named = df[['n', 's']].set_index('s')\nwords = pd.Series(['a', None], dtype='string[pyarrow]')")
    assert.deepEqual(await runtime.retrieve("named"), [
      { s: "a", n: 1 },
      { s: null, n: null },
      { s: "c", n: 3 },
    ])
    assert.deepEqual(await runtime.retrieve("words"), ["a", null])
  })

  test("arrays and scalars are arrays and values", async () => {
    await runtime.ran("xs = pa.array([1.5, 2.5])\nmany = pa.chunked_array([[1], [None, 2]])\none = pa.scalar(5)")
    assert.deepEqual(await runtime.retrieve("xs"), Float64Array.of(1.5, 2.5))
    assert.deepEqual(await runtime.retrieve("many"), [1, null, 2])
    assert.equal(await runtime.retrieve("one"), 5)
  })

  test("what cannot cross is said with its place", async () => {
    await runtime.ran("import decimal\nmoney = pa.table({'m': [decimal.Decimal('1.5')]})")
    await assert.rejects(runtime.retrieve("money"), /"money"\['m'\]\[0\] cannot cross.*Decimal/)
  })
})
