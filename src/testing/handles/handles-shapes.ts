// Cases of the handle suite: shared references, depth, values that cannot be sent, errors, and Python-only types.
import assert from "node:assert/strict"
import { table } from "../../runtime/python/tables/table.ts"
import { defineCase } from "./handles-case.ts"

const tree = { python: "Python sends data as a tree" }
const onlyPython = (what: string) => ({ typescript: `TypeScript has no ${what}` })

export const shapeCases = {
  25: defineCase("one object in two places of a value is one object in the cell", {
    host: () => {
      const one = { n: 1 }
      return { pair: { left: one, right: [one] } }
    },
    typescript: "$pair.left === $pair.right[0]",
    python: "$pair['left'] is $pair['right'][0]",
    value: true,
  }),
  26: defineCase("one object in two places of a cell's value is one object at the host", {
    typescript: "const both = { n: 1 }\nawait $take({ left: both, right: [both], map: new Map([['k', both]]) })",
    notApplicable: tree,
    holds({ taken: [found] }) {
      assert.ok(isTwice(found))
      assert.equal(found.left, found.right[0])
      assert.equal(found.left, found.map.get("k"))
    },
  }),
  27: defineCase("a value of the host that contains itself does so in the cell", {
    host: () => {
      const loop: { name: string; self?: unknown } = { name: "loop" }
      loop.self = { back: loop }
      return { loop }
    },
    typescript: "$loop.self.back === $loop && $loop.name === 'loop'",
    python: "$loop['self']['back'] is $loop",
    value: true,
  }),
  28: defineCase("a value of a cell that contains itself does so at the host, or is an error with its path", {
    typescript: "const ring = { items: [1, []] }\nring.items[1].push(ring)\nring.items.length",
    python: "ring = {'items': [1, []]}\nring['items'][1].append(ring)\nlen(ring['items'])",
    value: 2,
    async holds({ language, retrieve }) {
      if (language === "python") return assert.rejects(retrieve("ring"), /\['items'\]\[1\]\[0\].*contains itself/)
      const found = await retrieve("ring")
      assert.ok(isRing(found))
      assert.equal(found.items[1][0], found)
    },
  }),
  29: defineCase("an argument that is nested too deeply is an error of the cell, and the next call works", {
    typescript: [
      "let deep = []\nfor (let i = 0; i < 5_000; i++) deep = [deep]\nconst said = await $take(deep).catch((error) => error.message)\nsaid",
      "await $echo('alive')",
    ],
    python: [
      "deep = []\nfor _ in range(5_000): deep = [deep]\ntry:\n    $take(deep)\n    said = ''\nexcept Exception as error:\n    said = str(error)\nsaid",
      "$echo('alive')",
    ],
    value: "alive",
    holds({ executions: [first], taken }) {
      assert.ok(first?.ok)
      assert.match(String(first.value), /nested|deep/)
      assert.deepEqual(taken, [])
    },
  }),
  30: defineCase("a value of the host that is nested too deeply is refused, and the namespace stays as it was", {
    host: () => ({ box: [1] as unknown }),
    typescript: "$box.length",
    python: "len($box)",
    value: 1,
    async holds({ runtime, nameOf, retrieve }) {
      let deep: unknown = []
      for (let depth = 0; depth < 5_000; depth++) deep = [deep]
      await assert.rejects(runtime.update({ [nameOf("box")]: deep }), /nested|deep/)
      assert.deepEqual(await retrieve("box"), [1])
    },
  }),
  31: defineCase("data of a cell that looks like a handle is only data", {
    typescript: "await $take({ $: 'h', id: 1 }, [{ $: 'p', id: 1 }], { $: 'sh' })",
    python: "$take({'$': 'h', 'id': 1}, [{'$': 'p', 'id': 1}], {'$': 'sh'})",
    holds: ({ taken }) => assert.deepEqual(taken, [{ $: "h", id: 1 }, [{ $: "p", id: 1 }], { $: "sh" }]),
  }),
  32: defineCase("a symbol or a promise in a value is refused with the path to it", {
    host: () => ({ held: { rows: [0] as unknown[] } }),
    typescript: "$held.rows.length",
    python: "len($held['rows'])",
    value: 1,
    async holds({ runtime, nameOf, retrieve }) {
      const name = nameOf("held")
      const update = (value: unknown) => runtime.update({ [name]: { rows: [value] } })
      await assert.rejects(update(Symbol("s")), new RegExp(`${name}\\.rows\\[0\\].*symbol`, "i"))
      await assert.rejects(update(Promise.resolve(1)), new RegExp(`${name}\\.rows\\[0\\].*await`))
      assert.deepEqual(await retrieve("held"), { rows: [0] })
    },
  }),
  33: defineCase("an error that the host throws has its class and message in the cell", {
    host: () => ({
      fail() {
        throw Object.assign(new RangeError("too far", { cause: "why" }), { code: "E2" })
      },
    }),
    typescript:
      "await $fail().catch((error) => [error instanceof RangeError, error.name, error.message, error.code, error.cause])",
    python:
      "try:\n    $fail()\nexcept ValueError as error:\n    seen = [isinstance(error, ValueError), type(error).__name__, str(error)]\nseen",
    value: (language: string) => [true, "RangeError", "too far", ...(language === "python" ? [] : ["E2", "why"])],
  }),
  34: defineCase(
    "an error that the host threw and the cell did not catch is in the result, with the line of the call",
    {
      host: () => {
        const error = new RangeError("as it was")
        return {
          error,
          fail() {
            throw error
          },
        }
      },
      inject: ({ fail }) => ({ fail }),
      typescript: "1\nawait $fail()",
      error: /RangeError: as it was/,
      holds({ last, host }) {
        assert.ok(!last.ok)
        assert.ok(last.thrown instanceof RangeError)
        assert.equal(last.thrown.message, host.error.message)
        assert.equal(last.error.line, 2)
      },
    },
  ),
  35: defineCase("arguments and results that are missing are undefined or None", {
    host: () => ({ count: (...args: unknown[]) => args.length, nothing: () => undefined }),
    typescript:
      "[await $count(), await $count(undefined), await $count(null, undefined), (await $nothing()) === undefined]",
    python: "[$count(), $count(None), $count(None, None), $nothing() is None]",
    value: [0, 1, 2, true],
  }),
  36: defineCase("numpy arrays of 64-bit integers within 2^53 arrive as numbers and go back as int64", {
    python: [
      "import numpy as np\nsmall = np.array([1, -2, 2**53 - 1])\nreturned = $echo(small)\n$take(small, returned)",
      "str(returned.dtype) + ' ' + str(returned.tolist())",
    ],
    value: "int64 [1, -2, 9007199254740991]",
    notApplicable: onlyPython("numpy"),
    async holds({ taken, retrieve }) {
      assert.deepEqual(taken, [
        [1, -2, 2 ** 53 - 1],
        [1, -2, 2 ** 53 - 1],
      ])
      assert.deepEqual(await retrieve("small"), [1, -2, 2 ** 53 - 1])
    },
  }),
  37: defineCase("a numpy array with an integer beyond 2^53 arrives as big integers", {
    python: "import numpy as np\nwide = np.array([1, 2**53])\n$take(wide, np.array([2**63], dtype='uint64'))",
    notApplicable: onlyPython("numpy"),
    holds: ({ taken }) =>
      assert.deepEqual(taken, [new BigInt64Array([1n, 2n ** 53n]), new BigUint64Array([2n ** 63n])]),
  }),
  38: defineCase("a pandas Series and Index follow the rule of 64-bit integers", {
    python: "import pandas as pd\n$take(pd.Series([1, 2]), pd.Index([3, 4]), pd.Series([2**60]))",
    notApplicable: onlyPython("pandas"),
    holds: ({ taken }) => assert.deepEqual(taken, [[1, 2], [3, 4], new BigInt64Array([2n ** 60n])]),
  }),
  39: defineCase("a table is a DataFrame in the cell and records at the host", {
    host: () => ({
      frame: table([
        { n: 1, at: new Date(0) },
        { n: 2, at: new Date(1) },
      ]),
    }),
    python: "$take($frame)\n[type($frame).__name__, str($frame['n'].dtype), int($frame['n'].sum())]",
    value: ["DataFrame", "int64", 3],
    notApplicable: onlyPython("DataFrame"),
    holds({ taken }) {
      assert.deepEqual(taken, [
        [
          { n: 1, at: new Date(0) },
          { n: 2, at: new Date(1) },
        ],
      ])
    },
  }),
  40: defineCase("tuples, ranges, bytes and dicts with any keys arrive as arrays, bytes and Maps", {
    python: "$take((1, 2), range(3), b'ab', bytearray(b'c'), {1: 'a', (1, 2): 'b'}, frozenset([1]))",
    notApplicable: onlyPython("tuple"),
    holds({ taken }) {
      const entries: [unknown, string][] = [
        [1, "a"],
        [[1, 2], "b"],
      ]
      const bytes = [new Uint8Array([97, 98]), new Uint8Array([99])]
      assert.deepEqual(taken, [[1, 2], [0, 1, 2], ...bytes, new Map(entries), new Set([1])])
    },
  }),
  41: defineCase("members of an enum arrive as their values, and views of a dict as arrays", {
    python: `import enum
class Color(enum.Enum):
    RED = "red"
    POINT = (1, 2)
class Level(enum.IntEnum):
    LOW = 1
$take(Color.RED, Color.POINT, [Level.LOW], {"color": Color.RED})
d = {"a": 1, "b": [2]}
$take(d.keys(), d.values(), d.items())
[Color.RED, d.keys()]`,
    value: ["red", ["a", "b"]],
    notApplicable: { typescript: "TypeScript has objects and iterators for these" },
    holds: ({ taken }) =>
      assert.deepEqual(taken, [
        ...["red", [1, 2], [1], { color: "red" }],
        ...[
          ["a", "b"],
          [1, [2]],
          [
            ["a", 1],
            ["b", [2]],
          ],
        ],
      ]),
  }),
} as const

interface Twice {
  left: object
  right: [object]
  map: Map<string, object>
}

function isTwice(value: unknown): value is Twice {
  return typeof value === "object" && value !== null && "left" in value && "right" in value && "map" in value
}

function isRing(value: unknown): value is { items: [number, unknown[]] } {
  return typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items)
}
