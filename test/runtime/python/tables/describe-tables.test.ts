// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { variable } from "../../../../src/runtime/bindings.ts"
import { py, table } from "../../../../src/runtime/python.ts"
import { requires } from "../../../system.ts"
import { sharedRuntime } from "../shared-kernel.ts"

const people = [
  { "": 1, name: "Ann", score: 1.5, address: { street: "A 1", geo: { lat: 1 } }, note: null },
  { "": 2, name: "Bob", score: null, address: { street: "B 2", zip: "1" }, note: null },
  { "": 3, name: 7, score: 2.5, address: null, note: null, late: true },
]

describe("data in Python", { skip: requires("python", "pandas") }, () => {
  const runtime = sharedRuntime(
    {
      sales: variable(table(people), "The sales"),
      rows: variable(people, "The rows."),
      sampled: variable(table(people), { sample: 2 }),
      first: variable(people, { sample: 1 }),
      prices: variable(py("os:prices"), { sample: 1 }),
    },
    {
      setup: `
import os, numpy as np, pandas as pd
os.prices = pd.Series([1.5, None])
many = pd.DataFrame({f"c{number}": [1, 2] for number in range(70)})
wide = [{f"c{number}": number for number in range(70)}] * 3
long = pd.DataFrame({"text": ["a"] * 60_000, "n": [None] + [1.5] * 59_999})
days = pd.DataFrame({"at": pd.to_datetime(["2024-01-01", None]), "kind": pd.Categorical(["a", None]), 3: [True, False], "two\\nlines": ["x", "y"]}, index=pd.Index([1, 2], name="day"))
grid = np.zeros((3, 4))
config = {"host": "a", "port": 1, "db": {"name": "b"}}
counts = {"a": 1, "b": 2}
kinds = {1, "a", None, 2.5}
mixed = [{"id": number} for number in range(30)] + [3, {"id": None, "later": "x"}]
class Odd(pd.DataFrame):
    @property
    def dtypes(self):
        raise RuntimeError("no")
odd = Odd({"a": [1]})
`,
    },
  )

  test("shows the shape of a table, and the name, type and null count of each column, but no values", async () => {
    assert.equal(
      await runtime.describe(["sales"]),
      `sales: pandas.DataFrame  # The sales; 3 rows x 6 columns:
#   '': int64
#   'name': str, 1 int
#   'score': float64, 1 null
#   'address': {'street': str, 'geo'?: {'lat': int}, 'zip'?: str}, 1 null
#   'note': object, all null
#   'late': bool, 2 null`,
    )
  })

  test("shows a list of records by its keys", async () => {
    assert.equal(
      await runtime.describe(["rows"]),
      `rows: list[dict]  # The rows. 3 rows:
#   '': int
#   'name': str, 1 int
#   'score': float, 1 null
#   'address': {'street': str, 'geo'?: {'lat': int}, 'zip'?: str}, 1 null
#   'note': None, 3 null
#   'late': bool, 2 missing`,
    )
    assert.equal(
      await runtime.describe(["mixed"]),
      `mixed: list[dict]  # 32 rows:
#   'id': int, 1 null
#   'later': str, 30 missing
#   1 item of another type`,
    )
  })

  test("shows rows if a sample is requested", async () => {
    const [, , , , , , , ...rows] = (await runtime.describe(["sampled"])).split("\n")
    assert.deepEqual(rows, [
      "# sampled.iloc[0]: {'': 1, 'name': 'Ann', 'score': 1.5, 'address': {'street': 'A 1', 'geo': {'lat': 1}}, 'note': None, 'late': None}",
      "# sampled.iloc[1]: {'': 2, 'name': 'Bob', 'score': nan, 'address': {'street': 'B 2', 'zip': '1'}, 'note': None, 'late': None}",
    ])
    assert.match(await runtime.describe(["first"]), /\n# first\[0\]: \{'': 1, 'name': 'Ann', .*\}$/)
    assert.equal(
      await runtime.describe(["prices"]),
      "prices: pandas.Series  # 2 rows: float64, 1 null\n# prices.iloc[0]: 1.5",
    )
  })

  test("shows an index, categories, arrays and dicts with fields", async () => {
    assert.equal(
      await runtime.describe(["days", "grid", "config", "counts", "kinds"]),
      `days: pandas.DataFrame  # 2 rows x 4 columns:
#   index 'day': int64
#   'at': datetime64[ns], 1 null
#   'kind': category of 1 value, 1 null
#   3: bool
#   'two\\nlines': str
grid: numpy.ndarray  # 3 x 4 float64
config: dict  # {'host': str, 'port': int, 'db': {'name': str}}
counts: dict[str, int]
kinds: set[float | int | str | None]`,
    )
  })

  test("counts the first rows of a large table and says so, and lists 64 columns", async () => {
    assert.equal(
      await runtime.describe(["long"]),
      `long: pandas.DataFrame  # 60,000 rows x 2 columns (types and nulls of the first 50,000):
#   'text': str
#   'n': float64, 1 null`,
    )
    assert.match(await runtime.describe(["many"]), /# {3}'c63': int64\n# {3}… 6 more columns$/)
    assert.match(
      await runtime.describe(["wide"]),
      /^wide: list\[dict\] {2}# 3 rows:\n(?:.*\n)*# {3}'c63': int\n# {3}… 6 more columns$/,
    )
  })

  test("is shown by its type alone if its own code fails", async () => {
    assert.equal(await runtime.describe(["odd"]), "odd: Odd")
  })

  test("is described as it is after a cell changed it", async () => {
    await runtime.ran("sampled = sampled.head(1)[['name']]\nrows.pop()")
    assert.match(await runtime.describe(["rows"]), /^rows: list\[dict\] {2}# The rows\. 2 rows:/)
    assert.match(
      await runtime.describe(["sampled"]),
      /^sampled: pandas.DataFrame {2}# 1 row x 1 column:\n# {3}'name': str$/,
    )
  })
})
