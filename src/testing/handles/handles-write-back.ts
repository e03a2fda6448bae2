// Cases of the handle suite: writing a copy back to its field fills the host's own containers and leaves no hint.
import assert from "node:assert/strict"
import { casesWith, defineCase } from "./handles-case.ts"

const defineHostCase = casesWith({ host, inject })

export const writeBackCases = {
  130: defineHostCase("a written-back array fills the host's array, which stays the same object", {
    typescript: "const items = await $store.items\nitems.push('c')\n$store.items = items",
    python: "items = $store.items\nitems.append('c')\n$store.items = items",
    holds({ host: { store, kept } }) {
      assert.deepEqual(store.items, ["a", "b", "c"])
      assert.equal(store.items, kept.items)
    },
  }),
  131: defineHostCase("a written-back object keeps its nested objects, gets new keys and loses removed ones", {
    typescript:
      "const nested = await $store.nested\nnested.a.b = 5\ndelete nested.c\nnested.d = 1\n$store.nested = nested",
    python: "nested = $store.nested\nnested['a']['b'] = 5\ndel nested['c']\nnested['d'] = 1\n$store.nested = nested",
    holds({ host: { store, kept } }) {
      assert.deepEqual(store.nested, { a: { b: 5 }, d: 1 })
      assert.equal(store.nested, kept.nested)
      assert.equal(store.nested.a, kept.a)
    },
  }),
  132: defineHostCase("a row removed from the middle leaves the other rows the same objects", {
    typescript: "const rows = await $store.rows\nrows.splice(1, 1)\n$store.rows = rows",
    python: "rows = $store.rows\ndel rows[1]\n$store.rows = rows",
    holds({ host: { store, kept } }) {
      assert.equal(store.rows, kept.rows)
      assert.deepEqual(store.rows, [{ n: 1 }, { n: 3 }, { n: 4 }])
      assert.deepEqual(earlierRows({ store, kept }), [0, 2, 3])
    },
  }),
  133: defineHostCase("a row put in the middle leaves the rows before and after the same objects", {
    typescript: "const rows = await $store.rows\nrows.splice(2, 0, { n: 99 })\n$store.rows = rows",
    python: "rows = $store.rows\nrows.insert(2, {'n': 99})\n$store.rows = rows",
    holds({ host: { store, kept } }) {
      assert.deepEqual(store.rows, [{ n: 1 }, { n: 2 }, { n: 99 }, { n: 3 }, { n: 4 }])
      assert.deepEqual(earlierRows({ store, kept }), [0, 1, -1, 2, 3])
    },
  }),
  134: defineHostCase("a changed row is filled in place, and the rows around it are untouched", {
    typescript: "const rows = await $store.rows\nrows[2].n = 30\n$store.rows = rows",
    python: "rows = $store.rows\nrows[2]['n'] = 30\n$store.rows = rows",
    holds({ host: { store, kept } }) {
      assert.deepEqual(store.rows, [{ n: 1 }, { n: 2 }, { n: 30 }, { n: 4 }])
      assert.deepEqual(earlierRows({ store, kept }), [0, 1, 2, 3])
    },
  }),
  135: defineHostCase("a written-back Map fills the host's Map and keeps the objects in it", {
    typescript:
      "const counts = await $store.counts\ncounts.get('x').n = 7\ncounts.set('z', { n: 1 })\n$store.counts = counts",
    python: "counts = $store.counts\ncounts['x']['n'] = 7\ncounts['z'] = {'n': 1}\n$store.counts = counts",
    holds({ host: { store, kept } }) {
      assert.equal(store.counts, kept.counts)
      assert.deepEqual(store.counts, new Map(Object.entries({ x: { n: 7 }, y: { n: 2 }, z: { n: 1 } })))
      assert.equal(store.counts.get("x"), kept.x)
    },
  }),
  136: defineHostCase("a written-back Set fills the host's Set", {
    typescript: "const seen = await $store.seen\nseen.delete('x')\nseen.add('z')\n$store.seen = seen",
    python: "seen = $store.seen\nseen.discard('x')\nseen.add('z')\n$store.seen = seen",
    holds({ host: { store, kept } }) {
      assert.equal(store.seen, kept.seen)
      assert.deepEqual(store.seen, new Set(["z"]))
    },
  }),
  137: defineHostCase("a written-back array of host objects holds the same objects", {
    typescript: "const team = await $store.team\nteam.reverse()\nteam.pop()\n$store.team = team",
    python: "team = $store.team\nteam.reverse()\nteam.pop()\n$store.team = team",
    holds({ host: { store, kept } }) {
      assert.equal(store.team, kept.team)
      assert.deepEqual(store.team, [kept.members[2], kept.members[1]])
      assert.equal(store.team[0], kept.members[2])
    },
  }),
  138: defineHostCase("a new value that was not read from the field replaces the host's object", {
    typescript: "$store.items = ['x']\nawait $store.items",
    value: ["x"],
    holds({ host: { store, kept } }) {
      assert.notEqual(store.items, kept.items)
      assert.deepEqual(kept.items, ["a", "b"])
    },
  }),
  139: defineHostCase("a copy of one field written to another field leaves the first as it was", {
    typescript: "const items = await $store.items\n$store.more = items\nawait $store.more",
    python: "items = $store.items\n$store.more = items\n$store.more",
    value: ["a", "b"],
    holds({ host: { store, kept } }) {
      assert.equal(store.items, kept.items)
      assert.notEqual(store.more, store.items)
    },
  }),
  140: defineHostCase("a copy that is changed after it was written back needs another write", {
    typescript: [
      "const items = await $store.items\nitems.push('c')\n$store.items = items\nitems.push('d')\n$store.items = items",
      "await $store.items",
    ],
    python: [
      "items = $store.items\nitems.append('c')\n$store.items = items\nitems.append('d')\n$store.items = items",
      "$store.items",
    ],
    value: ["a", "b", "c", "d"],
    holds: ({ host: { store, kept } }) => assert.equal(store.items, kept.items),
  }),
  141: defineHostCase("a copy written back in a later cell fills the host's array too", {
    typescript: ["const items = await $store.items\nitems.length", "items.push('c')\n$store.items = items"],
    python: ["items = $store.items\nlen(items)", "items.append('c')\n$store.items = items"],
    holds({ host: { store } }) {
      assert.deepEqual(store.items, ["a", "b", "c"])
    },
  }),
  142: defineCase("a copy written back over a setter reaches the setter", {
    host: () => ({ guarded: new Checked() }),
    typescript: "const list = await $guarded.list\nlist.push(3)\n$guarded.list = list",
    python: "found = $guarded.list\nfound.append(3)\n$guarded.list = found",
    holds: ({ host: { guarded } }) => assert.deepEqual([guarded.list, guarded.sets], [[1, 2, 3], 1]),
  }),
  143: defineCase("a frozen array that is written back is replaced, and keeps its own elements", {
    host: () => {
      const frozen = Object.freeze(["a", "b"])
      return { frozen, store: Object.assign(new Store(), { items: frozen }) }
    },
    inject: ({ store }) => ({ store }),
    typescript: "const items = await $store.items\nitems.push('c')\n$store.items = items\nawait $store.items",
    python: "items = $store.items\nitems.append('c')\n$store.items = items\n$store.items",
    value: ["a", "b", "c"],
    holds: ({ host: { frozen } }) => assert.deepEqual(frozen, ["a", "b"]),
  }),
  173: defineCase("one object in two places of a copy is one object after it is written back", {
    host: () => {
      const part = { n: 1 }
      const shared = { left: part, right: part, list: [part] }
      return { part, store: Object.assign(new Store(), { shared, rows: [{ n: 1 }] }) }
    },
    inject: ({ store }) => ({ store }),
    typescript: `const shared = await $store.shared
      shared.left.n = 5
      $store.shared = shared
      const row = { n: 7 }
      $store.rows = [row, row]
      const list = [1]
      await $take({ b: list, 1: list, deep: [list, [row]], row })`,
    python: `shared = $store.shared
shared['left']['n'] = 5
$store.shared = shared
row = {'n': 7}
$store.rows = [row, row]
items = [1]
$take({'b': items, '1': items, 'deep': [items, (row,)], 'row': row})`,
    holds({ host: { part, store }, taken: [taken] }) {
      const { left, right, list } = store.shared
      assert.ok(left === part && right === part && list[0] === part)
      assert.equal(part.n, 5)
      assert.equal(store.rows[0], store.rows[1])
      const found = taken as { b: object; 1: object; deep: [object, [object]]; row: object }
      assert.deepEqual(found, { b: [1], 1: [1], deep: [[1], [{ n: 7 }]], row: { n: 7 } })
      assert.ok(found.b === found[1] && found.b === found.deep[0] && found.row === found.deep[1][0])
    },
  }),
} as const

