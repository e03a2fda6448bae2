// test lane: runtimes, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { pythonRuntime } from "../../../../src/runtime/python.ts"
import { requires } from "../../../system.ts"

const setup = `
import datetime, decimal, fractions, json, pickle, uuid, zoneinfo
import numpy as np, pandas as pd
from karst_kernel import snapshots, table_codec
dates = ["2024-01-01 00:00:00.123456789", None, "2024-03-31 02:30"]
def again(value):
    return table_codec.load(table_codec.dump(value))`

/** Expressions whose values stay the same when they are encoded and decoded. */
const kept = {
  "numbers of every size": `pd.DataFrame({kind: np.array([1, 2, 3], dtype=kind) for kind in "int8 uint16 int64 float32 float64 bool complex128".split()})`,
  "times to the nanosecond": `pd.DataFrame({"at": pd.to_datetime(dates), "took": pd.to_timedelta([1, None, 3])})`,
  "times of a zone": `pd.DataFrame({str(zone): pd.to_datetime(dates).tz_localize("UTC").tz_convert(zone) for zone in ["Europe/Berlin", "UTC", zoneinfo.ZoneInfo("Asia/Tokyo"), datetime.timezone(datetime.timedelta(hours=2))]})`,
  categories: `pd.DataFrame({"kind": pd.Categorical(["a", None, "a"], categories=["b", "a"], ordered=True)})`,
  "numbers and texts that may be missing": `pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "f": pd.array([1.5, None], dtype="Float32"), "b": pd.array([True, None], dtype="boolean"), "s": pd.array(["x", None], dtype="string")})`,
  "periods, intervals and sparse columns": `pd.DataFrame({"p": pd.period_range("2024-01", periods=3, freq="M"), "i": pd.interval_range(0, 3), "s": pd.arrays.SparseArray([0, 0, 1])})`,
  "texts and mixed values": `pd.DataFrame({"t": ["a", None, "ü"], "m": [1, "a", None], "l": [[1, (2, {3})], {"a": b"x"}, 2**80], "d": [decimal.Decimal("1.5"), fractions.Fraction(1, 3), uuid.UUID(int=7)], "w": [datetime.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")), datetime.date(2024, 1, 1), datetime.timedelta(1, 2, 3)], "p": [pd.Timestamp("2024-01-01", tz="Europe/Berlin"), pd.NaT, pd.Timedelta(5)]})`,
  "an index of several levels": `pd.DataFrame({"a": [1, 2]}, index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", None]))`,
  "an index of times with its frequency": `pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2024", periods=2, freq="D", name="day"))`,
  "columns of one name, and of several levels": `pd.concat([pd.DataFrame([[1, 2]], columns=["a", "a"]), pd.DataFrame([[3]], columns=["b"])], axis=1)`,
  "a table without columns": "pd.DataFrame(index=range(3))",
}

const refused: [what: string, bytes: string, message: RegExp][] = [
  ["a pickle", "pickle.dumps(Evil())", /is not a table/],
  ["an array of objects", `table_codec.dump(pd.DataFrame({"a": [1]})).replace(b"<i8", b"|O8")`, /data of type '\|O8'/],
  [
    "a zone that is a path",
    `table_codec.dump(pd.DataFrame({"a": pd.to_datetime(dates).tz_localize("Asia/Tokyo")})).replace(b"Asia/Tokyo", b"../../etc/")`,
    /zone '\.\.\/\.\.\/etc\/', which is not known/,
  ],
  [
    "a kind that is not known",
    `table_codec.dump(pd.DataFrame({"a": [1]})).replace(b'"raw"', b'"run"')`,
    /kind 'run', which is not known/,
  ],
  ["a file that was cut", `table_codec.dump(pd.DataFrame({"a": range(9)}))[:-3]`, /is not a table/],
  ["nothing", "b''", /is not a table/],
]

