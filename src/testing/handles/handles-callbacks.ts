// Cases of the handle suite: functions of cells that host functions call, their results and failures.
import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { callable, defineCase } from "./handles-case.ts"

const arrayMethods = ["filter", "map", "find", "some", "sort", "reduce", "forEach"]
const copiesDerived = { python: "Python gets a copy of every array, Map and Set, also of a derived class" }

type Callback = (...args: unknown[]) => unknown

export const callbackCases = {
  200: defineCase("a host function calls back into the cell and uses the result", {
    host: () => ({ twice: async (callback: Callback) => Number(await callback(1)) + Number(await callback(2)) }),
    typescript: "await $twice((n) => n * 10)",
    python: "$twice(lambda n: n * 10)",
    value: 30,
  }),
  201: defineCase("an async callback is awaited", {
    host: () => ({ apply: async (callback: Callback) => await callback(3) }),
    typescript: "await $apply(async (n) => { await new Promise((go) => setTimeout(go, 1)); return n + 1 })",
    python:
      "import asyncio\nasync def later(n):\n    await asyncio.sleep(0.001)\n    return n + 1\nawait $apply(later)",
    value: 4,
  }),
  202: defineCase("a callback that calls a host function that calls back works to the end", {
    host: () => ({ apply: async (callback: Callback, n: number) => await callback(n) }),
    typescript: "await $apply(async (n) => (await $apply((m) => m * 2, n + 1)) + 100, 1)",
    python: "$apply(lambda n: $apply(lambda m: m * 2, n + 1) + 100, 1)",
    value: 104,
  }),
  203: defineCase("callbacks inside options and arrays are called", {
    host: () => ({
      run: async ({ onDone, steps }: { onDone: Callback; steps: Callback[] }) => {
        let n: unknown = 1
        for (const step of steps) n = await step(n)
        return onDone(n)
      },
    }),
    typescript: "await $run({ onDone: (n) => `done ${n}`, steps: [(n) => n + 1, (n) => n * 5] })",
    python: "$run({'onDone': lambda n: f'done {n}', 'steps': [lambda n: n + 1, lambda n: n * 5]})",
    value: "done 10",
  }),
  204: defineCase("arguments and results of callbacks are exact", {
    host: () => ({ pass: async (callback: Callback) => await callback(new Date(5), 2n ** 70n, { a: [null] }) }),
    typescript:
      "let got\nconst back = await $pass((...args) => { got = args; return args })\nawait $take(back)\ngot[0].getTime() === 5",
    python:
      "got = []\ndef keep(*args):\n    got.append(args)\n    return list(args)\n$take($pass(keep))\ngot[0][1] == 2**70",
    value: true,
    holds: ({ taken }) => assert.deepEqual(taken, [[new Date(5), 2n ** 70n, { a: [null] }]]),
  }),
  205: defineCase("a callback that the host keeps is called in a later cell", {
    host: () => listeners(),
    typescript: ["let heard = 0\nawait $listen((n) => { heard += n })", "await $tell(5)\nheard"],
    python: ["heard = []\n$listen(lambda n: heard.append(n))", "$tell(5)\nheard[0]"],
    value: 5,
  }),
  206: defineCase("a callback that the host keeps is called between cells", {
    host: () => listeners(),
    typescript: "let heard = 0\nawait $listen((n) => { heard += n; return heard })",
    python: "heard = []\ndef hear(n):\n    heard.append(n)\n    return sum(heard)\n$listen(hear)",
    async holds({ host: { all }, value }) {
      assert.equal(await all[0]?.(4), 4)
      assert.equal(await all[0]?.(5), 9)
      assert.equal(await value({ typescript: "heard", python: "sum(heard)" }), 9)
    },
  }),
  207: defineCase("a callback's result throws where the host uses it as a primitive", {
    host: () => ({
      add: (callback: Callback) => Number(callback(1)) + 1,
      say: (callback: Callback) => `${callback(1)}`,
      sort: (compare: Callback) => [2, 1].sort((a, b) => Number(compare(a, b))),
    }),
    typescript: ["await $add((n) => n)", "await $say((n) => n)", "await $sort((a, b) => a - b)"],
    python: ["$add(lambda n: n)", "$say(lambda n: n)", "$sort(lambda a, b: a - b)"],
    errors: /await/,
  }),
  208: defineCase("a callback that fails and is awaited rejects in the host function and fails the cell", {
    host: () => ({ apply: async (callback: Callback) => await callback(1) }),
    typescript: "await $apply(() => { throw new RangeError('boom') })",
    python: "def bad(n): raise ValueError('boom')\n$apply(bad)",
    error: /boom/,
  }),
  209: defineCase("a callback's failure that the host function catches fails nothing", {
    host: () => ({
      safely: async (callback: Callback) => {
        try {
          return await callback(1)
        } catch (error) {
          return error instanceof Error ? `caught ${error.message}` : "caught something"
        }
      },
    }),
    typescript: "await $safely(() => { throw new Error('boom') })",
    python: "def bad(n): raise ValueError('boom')\n$safely(bad)",
    value: "caught boom",
  }),
  210: defineCase("a callback that fails and is not awaited fails the cell that is running", {
    host: () => ({ fire: (callback: Callback) => void callback(1) }),
    typescript: "await $fire(() => { throw new Error('boom') })\n1",
    python: "$fire(lambda n: 1 / 0)\n1",
    error: /boom|division by zero/,
  }),
  211: defineCase("an async callback that fails and is not awaited fails the cell that is running", {
    host: () => ({ fire: (callback: Callback) => void callback(1) }),
    typescript: "await $fire(async () => { await null; throw new Error('boom') })\n1",
    python: "async def bad(n): raise ValueError('boom')\n$fire(bad)\n1",
    error: /boom/,
  }),
  212: defineCase(
    "a callback that is under way when the runtime is closed ends with an error that somebody can handle",
    {
      ownRuntime: true,
      host: () => listeners(),
      typescript: "await $listen(() => new Promise(() => {}))",
      python: "import asyncio\nasync def never(n): await asyncio.sleep(1000)\n$listen(never)",
      async holds({ host: { all }, runtime, run }) {
        const [first] = all
        const settled = Promise.allSettled([first?.(1)])
        void first?.(2)
        // When the other process has run another cell, it has started both calls.
        await run({ typescript: "1", python: "1" })
        await runtime.close()
        assert.equal((await settled)[0].status, "rejected")
      },
    },
  ),
  213: defineCase("the warning about a callback that failed too late names the error", {
    host: () => listeners(),
    typescript: "await $listen(() => { throw new Error('too late') })",
    python: "def late(n): raise ValueError('too late')\n$listen(late)",
    async holds({ host: { all }, run }) {
      void all[0]?.(1)
      let output = ""
      for (let turn = 0; turn < 20 && !output.includes("too late"); turn++) {
        const execution = await run({ typescript: "1", python: "1" })
        assert.ok(execution.ok, "The cell that runs later did nothing wrong.")
        output += execution.output
        await nextTurn()
      }
      assert.match(output, /too late/)
    },
  }),
  214: defineCase("a callback's result that is never awaited is reported as a hint", {
    host: () => ({ fire: (callback: Callback) => void callback(1) }),
    typescript: "await $fire((n) => n > 0)\n1",
    python: "$fire(lambda n: n > 0)\n1",
    hints: [/await/],
    value: 1,
  }),
  215: defineCase("a callback whose results are all awaited leaves no hint", {
    host: () => ({ all: async (callback: Callback) => (await Promise.all([1, 2].map((n) => callback(n)))).length }),
    typescript: "await $all((n) => n)",
    python: "$all(lambda n: n)",
    value: 2,
  }),
  216: defineCase("a callback without a result may be called without await, as event emitters do", {
    host: () => ({ bus: new EventEmitter() }),
    typescript:
      "let heard = 0\nawait $bus.on('e', (n) => { heard = n })\nawait $bus.emit('e', 7)\nawait $echo(1)\nheard",
    python: "heard = []\n$bus.on('e', lambda n: heard.append(n))\n$bus.emit('e', 7)\n$echo(1)\nheard[0]",
    value: 7,
    hints: "any",
  }),
  217: defineCase("a listener of a cell is removed by the same function", {
    host: () => ({ bus: new EventEmitter() }),
    typescript:
      "const hear = () => {}\nawait $bus.on('e', hear)\nconst before = await $bus.listenerCount('e')\nawait $bus.off('e', hear)\n;[before, await $bus.listenerCount('e')]",
    python:
      "hear = lambda: None\n$bus.on('e', hear)\nbefore = $bus.listenerCount('e')\n$bus.off('e', hear)\n[before, $bus.listenerCount('e')]",
    value: [1, 0],
  }),
  218: defineCase("methods of a built-in array refuse a callback by name and say to read it first", {
    host: () => ({ rows: new Proxy([1, 2, 3], {}) }),
    typescript: arrayMethods.map((name) => `await $rows.${name}((n) => n > 2)`),
    python: arrayMethods.map((name) => `$rows.${name}(lambda *n: n[0] > 2)`),
    errors: /filter|map|find|some|sort|reduce|forEach/,
    holds({ message, host: { rows } }) {
      assert.match(message, /read|copy/i)
      assert.deepEqual([...rows], [1, 2, 3])
    },
  }),
  219: defineCase("methods of a built-in array, Map or Set of a derived class refuse a callback by name", {
    host: () => ({ rows: Rows.from([1, 2]), index: new Index([["a", 1]]), tags: new Tags(["x"]) }),
    typescript: ["await $index.forEach((n) => n)", "await $tags.forEach((n) => n)", "await $rows.forEach((n) => n)"],
    errors: /forEach/,
    notApplicable: copiesDerived,
    holds: ({ message }) => assert.match(message, /read|copy/i),
  }),
  220: defineCase("methods of a built-in typed array refuse a callback by name", {
    host: () => ({ samples: new Samples([1, 2]) }),
    typescript: ["await $samples.map((n) => n * 2)", "await $samples.every((n) => n > 0)"],
    errors: /map|every/,
    notApplicable: copiesDerived,
    holds: ({ message }) => assert.match(message, /read|copy/i),
  }),
  221: defineCase("an array that is a field refuses a callback by name when it was not read first", {
    host: () => ({ store: { items: [1, 2, 3], add: () => 1 } }),
    typescript: ["await $store.items.filter((n) => n > 2)", "await $store.items.forEach((n) => n)"],
    errors: /filter|forEach/,
    notApplicable: { python: "Python reads a member when it is named" },
    holds: async ({ value, message }) => {
      assert.match(message, /read|copy|await/i)
      assert.deepEqual(await value({ typescript: "(await $store.items).filter((n) => n > 2)", python: "" }), [3])
    },
  }),
  222: defineCase("built-in methods without a callback work on a handle", {
    host: () => ({ rows: new Proxy([1, 2, 3], {}) }),
    typescript: "[await $rows.includes(2), await $rows.indexOf(3), await $rows.join('-')]",
    value: [true, 2, "1-2-3"],
  }),
  224: defineCase("a Map or Set of a derived class is used by its own and its inherited methods", {
    host: () => ({ index: new Index([["a", 1]]), tags: new Tags(["x"]) }),
    typescript: "[await $index.get('a'), await $index.total(), await $tags.has('y'), await $tags.total()]",
    value: [1, 1, false, 1],
    notApplicable: copiesDerived,
  }),
  223: defineCase("a host function that a host method returns takes a callback of the cell", {
    host: () => ({ make: () => async (callback: Callback) => `made ${await callback(2)}` }),
    typescript: "const made = await $make()\nawait made((n) => n + 1)",
    python: "made = $make()\nmade(lambda n: n + 1)",
    value: "made 3",
  }),
} as const

class Rows extends Array<number> {
  total() {
    return this.length
  }
}

class Index extends Map<string, number> {
  total() {
    return this.size
  }
}

class Tags extends Set<string> {
  total() {
    return this.size
  }
}

class Samples extends Float64Array {
  total() {
    return this.length
  }
}

function listeners() {
  const all: Callback[] = []
  return {
    all,
    listen: (callback: unknown) => void all.push(callable(callback)),
    tell: async (...args: unknown[]) => {
      for (const callback of all) await callback(...args)
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
