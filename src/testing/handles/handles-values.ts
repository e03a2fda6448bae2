// Cases of the handle suite: data that is sent to cells and back is equal on both sides.
import assert from "node:assert/strict"
import type { Language } from "../runtime/runtime-case.ts"
import { type CaseOutcome, defineCase, type HandleCase, memberOf } from "./handles-case.ts"

const oneInteger = { python: "Python has one type of integers" }
const noForm = (what: string) => ({ python: `Python has no ${what}` })

export const valueCases = {
  1: exact("undefined and null arrive, alone and inside objects and arrays", {
    value: () => ({ missing: undefined, empty: null, list: [undefined, null] }),
    typescript:
      "'missing' in $value && $value.missing === undefined && $value.empty === null && $value.list[0] === undefined",
    python: "$value == {'missing': None, 'empty': None, 'list': [None, None]}",
    back: (language, value) => (language === "python" ? { missing: null, empty: null, list: [null, null] } : value),
  }),
  2: exact("minus zero, not-a-number and the infinities arrive as themselves", {
    value: () => [-0, Number.NaN, Infinity, -Infinity, 0],
    typescript:
      "Object.is($value[0], -0) && Number.isNaN($value[1]) && $value[2] === Infinity && $value[3] === -Infinity && Object.is($value[4], 0)",
    python:
      "str($value[0]) == '-0.0' and $value[1] != $value[1] and $value[2] == float('inf') and $value[3] == float('-inf')",
  }),
  3: exact("whole numbers beyond 2^53 arrive as big integers with every digit", {
    value: () => [2n ** 80n + 1n, -(2n ** 64n), 2n ** 53n],
    typescript: "$value[0] === 2n ** 80n + 1n && $value[1] === -(2n ** 64n) && $value[2] === 2n ** 53n",
    python: "$value == [2**80 + 1, -2**64, 2**53]",
  }),
  4: exact("a small big integer stays a big integer", {
    value: () => ({ n: 5n }),
    typescript: "$value.n === 5n",
    notApplicable: oneInteger,
  }),
  5: exact("numbers at the edge of exact integers keep value and type", {
    value: () => [2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 60, 1e300, 5e-324],
    typescript:
      "$value[0] === 9007199254740991 && $value[2] === 2 ** 60 && $value[3] === 1e300 && $value[4] === 5e-324",
    python: "$value[0] == 2**53 - 1 and isinstance($value[0], int) and $value[2] == 2.0**60 and $value[4] == 5e-324",
  }),
  6: exact("text of any characters arrives unchanged, a lone surrogate included", {
    value: () => ["héllo 日本 🙂", "\u0000\n\u2028", "\ud800x", ""],
    typescript: "$value[0] === 'héllo 日本 🙂' && $value[1] === '\\u0000\\n\\u2028' && $value[2] === '\\ud800x'",
    python: "$value[0] == 'héllo 日本 🙂' and $value[1] == '\\x00\\n\\u2028' and len($value[2]) == 2",
  }),
  7: exact("dates arrive to the millisecond, before 1970 and in the year 9999 too", {
    value: () => [new Date(-1), new Date("9999-12-31T23:59:59.999Z"), new Date("2026-03-04T05:06:07.089Z")],
    typescript: "$value[0].getTime() === -1 && $value[1].toISOString() === '9999-12-31T23:59:59.999Z'",
    python: "$value[2].isoformat() == '2026-03-04T05:06:07.089000+00:00' and $value[1].year == 9999",
  }),
  8: exact("an invalid date stays an invalid date", {
    value: () => ({ when: new Date(Number.NaN) }),
    typescript: "$value.when instanceof Date && Number.isNaN($value.when.getTime())",
    notApplicable: noForm("invalid date"),
  }),
  9: exact("a Map with keys that are no text keeps its keys and their order", {
    value: () =>
      new Map<unknown, unknown>([
        [2, "two"],
        [1, "one"],
        [null, [3]],
      ]),
    typescript:
      "$value instanceof Map && [...$value.keys()].join() === '2,1,' && $value.get(null)[0] === 3 && $value.size === 3",
    python: "$value == {2: 'two', 1: 'one', None: [3]} and list($value)[0] == 2",
  }),
  10: exact("a Map with text keys is a Map in TypeScript and a dict in Python", {
    value: () => new Map([["a", 1]]),
    typescript: "$value instanceof Map && $value.get('a') === 1",
    python: "$value == {'a': 1}",
    back: (language, value) => (language === "python" ? { a: 1 } : value),
  }),
  11: exact("a Set arrives as a set", {
    value: () => new Set([1, "x"]),
    typescript: "$value instanceof Set && $value.has('x') && $value.size === 2",
    python: "$value == {1, 'x'}",
  }),
  12: exact("typed arrays keep their element type and their values", {
    value: () => [new Float64Array([1.5, -2]), new Int32Array([7, -8]), new Int16Array([3]), new Float32Array([0.5])],
    typescript: "$value[0] instanceof Float64Array && $value[1] instanceof Int32Array && $value[1][1] === -8",
    python: "[str(each.dtype) for each in $value] == ['float64', 'int32', 'int16', 'float32'] and $value[1][1] == -8",
  }),
  13: exact("arrays of 64-bit integers beyond 2^53 keep every digit", {
    value: () => [new BigInt64Array([2n ** 60n, -5n]), new BigUint64Array([2n ** 63n])],
    typescript: "$value[0] instanceof BigInt64Array && $value[0][0] === 2n ** 60n && $value[1][0] === 2n ** 63n",
    python: "str($value[0].dtype) == 'int64' and int($value[0][0]) == 2**60 and str($value[1].dtype) == 'uint64'",
  }),
  14: exact("bytes arrive as bytes, also those of a part of a buffer", {
    value: () => ({ all: new Uint8Array([0, 255, 10]), part: new Uint8Array([1, 2, 3, 4]).subarray(1, 3) }),
    typescript: "$value.all instanceof Uint8Array && $value.all[1] === 255 && [...$value.part].join() === '2,3'",
    python: "bytes($value['all']) == b'\\x00\\xff\\x0a' and bytes($value['part']) == b'\\x02\\x03'",
  }),
  15: exact("an ArrayBuffer, a DataView and a Buffer keep their class", {
    value: () => [new ArrayBuffer(3), new DataView(new Uint8Array([1, 2]).buffer), Buffer.from("abc")],
    typescript: "$value[0] instanceof ArrayBuffer && $value[1].getUint8(1) === 2 && $value[2].toString() === 'abc'",
    notApplicable: { python: "Python has one type of bytes" },
  }),
  16: exact("nested data of many kinds is equal at every depth", {
    value: () => ({ a: [{ b: [new Set([1]), { at: new Date(5), n: 2n ** 70n }] }], "odd key": { "": [[]] } }),
    typescript:
      "$value.a[0].b[0].has(1) && $value.a[0].b[1].at.getTime() === 5 && $value['odd key'][''][0].length === 0",
    python: "$value['a'][0]['b'][0] == {1} and $value['a'][0]['b'][1]['n'] == 2**70 and $value['odd key'][''] == [[]]",
  }),
  17: exact("empty containers of every kind arrive empty", {
    value: () => [{}, [], "", new Map<number, number>(), new Set(), new Float64Array(0), new Uint8Array(0)],
    typescript: "Object.keys($value[0]).length === 0 && $value[1].length === 0 && $value[3].size === 0",
    python: "$value[0] == {} and $value[1] == [] and $value[4] == set() and len($value[5]) == 0",
    back: (language, value) => (language === "python" ? Object.assign([], value, { 3: {} }) : value),
  }),
  18: exact("keys that mean something to either side are only keys", {
    value: () =>
      JSON.parse('{"$":"h","id":1,"__proto__":{"polluted":true},"constructor":1,"toString":"x","k":{"$":1}}'),
    typescript:
      "$value.$ === 'h' && Object.hasOwn($value, '__proto__') && $value.constructor === 1 && $value.k.$ === 1",
    python: "$value['$'] == 'h' and $value['__proto__'] == {'polluted': True} and $value['k'] == {'$': 1}",
    also: () => assert.equal(Reflect.get({}, "polluted"), undefined),
  }),
  19: exact("a sparse array keeps its holes", {
    value: () => Object.assign(new Array(4), { 1: "x" }),
    typescript: "$value.length === 4 && !(0 in $value) && $value[1] === 'x'",
    notApplicable: noForm("array with holes"),
  }),
  20: exact("an array with members beside its elements keeps them", {
    value: () => Object.assign(["a"], { index: 3 }),
    typescript: "$value.length === 1 && $value.index === 3",
    notApplicable: noForm("array with named members"),
  }),
  21: exact("a RegExp keeps its source and flags", {
    value: () => ({ find: /a+\/"/giu }),
    typescript: "$value.find instanceof RegExp && $value.find.flags === 'giu' && 'AA/\"'.search($value.find) === 0",
    notApplicable: { python: "a RegExp is a host object in Python" },
  }),
  22: exact("boxed primitives stay boxed", {
    value: () => [Object(5), Object("x"), Object(false)],
    typescript: "typeof $value[0] === 'object' && $value[0] + 1 === 6 && $value[1].length === 1",
    notApplicable: noForm("boxed primitive"),
  }),
  23: exact("an error inside data keeps class, message, cause and fields", {
    value: () => ({ failure: Object.assign(new TypeError("t", { cause: new RangeError("r") }), { code: "E1" }) }),
    typescript:
      "$value.failure instanceof TypeError && $value.failure.cause instanceof RangeError && $value.failure.code === 'E1'",
    notApplicable: { python: "an Error is a host object in Python" },
    back: (_, value) => value,
    also(_, found) {
      const failure = memberOf(found, "failure")
      assert.ok(failure instanceof TypeError && failure.cause instanceof RangeError)
      assert.equal(failure.cause.message, "r")
    },
  }),
  24: exact("a table of 10,000 rows arrives whole", {
    value: () =>
      Array.from({ length: 10_000 }, (_, id) => ({ id, name: `row ${id}`, half: id / 2, odd: id % 2 === 1 })),
    typescript: "$value.length === 10_000 && $value[9_999].name === 'row 9999' && $value[3].half === 1.5",
    python: "len($value) == 10_000 and $value[9_999]['name'] == 'row 9999' and $value[3]['odd'] is True",
  }),
} as const

interface Exact {
  value: () => unknown
  /** Returns the expected value for a language that does not distinguish some types. */
  back?: (language: Language, value: unknown) => unknown
  also?: (language: Language, found: unknown) => void
}

type InLanguages =
  | { typescript: string; python: string; notApplicable?: never }
  | { typescript: string; python?: never; notApplicable: { python: string } }

/** Checks that a cell sees the value unchanged, and that it returns by `retrieve`, as argument and as result. */
function exact(
  title: string,
  { value, back = (_, found) => found, also, ...languages }: Exact & InLanguages,
): HandleCase {
  const checks = {
    host: () => ({ value: value() }),
    value: true,
    async holds({ host, language, retrieve, run, taken, last }: CaseOutcome<{ value: unknown }>) {
      assert.ok(last.ok)
      const expected = back(language, host.value)
      const retrieved = await retrieve("value")
      assert.deepEqual(retrieved, expected)
      also?.(language, retrieved)
      await run({ typescript: "await $take(await $echo($value))", python: "$take($echo($value))" })
      assert.deepEqual(taken, [expected])
      also?.(language, taken[0])
    },
  }
  return defineCase(title, { ...checks, ...languages })
}