class Member {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
  greet() {
    return this.name
  }
}

class Store {
  items: readonly string[] = ["a", "b"]
  more: readonly string[] = []
  nested: { a: { b: number }; c?: object; d?: number } = { a: { b: 1 }, c: {} }
  counts = new Map([
    ["x", { n: 1 }],
    ["y", { n: 2 }],
  ])
  seen = new Set(["x"])
  rows = [1, 2, 3, 4].map((n) => ({ n }))
  team = ["A", "B", "C"].map((name) => new Member(name))
  list() {
    return this.items
  }
}

class Checked {
  #list = [1, 2]
  sets = 0
  get list() {
    return this.#list
  }
  set list(list: number[]) {
    this.#list = list
    this.sets++
  }
  sum() {
    return this.#list.length
  }
}

function host() {
  const store = new Store()
  const { items, nested, counts, seen, rows, team } = store
  const kept = { items, nested, a: nested.a, counts, x: counts.get("x"), seen, rows, each: [...rows], team }
  return { store, kept: { ...kept, members: [...team] } }
}

/** The earlier place of each row; -1 for a new object. */
function earlierRows({ store, kept }: ReturnType<typeof host>): number[] {
  return store.rows.map((row) => kept.each.indexOf(row))
}

function inject({ store }: { store: Store }) {
  return { store }
}
