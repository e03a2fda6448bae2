// Cases of the handle suite: iterating over host objects and over results of calls.
import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { defineCase } from "./handles-case.ts"

export const iterationCases = {
  330: defineCase("a host object that can be iterated yields its items in order", {
    host: () => ({ bag: new Bag(["a", "b", "c"]) }),
    typescript: "const seen = []\nfor await (const item of $bag) seen.push(item)\nseen",
    python: "[item for item in $bag]",
    value: ["a", "b", "c"],
  }),
  331: defineCase("a generator of the host is iterated", {
    host: () => ({ count: (to: number) => upTo(to) }),
    typescript: "const seen = []\nfor await (const n of await $count(3)) seen.push(n)\nseen",
    python: "list($count(3))",
    value: [1, 2, 3],
  }),
  332: defineCase("an async generator of the host is iterated", {
    host: () => ({ ticks: (to: number) => later(to) }),
    typescript: "const seen = []\nfor await (const n of await $ticks(3)) seen.push(n)\nseen",
    python: "list($ticks(3))",
    value: [1, 2, 3],
  }),
  333: defineCase("items of an iteration may be host objects", {
    host: () => {
      const bags = [new Bag(["a"]), new Bag(["b"])]
      return { bags, outer: new Bag(bags) }
    },
    inject: ({ outer }) => ({ outer }),
    typescript:
      "const sizes = []\nfor await (const bag of $outer) { sizes.push(await bag.size()); await $take(bag) }\nsizes",
    python: "sizes = []\nfor bag in $outer:\n    sizes.append(bag.size())\n    $take(bag)\nsizes",
    value: [1, 1],
    holds: ({ taken, host: { bags } }) => assert.ok(taken[0] === bags[0] && taken[1] === bags[1]),
  }),
  334: defineCase("leaving a loop early ends the host's iterator", {
    host: () => ({ source: new Source() }),
    typescript: "for await (const n of $source) if (n === 3) break\nawait $source.closed",
    value: true,
    notApplicable: { python: "Python gets all items at once" },
    holds: ({ host: { source } }) => assert.equal(source.given, 3),
  }),
  335: defineCase("a cell that throws inside a loop ends the host's iterator", {
    host: () => ({ source: new Source() }),
    typescript: "for await (const n of $source) throw new Error('enough')",
    error: /enough/,
    notApplicable: { python: "Python gets all items at once" },
    holds: ({ host: { source } }) => assert.equal(source.closed, true),
  }),
  336: defineCase("an iteration of more than a million items is an error that says so", {
    host: () => ({ endless: new Endless() }),
    python: "list($endless)",
    error: /1[,_]?000[,_]?000|million/,
    notApplicable: { typescript: "TypeScript gets one item at a time" },
    holds: async ({ value }) => assert.equal(await value({ typescript: "1", python: "1 + 1" }), 2),
  }),
  337: defineCase("an iterator that throws fails the cell with its message", {
    host: () => ({ broken: new Broken() }),
    typescript: "for await (const n of $broken) n",
    python: "for n in $broken: n",
    error: /out of paper/,
  }),
  338: defineCase("iterating over an object that cannot be iterated is an error that says so", {
    host: () => ({ light: { level: 1, dim: () => 1 } }),
    typescript: "for await (const n of $light) n",
    python: "for n in $light: n",
    error: /itera/,
  }),
  339: defineCase("an object of a library that yields pairs is iterated as pairs", {
    host: () => ({ headers: new Headers({ a: "b", c: "d" }) }),
    typescript: "const pairs = []\nfor await (const pair of $headers) pairs.push(pair)\npairs",
    python: "[list(pair) for pair in $headers]",
    value: [
      ["a", "b"],
      ["c", "d"],
    ],
  }),
  341: defineCase("the result of a call is iterated without an await of its own", {
    host: () => ({
      tree: { root: 1, walk: () => upTo(3), later: () => later(2), all: () => ["x", "y"], source: () => new Source() },
      count: (to: number) => upTo(to),
    }),
    typescript: `const seen = []
      for await (const n of $tree.walk()) seen.push(n)
      for await (const n of $tree.later()) seen.push(n)
      for await (const n of $tree.all()) seen.push(n)
      for await (const n of $count(2)) seen.push(n)
      for await (const n of $tree.source()) { seen.push(n); break }
      seen`,
    value: [1, 2, 3, 1, 2, "x", "y", 1, 2, 1],
    notApplicable: { python: "a call in Python gives its result" },
  }),
  342: defineCase("the result of a call that cannot be iterated, or fails, fails the loop over it", {
    host: () => ({
      tree: {
        root: () => 1,
        fail: () => {
          throw new Error("no branches")
        },
      },
    }),
    typescript: [
      "for await (const n of $tree.root()) n",
      "for await (const n of $tree.fail()) n",
      "for (const n of $tree.root()) n",
    ],
    errors: /iterable|no branches|write `await\b/,
    notApplicable: { python: "a call in Python gives its result" },
  }),
  343: defineCase("async for takes the elements of a host object one at a time", {
    host: () => ({ source: new Source(), bag: new Bag(["a", "b"]), count: (to: number) => later(to) }),
    python: `seen = []
async for n in $source:
    seen.append(n)
    if n == 3: break
seen += [item async for item in $bag]
async for n in $count(2): seen.append(n)
seen`,
    value: [1, 2, 3, "a", "b", 1, 2],
    notApplicable: { typescript: "TypeScript always takes one at a time" },
    holds: ({ host: { source } }) => assert.equal(source.given, 3),
  }),
} as const

class Bag {
  readonly #items: readonly unknown[]
  constructor(items: readonly unknown[]) {
    this.#items = items
  }
  size() {
    return this.#items.length
  }
  *[Symbol.iterator]() {
    yield* this.#items
  }
}

class Source {
  given = 0
  closed = false
  async *[Symbol.asyncIterator]() {
    try {
      for (;;) yield ++this.given
    } finally {
      this.closed = true
    }
  }
}

class Endless {
  *[Symbol.iterator]() {
    for (let n = 0; ; n++) yield n
  }
}

class Broken {
  // biome-ignore lint/correctness/useYield: it fails before its first item.
  *[Symbol.iterator](): Generator<number> {
    throw new Error("out of paper")
  }
}

function* upTo(to: number) {
  for (let n = 1; n <= to; n++) yield n
}

async function* later(to: number) {
  for (let n = 1; n <= to; n++) {
    await sleep(1)
    yield n
  }
}
