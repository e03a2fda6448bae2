// Cases of the handle suite: reading a field returns a copy. Changed copies are reported, and can be written back.
import assert from "node:assert/strict"
import { table } from "../../runtime/python/tables/table.ts"
import { casesWith, defineCase } from "./handles-case.ts"

const defineHostCase = casesWith({ host })

export const copyCases = {
  110: defineHostCase("an element added to a copied array is named in the result with the way to write it back", {
    typescript: "const items = await $store.items\nitems.push('c')\nitems.length",
    python: "items = $store.items\nitems.append('c')\nlen(items)",
    value: 3,
    hints: [/^store\.items is a copy, and the cell changed only the copy\. Write it back: store\.items = /],
    holds: ({ host: { store } }) => assert.deepEqual(store.items, ["a", "b"]),
  }),
  111: defineHostCase("a change without a variable is named too", {
    typescript: "(await $store.items).push('c')",
    python: "$store.items.append('c')",
    hints: [/^store\.items is a copy/],
    holds: ({ host: { store } }) => assert.deepEqual(store.items, ["a", "b"]),
  }),
  112: defineHostCase("a change deep inside a copy names the field that was read", {
    typescript: "const nested = await $store.nested\nnested.a.b = 5",
    python: "$store.nested['a']['b'] = 5",
    hints: [/^store\.nested is a copy/],
    holds: ({ host: { store } }) => assert.deepEqual(store.nested, { a: { b: 1 }, c: {} }),
  }),
  113: defineHostCase("a changed copy of a Map is named", {
    typescript: "(await $store.counts).set('z', 1)",
    python: "$store.counts['z'] = 1",
    hints: [/^store\.counts is a copy/],
    holds: ({ host: { store } }) => assert.equal(store.counts.has("z"), false),
  }),
  114: defineHostCase("a changed copy of a Set is named", {
    typescript: "(await $store.seen).add('z')",
    python: "$store.seen.add('z')",
    hints: [/^store\.seen is a copy/],
    holds: ({ host: { store } }) => assert.equal(store.seen.has("z"), false),
  }),
  115: defineHostCase("a changed copy of a typed array is named", {
    typescript: "(await $store.signal)[0] = 9",
    python: "$store.signal[0] = 9",
    hints: [/^store\.signal is a copy/],
    holds: ({ host: { store } }) => assert.equal(store.signal[0], 1),
  }),
  116: defineHostCase("sorting, reversing or emptying a copy is named", {
    typescript: ["(await $store.items).reverse()", "const gone = await $store.rows\ngone.length = 0"],
    python: ["$store.items.reverse()", "gone = $store.rows\ngone.clear()"],
    hints: [/^store\.rows is a copy/],
    holds({ host: { store }, executions: [first] }) {
      assert.equal(first?.hints?.length, 1)
      assert.deepEqual([store.items, store.rows.length], [["a", "b"], 4])
    },
  }),
  117: defineHostCase("a key that was removed from a copy is named", {
    typescript: "const nested = await $store.nested\ndelete nested.c",
    python: "nested = $store.nested\ndel nested['c']",
    hints: [/^store\.nested is a copy/],
    holds: ({ host: { store } }) => assert.ok("c" in store.nested),
  }),
  118: defineHostCase("a changed field of a record in a copied table is named", {
    typescript: "const rows = await $store.rows\nrows[1].n = 50",
    python: "rows = $store.rows\nrows[1]['n'] = 50",
    hints: [/^store\.rows is a copy/],
    holds: ({ host: { store } }) => assert.equal(store.rows[1]?.n, 2),
  }),
  119: defineCase("a changed copy of a DataFrame is named", {
    host: () => ({ store: Object.assign(new Store(), { frame: table([{ n: 1 }, { n: 2 }]) }) }),
    python: "frame = $store.frame\nframe['n'] = 0",
    hints: [/^store\.frame is a copy/],
    notApplicable: { typescript: "TypeScript has no DataFrame" },
    holds: ({ host: { store } }) => assert.deepEqual([...store.frame], [{ n: 1 }, { n: 2 }]),
  }),
  120: defineCase("a copy read over a path is named by its path", {
    host: () => ({ shop: { open: () => true, main: new Store() } }),
    typescript: "(await $shop.main.items).push('c')",
    python: "$shop.main.items.append('c')",
    hints: [/main\.items is a copy|Store\.items is a copy/],
  }),
  121: defineHostCase("a copy that was only read is not named", {
    typescript:
      "const read = await $store.rows\n;[read.map(({ n }) => n).join(), (await $store.items).length, (await $store.counts).size]",
    python: "read = $store.rows\n[','.join(str(row['n']) for row in read), len($store.items), len($store.counts)]",
    value: ["1,2,3,4", 2, 1],
  }),
  122: defineHostCase("a copy that was changed and changed back is not named", {
    typescript: "const items = await $store.items\nitems.push('c')\nitems.pop()\nitems.length",
    python: "items = $store.items\nitems.append('c')\nitems.pop()\nlen(items)",
    value: 2,
  }),
  123: defineHostCase("only the copies that were changed are named", {
    typescript: "const items = await $store.items\nconst nested = await $store.nested\nnested.a.b = items.length",
    python: "items = $store.items\nnested = $store.nested\nnested['a']['b'] = len(items)",
    hints: [/^store\.nested is a copy/],
  }),
  124: defineHostCase("two changed copies are both named", {
    typescript: "(await $store.items).push('c')\n;(await $store.seen).add('z')",
    python: "$store.items.append('c')\n$store.seen.add('z')",
    hints: [/^store\.items is a copy/, /^store\.seen is a copy/],
  }),
  125: defineHostCase("the next cell has no hint about the copies of the cell before", {
    typescript: ["(await $store.items).push('c')", "1 + 1"],
    python: ["$store.items.append('c')", "1 + 1"],
    value: 2,
    holds: ({ executions: [first] }) => assert.equal(first?.hints?.length, 1),
  }),
  126: defineHostCase("a changed copy is named in a cell that fails, too", {
    typescript: "(await $store.items).push('c')\nthrow new Error('stop')",
    python: "$store.items.append('c')\nraise RuntimeError('stop')",
    error: /stop/,
    hints: [/^store\.items is a copy/],
  }),
  127: defineCase("a large field that was read is named as not checked", {
    host: () => ({
      store: Object.assign(new Store(), { big: Array.from({ length: 200_000 }, (_, n) => `item ${n}`) }),
    }),
    typescript: "const big = await $store.big\nbig.push('more')\nbig.length",
    python: "big = $store.big\nbig.append('more')\nlen(big)",
    value: 200_001,
    hints: [/store\.big.*not checked|not checked.*store\.big/],
  }),
  128: defineHostCase("the result of a method is a copy of its own and is not named", {
    typescript: "const list = await $store.list()\nlist.push('c')\nlist.length",
    python: "listed = $store.list()\nlisted.append('c')\nlen(listed)",
    value: 3,
  }),
  129: defineCase("a changed copy that is passed to a call is not named", {
    host: () => {
      const store = new Store()
      const save = (items: string[]) => {
        store.items = items
      }
      return { store, save }
    },
    typescript: "const items = await $store.items\nitems.push('c')\nawait $save(items)",
    python: "items = $store.items\nitems.append('c')\n$save(items)",
    holds: ({ host: { store } }) => assert.deepEqual(store.items, ["a", "b", "c"]),
  }),
} as const

class Store {
  items = ["a", "b"]
  nested: { a: { b: number }; c?: object } = { a: { b: 1 }, c: {} }
  counts = new Map([["x", 1]])
  seen = new Set(["x"])
  signal = new Float64Array([1, 2])
  rows = [1, 2, 3, 4].map((n) => ({ n }))
  list() {
    return this.items
  }
}

function host() {
  return { store: new Store() }
}