describe("tables as columns", { skip: requires("python", "pandas") }, () => {
  test("are the same on the other side", async (context) => {
    await using runtime = pythonRuntime({})
    await runtime.execute(setup)
    for (const [what, table] of Object.entries(kept)) {
      await context.test(what, async () => {
        const code = `before = ${table}\npd.testing.assert_frame_equal(again(before), before, check_exact=True)\n'same'`
        const result = await runtime.execute(code)
        assert.equal(result.ok ? result.value : result.error.message, "same")
      })
    }
  })

  test("refuse what another kernel wrote and is no table", async (context) => {
    await using runtime = pythonRuntime({})
    await runtime.execute(`${setup}\nclass Evil:\n    def __reduce__(self): return (exec, ("ran = True",))`)
    for (const [what, bytes, message] of refused) {
      await context.test(what, async () => {
        const result = await runtime.execute(`table_codec.load(${bytes})`)
        assert.match(result.ok ? "loaded" : result.error.message, message)
        const ran = await runtime.execute("'ran' in globals()")
        assert.equal(ran.ok && ran.value, false)
      })
    }
  })

  test("refuse values that are not data, and name the column", async () => {
    await using runtime = pythonRuntime({})
    await runtime.execute(`${setup}\nclass Evil: pass`)
    const result = await runtime.execute(`table_codec.dump(pd.DataFrame({"x": [Evil()]}))`)
    assert.match(result.ok ? "" : result.error.message, /\['x'\]: it holds an instance of Evil, which is not data/)
  })
})

describe("a snapshot of Python", { skip: requires("python", "pandas") }, () => {
  test("runs nothing when it is read, whatever a kernel has put into it", async () => {
    await using runtime = pythonRuntime({})
    await runtime.execute(`${setup}
class Evil:
    def __reduce__(self): return (exec, ("import builtins; builtins.ran = True",))
def packed(part):
    return (0).to_bytes(4, "little") + part
snapshots.snapshot = lambda *_: {"data": packed(pickle.dumps({"imports": {}, "values": {"x": Evil()}})), "lost": []}`)
    const forged = await runtime.snapshot?.()
    assert.ok(forged)
    await using other = pythonRuntime({})
    await assert.rejects(async () => other.restore?.(forged), /builtins\.exec, which is not data/)
    const ran = await other.execute("import builtins; hasattr(builtins, 'ran')")
    assert.equal(ran.ok ? ran.value : "failed", false)
  })

  test("keeps data with what it shares and names what it does not keep", async () => {
    await using runtime = pythonRuntime({})
    await runtime.execute(`${setup}
from collections import Counter, defaultdict, deque
rows = [1, 2]
both = {"rows": rows, "table": (t := pd.DataFrame({"a": [1]}))}
counts, groups, queue = Counter("aab"), defaultdict(list, a=[1]), deque([1])
zone, number, array, objects = zoneinfo.ZoneInfo("Asia/Tokyo"), np.float32(1.5), np.arange(3), np.array([rows, None], dtype=object)
kind, period, index = pd.Categorical(["a"]), pd.Period("2024-01"), pd.Index([1.5])
handler = lambda: 1
class Own: pass
own, method = Own(), len`)
    const snapshot = await runtime.snapshot?.()
    assert.ok(snapshot)
    const lost = new Map(snapshot.lost.map(({ name, reason }) => [name, reason]))
    assert.match(lost.get("handler") ?? "", /function/)
    assert.match(lost.get("own") ?? "", /Own/)
    assert.match(lost.get("method") ?? "", /len/)
    await using other = pythonRuntime({})
    await other.restore?.(snapshot)
    const result = await other.execute(`import numpy as np, pandas as pd
[both["rows"] is rows, objects[0] is rows, both["table"] is t, counts["a"], groups["b"], queue[0], zone.key,
 number == np.float32(1.5), array.tolist(), list(kind), str(period), list(index)]`)
    const expected = [true, true, true, 2, [], 1, "Asia/Tokyo", true, [0, 1, 2], ["a"], "2024-01", [1.5]]
    assert.deepEqual(result.ok ? result.value : result.error.message, expected)
  })
})
