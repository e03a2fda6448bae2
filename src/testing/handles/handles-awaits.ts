// Cases of the handle suite: a member or call result that was not awaited is never usable as a value. The cell fails
// and the error says "write `await`".
import assert from "node:assert/strict"
import { casesWith, type HandleCase } from "./handles-case.ts"

const defineHostCase = casesWith({ host })

const readsAtOnce = { python: "Python reads a member when it is named" }

export const awaitCases = {
  80: refused("arithmetic", [
    "$order.total + 1",
    "1 + $order.total",
    "$order.total - 1",
    "$order.total * 2",
    "$order.total / 2",
    "$order.total % 2",
    "$order.total ** 2",
    "$order.total | 1",
    "$order.total << 1",
  ]),
  81: refused("a sign, a complement or an increment", [
    "-$order.total",
    "+$order.total",
    "~$order.total",
    "$order.total++",
    "$order.total += 1",
    "Number($order.total)",
    "Math.max($order.total, 1)",
  ]),
  82: refused("a text", [
    "`total ${$order.total}`",
    "'total ' + $order.total",
    "String($order.name)",
    "$order.name + ''",
    "parseInt($order.total)",
    "['a'].join($order.name)",
    "({})[$order.name]",
  ]),
  83: refused("an order of two values", [
    "$order.total > 3",
    "3 < $order.total",
    "$order.total <= 3",
    "$order.total >= $order.total",
  ]),
  84: refused("an equality", [
    "$order.total === 5",
    "5 === $order.total",
    "$order.total !== 5",
    "$order.total == 5",
    "$order.total != null",
    "$order.missing === undefined",
    "const same = (a) => a === 5\nsame($order.total)",
  ]),
  85: refused("a condition", [
    "if ($order.open) 1",
    "if (!$order.open) 1",
    "const is = !$order.open",
    "const either = $order.open ? 1 : 2",
    "while ($order.open) break",
    "for (; $order.open; ) break",
    "do { 1 } while ($order.open)",
    "if (true && $order.open) 1",
    "const any = $order.open || 1",
    "const all = $order.open && 1",
    "Boolean($order.open)",
  ]),
  86: refused("a default for what is missing", [
    "const some = $order.missing ?? 'none'",
    "let a = $order.missing\na ??= 1",
  ]),
  87: refused("typeof or a switch", [
    "typeof $order.total",
    "switch ($order.name) { case 'x': 1 }",
    "switch ('x') { case $order.name: 1 }",
  ]),
  88: refused("something to iterate", [
    "for (const item of $order.items) item",
    "[...$order.items]",
    "Math.max(...$order.items)",
    "const [first] = $order.items",
    "Array.from($order.items)",
    "new Set($order.items)",
    "new Map($order.items)",
  ]),
  89: refused("an object with keys", [
    "({ ...$order.customer })",
    "Object.keys($order.customer)",
    "Object.values($order.customer)",
    "Object.entries($order.customer)",
    "Object.assign({}, $order.customer)",
    "for (const key in $order.customer) key",
    "'name' in $order.customer",
  ]),
  90: refused("JSON", [
    "JSON.stringify($order.total)",
    "JSON.stringify({ total: $order.total })",
    "JSON.stringify([[$order.customer]])",
  ]),
  91: refused("an instance or an element of an array", [
    "$order.at instanceof Date",
    "[5].includes($order.total)",
    "[5].indexOf($order.total)",
    "new Map([[5, 'five']]).get($order.total)",
    "new Date($order.at)",
  ]),
  92: refused("the bound of a loop", [
    "for (let i = 0; i < $order.items.length; i++) i",
    "let n = 0\nwhile (n < $order.items.length) n++",
    "Array.from({ length: $order.total })",
    "new Array(3).slice($order.total)",
  ]),
  93: refused("the result of a predicate", [
    "$tasks.filter((task) => task.done).length",
    "$tasks.find((task) => task.done)",
    "$tasks.some((task) => task.done)",
    "$tasks.sort((a, b) => a.rank - b.rank)",
    "$tasks.map((task) => task.rank)",
  ]),
  94: refused("an argument of a host function or method", [
    "await $take($order.total)",
    "await $take([{ total: $order.total }])",
    "await $order.add($order.total)",
    "$order.total = $order.extra",
  ]),
  95: refused("the result of a method", [
    "$order.sum() + 1",
    "`${$order.sum()}`",
    "$order.sum() > 3",
    "$order.sum() === 5",
    "if ($order.isOpen()) 1",
    "const open = !$order.isOpen()",
    "$order.isOpen() ? 1 : 2",
    "[...$order.list()]",
    "for (const item of $order.list()) item",
    "typeof $order.sum()",
    "JSON.stringify({ sum: $order.sum() })",
    "await $take($order.sum())",
    "Object.keys($order.list())",
    "switch ($order.sum()) { case 5: 1 }",
  ]),
  96: refused("the result of a function binding", [
    "$double(2) + 1",
    "`${$double(2)}`",
    "$double(2) > 3",
    "$double(2) === 4",
    "if ($double(2)) 1",
    "[...$double(2)]",
    "JSON.stringify([$double(2)])",
    "await $take($double(2))",
    "const result = $double(2)\nresult - 1",
  ]),
  97: refused("a member of a call result", [
    "await $order.list().length",
    "$order.list().length > 0",
    "$make().total + 1",
  ]),
  98: defineHostCase("a member that is neither awaited, called nor walked fails its cell with its line", {
    typescript: ["1\nconst total = $order.total\n2", "1\nconst both = [\n  $order.total,\n]\n2"],
    errors: /write `await\b/,
    notApplicable: readsAtOnce,
    holds({ executions }) {
      assert.deepEqual(
        executions.map((execution) => !execution.ok && execution.error.line),
        [2, 3],
      )
    },
  }),
  99: defineHostCase("a member that is printed but not awaited fails its cell", {
    typescript: "console.log($order.total)\n1",
    error: /write `await\b/,
    notApplicable: readsAtOnce,
    holds: ({ last }) => assert.doesNotMatch(last.stdout, /\b5\b/),
  }),
  100: defineHostCase("a member that was taken apart from its object needs its await too", {
    typescript: ["const { total } = $order\n;[await total, 1]", "const { total: taken } = $order\ntaken + 1"],
    error: /write `await\b/,
    notApplicable: readsAtOnce,
    holds({ executions: [first] }) {
      assert.ok(first?.ok)
      assert.deepEqual(first.value, [5, 1])
    },
  }),
  101: defineHostCase("a function of an earlier cell that forgets the await fails the cell that calls it", {
    typescript: [
      "const isLarge = (order) => order.total > 3\nconst check = async (order) => (await order.total) > 3\n1",
      "isLarge($order)",
    ],
    error: /write `await\b/,
    notApplicable: readsAtOnce,
    holds: async ({ value }) => {
      assert.equal(await value({ typescript: "await check($order)", python: "" }), true)
    },
  }),
  102: defineHostCase("the error names the member as the cell wrote it, and the cure", {
    typescript: ["$order.customer.name + '!'", "if ($order.open) 1", "const kept = $order.customer.name\n1"],
    errors: /order\.(customer\.name|open).*write `await\b/,
    notApplicable: readsAtOnce,
  }),
  103: defineHostCase("awaited members are values in every position", {
    typescript: `const seen = [(await $order.total) + 1, \`\${await $order.name}\`, (await $order.total) === 5, typeof await $order.total]
      if (await $order.open) seen.push("open")
      for (const item of await $order.items) seen.push(item)
      seen.push(...(await $order.items), JSON.stringify(await $order.customer), (await $order.missing) ?? "none")
      seen`,
    value: [6, "first", true, "number", "open", "a", "b", "a", "b", '{"name":"Ada"}', "none"],
    notApplicable: readsAtOnce,
  }),
  104: defineHostCase(
    "a member may be awaited later, by then, by Promise.all or by returning it from an async function",
    {
      typescript: `const later = $order.total
      const all = await Promise.all([$order.total, $order.name, $order.sum()])
      const chained = await $order.total.then((total) => total + 1)
      const returned = await (async () => $order.total)()
      ;[await later, all, chained, returned, await Promise.race([$order.total])]`,
      value: [5, [5, "first", 5], 6, 5, 5],
      notApplicable: readsAtOnce,
    },
  ),
  105: defineHostCase("a call that is not awaited is made before its cell ends", {
    typescript: "$order.add(2)\n1",
    value: 1,
    notApplicable: readsAtOnce,
    holds: ({ host: { order } }) => assert.equal(order.total, 7),
  }),
  106: defineHostCase("a handle itself is a value: it is true, equal to itself and an object", {
    typescript:
      "[$order ? 1 : 2, $order === $order, typeof $order, !$order, $order !== undefined, $order ?? 'none' ? 1 : 2, typeof $double]",
    value: [1, true, "object", false, true, 1, "function"],
    notApplicable: readsAtOnce,
  }),
} as const

function refused(position: string, cells: readonly string[]): HandleCase {
  return defineHostCase(
    `what was not awaited cannot be used as ${position}: the cell fails and says "write \`await\`"`,
    {
      typescript: cells.map((code) => `${code}\n0`),
      errors: /write `await\b|await it first/,
      notApplicable: readsAtOnce,
      holds: ({ taken, host: { order } }) => assert.deepEqual([taken, order.total], [[], 5]),
    },
  )
}

function host() {
  return {
    order: new Order(),
    tasks: [new Task(true, 2), new Task(false, 1)],
    double: (n: number) => n * 2,
    make: () => new Order(),
  }
}

class Order {
  total = 5
  extra = 3
  name = "first"
  open = true
  at = new Date(0)
  items = ["a", "b"]
  customer = { name: "Ada" }
  sum() {
    return this.total
  }
  isOpen() {
    return this.open
  }
  list() {
    return this.items
  }
  add(by: number) {
    this.total += by
  }
}

class Task {
  readonly done: boolean
  readonly rank: number
  constructor(done: boolean, rank: number) {
    this.done = done
    this.rank = rank
  }
  finish() {}
}
