import { runInThisContext } from "node:vm"
import { z } from "zod"
import { type Bindings, classType, fn, isBinding, variable } from "../../../src/runtime/bindings.ts"
import { badExplicit, goodExplicit } from "./type-gate-explicit-corpus.ts"
import { badLater, goodLater, laterBindings } from "./type-gate-later-corpus.ts"
import { badInShop, goodInShop, shopBindings } from "./type-gate-shop-corpus.ts"

/** A cell with the cells that ran before it in the same runtime. */
export interface GoodCell {
  title: string
  before?: string[]
  code: string
  /** The bindings of the runtime. Default: those of most cells. */
  bindings?: () => Bindings
}

/** Correct cells that work only in the host's process: they use results of methods without an await, or pass functions
 *  to the host. */
export const needsTheObjectItself: ReadonlySet<string> = new Set([
  "a chain of methods",
  "a getter",
  "a field that a live object gets in the cell",
  "a member asked for with a default",
  "a test for a method",
  "elements of a list of instances",
  "a static method",
  "an awaited method",
  "a sync function",
  "a callback given to the host",
  "a live iterable",
  "a live iterable spread",
  "chained methods of an instance",
  "an inherited method",
  "a new instance of an injected class",
  "a subclass of an injected class",
  "a sync function in arithmetic",
  "Intl, structuredClone, URL, crypto",
  "a method given to a live object",
  "a method given before to a live object",
  "an await inside an expression",
  "a computed method",
  "an error asked by instanceof",
])

/** The same bindings for a runtime in another process, where no function is sync. */
export function withoutSync(bindings: Bindings): Bindings {
  const entries = Object.entries(bindings).map(([name, binding]) => {
    const isSync = isBinding(binding) && binding.kind === "function" && binding.options.sync
    return [name, isSync ? { ...binding, options: { ...binding.options, sync: false } } : binding] as const
  })
  return Object.fromEntries(entries)
}

export interface BadCell extends GoodCell {
  /** The text that the refusal must contain. */
  names: string
}

class Light {
  name: string
  brightness = 0
  constructor(name: string) {
    this.name = name
  }
  dim(level: number) {
    this.brightness = level
    return this
  }
  async blink(times: number) {
    return times
  }
  get isOn() {
    return this.brightness > 0
  }
  static all(): Light[] {
    return []
  }
}

class Account {
  owner: string
  balance = 100
  constructor(owner: string) {
    this.owner = owner
  }
  deposit(amount: number) {
    this.balance += amount
    return this.balance
  }
  async transfer(to: Account, amount: number) {
    this.balance -= amount
    to.balance += amount
    return { id: "t1", amount, fee: 1 }
  }
  static open(owner: string) {
    return new Account(owner)
  }
}

const accountSource = `class Account {
  owner: string
  balance: number
  constructor(owner: string) {}
  /** Puts money in. */
  deposit(amount: number): number { return 0 }
  async transfer(to: Account, amount: number): Promise<{ id: string; amount: number; fee: number }> { throw 0 }
  static open(owner: string): Account { throw 0 }
}`

const order = (id: number) => ({ id, customer: "Ann", total: id * 10, items: [{ sku: "a", price: 5, quantity: id }] })
const orderType = `{ id: number; customer: string; total: number; items: { sku: string; price: number; quantity: number }[] }`

/** The bindings of every cell of the corpus. */
export function corpusBindings(): Bindings {
  const orders = [order(1), order(2), order(3)]
  return {
    light: new Light("desk"),
    lights: [new Light("hall"), new Light("kitchen")],
    account: new Account("Ann"),
    Account: classType(Account, { source: accountSource }),
    Task: classType(z.object({ name: z.string(), done: z.boolean(), due: z.string().optional() })),
    Status: classType({ Open: "open", Done: "done" }),
    tasks: variable([{ name: "write", done: false }] as { name: string; done: boolean; due?: string }[], {
      type: "Task[]",
    }),
    rows: [
      { city: "Oslo", temperature: 3, tags: ["cold"] },
      { city: "Rome", temperature: 21, tags: [] as string[] },
    ],
    config: { retries: 3, server: { host: "localhost", port: 80 } },
    stock: new Map([["apple", 3]]),
    seen: new Set(["a"]),
    startedAt: new Date(0),
    report: null,
    listOrders: fn(async (_limit?: number) => orders, { signature: `(limit?: number) => Promise<${orderType}[]>` }),
    getOrder: fn(async (id: number) => order(id), { signature: `(id: number) => Promise<${orderType}>` }),
    addTask: fn(async (name: string, options: object = {}) => ({ name, done: false, ...options }), {
      signature: "(name: string, options?: { due?: string; priority?: number }) => Promise<Task>",
    }),
    sendMail: fn(async ({ to }: { to: string; subject: string }) => ({ id: "m1", accepted: [to] }), {
      input: z.object({ to: z.string(), subject: z.string(), body: z.string().optional() }),
      output: z.object({ id: z.string(), accepted: z.array(z.string()) }),
    }),
    average: fn((values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length, {
      signature: "(values: number[]) => number",
      sync: true,
    }),
    isHoliday: fn(async () => false, { signature: "(date: string) => Promise<boolean>" }),
    countOrders: fn(async () => 3, { signature: "() => Promise<number>" }),
    pick: fn(async (list: unknown[]) => list[0], { signature: "<T>(list: T[]) => Promise<T>" }),
    each: fn(async (list: unknown[], use: (item: unknown) => unknown) => list.map((item) => use(item)), {
      signature: "<T, R>(list: T[], use: (item: T) => R) => Promise<R[]>",
    }),
    // Code without a file, so that its types are inferred.
    search: runInThisContext("(function search(text, limit = 10) { return [{ text, limit }] })"),
  }
}

/** Correct cells. None may be refused. */
export const good: GoodCell[] = [
  {
    title: "a list of the host's type that is given more",
    code: "tasks.push({ name: 'x', done: false, extra: 1 })\ntasks.at(-1).extra",
  },
  {
    title: "promises replaced by their values",
    code: "const jobs = { a: getOrder(1) }\nfor (const key in jobs) { jobs[key] = await jobs[key] }\njobs.a.total",
  },
  {
    title: "a promise that is awaited if it is one",
    code: "let result = countOrders()\nif (result instanceof Promise) result = await result\nresult + 1",
  },
  {
    title: "results that get a field",
    code: "const orders = await listOrders()\norders.forEach((each) => { each.tax = each.total * 0.1 })\norders[0].tax.toFixed(2)",
  },
  {
    title: "a class that sets its fields itself",
    code: "class Pair { constructor() { this.left = 1 } sum() { return this.left + 1 } }\nnew Pair().sum()",
  },
  {
    title: "a function with fields",
    code: "const next = function () { return next.count++ }\nnext.count = 0\nnext()\nnext.count",
  },
  { title: "an error with a code", code: "const error = new Error('x')\nerror.code = 'E1'\nerror.code.length" },
  { title: "a computed method", code: "const name = 'dim'\nlight[name](3)\nlight['dim'](4).brightness" },
  {
    title: "settled promises",
    code: "const [one] = await Promise.allSettled([getOrder(1)])\none.status === 'fulfilled' && one.value.total",
  },
  {
    title: "a helper without types in an earlier cell",
    before: ["async function load(id) { const found = await getOrder(id); return { ...found, extra: 1 } }"],
    code: "const loaded = await load(1)\nloaded.extra + loaded.total",
  },
  { title: "a method of an injected object", code: "light.dim(20); light.brightness" },
  { title: "a getter", code: "light.isOn ? 'on' : 'off'" },
  { title: "a chain of methods", code: "light.dim(10).dim(20).brightness" },
  { title: "a field that a live object gets in the cell", code: "light.color = 'red'\nlight.color.length" },
  { title: "a member asked for with a default", code: "light.colour ?? 'none'" },
  { title: "a method called only if it is there", code: "light.fade?.(3)" },
  { title: "a test for a method", code: "if (typeof light.fade === 'function') light.fade(3)" },
  {
    title: "elements of a list of instances",
    code: "for (const each of lights) each.dim(5)\nlights.map((each) => each.name)",
  },
  { title: "a static method", code: "Account.open('Bob').deposit(5)" },
  { title: "an awaited method", code: "const receipt = await account.transfer(Account.open('Bob'), 5)\nreceipt.fee" },
  {
    title: "an awaited function",
    code: "const found = await getOrder(7)\nfound.items[0].price * found.items[0].quantity",
  },
  { title: "await in parentheses", code: "(await listOrders()).length" },
  { title: "an optional argument left out", code: "await listOrders()\nawait listOrders(2)" },
  { title: "options", code: "await addTask('x', { due: '2030-01-01', priority: 1 })" },
  { title: "some of the options", code: "const task = await addTask('x', {})\ntask.done" },
  {
    title: "a schema's argument",
    code: "const { accepted } = await sendMail({ to: 'a@b.c', subject: 'hi' })\naccepted.join(', ')",
  },
  { title: "a sync function", code: "average([1, 2, 3]).toFixed(2)" },
  {
    title: "calls in parallel",
    code: "const [a, b] = await Promise.all([getOrder(1), getOrder(2)])\na.total + b.total",
  },
  {
    title: "promises collected and awaited later",
    code: "const jobs = [1, 2].map((id) => getOrder(id))\nconst done = await Promise.all(jobs)\ndone[0].customer",
  },
  {
    title: "promises pushed into a list that was typed for values",
    code: "const jobs: { id: number }[] = []\njobs.push(getOrder(1))\nconst done = await Promise.all(jobs)\ndone.length",
  },
  { title: "then instead of await", code: "await getOrder(1).then((found) => found.total)" },
  { title: "a promise kept under a wrong type and awaited", code: "const later: number = countOrders()\nawait later" },
  {
    title: "sums over declared data",
    code: "const orders = await listOrders()\norders.reduce((sum, { total }) => sum + total, 0)",
  },
  {
    title: "a callback with destructuring and defaults",
    code: "(await listOrders()).map(({ id, customer, note = '' }) => `${id} ${customer} ${note}`)",
  },
  {
    title: "grouping",
    code: "const groups = Object.groupBy(await listOrders(), (each) => each.customer)\nObject.keys(groups)",
  },
  {
    title: "a Map built from data",
    code: "const byId = new Map((await listOrders()).map((each) => [each.id, each]))\nbyId.get(1)?.total",
  },
  {
    title: "an injected Map",
    code: "stock.set('pear', 2)\nArray.from(stock.entries()).filter(([, count]) => count > 2)",
  },
  { title: "an injected Set", code: "seen.add('b').size" },
  { title: "set operations", code: "seen.union(new Set(['c'])).size" },
  { title: "an injected date", code: "startedAt.toISOString().slice(0, 10)" },
  { title: "an enum", code: "const state = Status.Done\nstate.toUpperCase()" },
  { title: "inferred rows", code: "rows.filter((row) => row.temperature > 5).map((row) => row.city.toUpperCase())" },
  { title: "a field that no sampled row has", code: "rows.map((row) => row.wind ?? 0)" },
  {
    title: "rows that get a field",
    code: "for (const row of rows) row.warm = row.temperature > 10\nrows.filter((row) => row.warm).length",
  },
  { title: "an object of settings that grows", code: "config.debug = true\nconfig.debug" },
  { title: "a setting that may be missing", code: "config.timeout || 30" },
  {
    title: "an object literal that grows",
    code: "const summary = { count: 0 }\nsummary.count++\nsummary.label = 'x'\nsummary.label.length",
  },
  {
    title: "an empty object that is filled",
    code: "const totals = {}\nfor (const row of rows) totals[row.city] = row.temperature\ntotals.Oslo",
  },
  {
    title: "an empty list that is filled",
    code: "const out = []\nfor (const row of rows) out.push({ name: row.city })\nout[0].name",
  },
  { title: "an empty variable that is filled", code: "report = { title: 'x' }\nreport.title.length" },
  {
    title: "an injected variable that becomes another thing",
    code: "tasks = new Map(tasks.map((task) => [task.name, task]))\ntasks.get('write')",
  },
  {
    title: "an injected variable that became another thing before",
    before: ["tasks = new Map(tasks.map((task) => [task.name, task]))"],
    code: "tasks.get('write')",
  },
  {
    title: "an injected name declared again",
    code: "const rows = { total: 3, list() { return [1] } }\nrows.list().length",
  },
  {
    title: "an injected name that an earlier cell declared again",
    before: ["const tasks = new Set(['a'])"],
    code: "tasks.has('a')",
  },
  { title: "a name of an earlier cell", before: ["const best = (await listOrders()).at(-1)"], code: "best.total" },
  {
    title: "a function of an earlier cell",
    before: ["function double(n: number) { return n * 2 }"],
    code: "double(4).toFixed(1)",
  },
  {
    title: "a function with too few arguments, which JavaScript allows",
    before: ["function greet(name: string, mark: string) { return name + (mark ?? '!') }"],
    code: "greet('Ann')",
  },
  {
    title: "a class of an earlier cell",
    before: ["class Counter { count = 0; add(n = 1) { this.count += n; return this } }"],
    code: "const counter = new Counter()\ncounter.add().add(2).count",
  },
  {
    title: "an instance that gets a field",
    before: ["class Box { size = 1 }", "const box = new Box()"],
    code: "box.label = 'x'\nbox.label.length",
  },
  {
    title: "a class declared again, with an old instance",
    before: [
      "class Pet { speak() { return 'woof' } }",
      "const pet = new Pet()",
      "class Pet { meow() { return 'meow' } }",
    ],
    code: "pet.speak()",
  },
  {
    title: "an interface of an earlier cell",
    before: ["interface Point { x: number; y: number }"],
    code: "const p: Point = { x: 1, y: 2 }\np.x + p.y",
  },
  { title: "a type nobody declared", code: "const value: Whatever = 3 as Whatever\nvalue + 1" },
  {
    title: "a claim that is smaller than the truth",
    code: "interface Small { id: number }\nconst list = (await listOrders()) as Small[]\nlist[0].total",
  },
  { title: "parsed text", code: 'const data = JSON.parse(\'{"a": { "b": [1] }}\')\ndata.a.b[0]' },
  {
    title: "parsed text under a claim",
    code: 'const data = JSON.parse(\'{"name": "x", "done": true, "extra": 1}\') as Task\ndata.extra',
  },
  { title: "a variable that changes its type", code: "let value = 1\nvalue = 'text'\nvalue.toUpperCase()" },
  {
    title: "a variable of an earlier cell that changes its type",
    before: ["let mixed = 1", "mixed = 'text'"],
    code: "mixed.toUpperCase()",
  },
  {
    title: "a list that holds more than it began with",
    code: "const list = [1, 2]\nlist.push('x')\nlist.at(-1).toUpperCase()",
  },
  {
    title: "a counter in a closure",
    before: ["let count = 0\nconst increment = () => ++count", "increment()"],
    code: "count.toFixed(1)",
  },
  { title: "a generic function", code: "const first = await pick(rows)\nfirst.city" },
  {
    title: "a callback given to the host",
    code: "(await each(['a', 'b'], (text) => text.length)).reduce((a, b) => a + b, 0)",
  },
  { title: "a function of the host without declared types", code: "const hits = await search('x')\nhits[0].text" },
  { title: "more arguments than inspection saw", code: "await search('x', 5, true)" },
  {
    title: "globals of Node",
    code: "const url = new URL('https://example.com/a?b=1')\nurl.searchParams.get('b') + Buffer.from('a').toString('hex') + structuredClone([1]).length",
  },
  { title: "a type of Node", code: "const timer: NodeJS.Timeout = setTimeout(() => {}, 1)\nclearTimeout(timer)" },
  {
    title: "imports",
    code: "import { join } from 'node:path'\nimport * as os from 'node:os'\njoin('a', 'b').length + os.EOL.length",
  },
  { title: "a dynamic import", code: "const { basename } = await import('node:path')\nbasename('/a/b')" },
  { title: "a name asked for by typeof", code: "typeof window === 'undefined' ? 'node' : window.title" },
  { title: "a name made by assignment", code: "answer = 42\nanswer + 1" },
  { title: "a name made on globalThis", code: "globalThis.shared = [1]\nshared.length" },
  { title: "a name of an earlier assignment", before: ["answer = { value: 42 }"], code: "answer.value" },
  {
    title: "functions used before they are written",
    code: "const result = twice(3)\nfunction twice(n: number) { return n * 2 }\nresult",
  },
  {
    title: "labels, loops and switches",
    code: "outer: for (const row of rows) {\n  switch (row.city) {\n    case 'Oslo': continue outer\n    default: break outer\n  }\n}",
  },
  { title: "an error that is caught", code: "try {\n  JSON.parse('{')\n} catch (error) {\n  error.message.length\n}" },
  {
    title: "a regular expression's groups",
    code: "const match = /(?<year>\\d+)-(?<month>\\d+)/.exec('2024-05')\nmatch?.groups?.year",
  },
  { title: "iterators", code: "[...stock.keys().map((key) => key.toUpperCase())]" },
  {
    title: "a generator",
    code: "function* upTo(n: number) { for (let i = 0; i < n; i++) yield i }\n[...upTo(3)].length",
  },
  {
    title: "a symbol and a bigint",
    code: "const key = Symbol('k')\nconst map = { [key]: 10n ** 20n }\nmap[key].toString()",
  },
  {
    title: "a wider object handed to a helper",
    code: "function show(order: { id: number }) { return order.total }\nshow(await getOrder(1))",
  },
  {
    title: "an object spread and enriched",
    code: "const rich = (await listOrders()).map((each) => ({ ...each, tax: each.total * 0.2 }))\nrich[0].label = 'x'\nrich[0].tax + rich[0].label",
  },
  {
    title: "Object.assign gives an object a method",
    code: "Object.assign(config, { show() { return 1 } })\nconfig.show()",
  },
  { title: "an enum of the cell", code: "enum Level { Low, High }\nLevel[Level.High].length" },
  {
    title: "a member narrowed by in",
    code: "const any: { a: number } | { b: string } = { b: 'x' } as { a: number } | { b: string }\n'b' in any ? any.b.length : any.a",
  },
  {
    title: "a promise tested for being there",
    code: "let pending\nif (!pending) pending = getOrder(1)\nconst found = await pending\nfound.total",
  },
  {
    title: "a tagged template and optional calls",
    code: "const tag = (parts: TemplateStringsArray, ...values: unknown[]) => parts.join('') + values.length\ntag`a${1}b`",
  },
  { title: "text around an emoji", code: "const s = 'é😀'\nArray.from(s).length + s.at(0).length" },
  ...goodInShop.map((cell) => ({ ...cell, bindings: shopBindings })),
  ...goodLater.map((cell) => ({ ...cell, bindings: laterBindings })),
  ...goodExplicit,
]

/** Cells that fail, or do something unintended. Each must be refused before anything runs. */
export const bad: BadCell[] = [
  { title: "an unknown function", code: "const orders = await fetchOrders()", names: "fetchOrders" },
  { title: "a misspelt function", code: "await lstOrders()", names: "Did you mean 'listOrders'" },
  { title: "a misspelt variable", code: "rowz.length", names: "Did you mean 'rows'" },
  { title: "an unknown name as an argument", code: "await getOrder(orderId)", names: "orderId" },
  { title: "an unknown name in a shorthand", code: "console.log({ subject })", names: "subject" },
  { title: "an unknown name in a template", code: "`${userName} has ${rows.length}`", names: "userName" },
  { title: "an unknown name in a callback", code: "rows.map((row) => row.temperature * factor)", names: "factor" },
  { title: "an unknown name after work", code: "light.dim(50)\nsave(light)", names: "save" },
  {
    title: "an unknown name inside a function",
    code: "function total() { return sumOf(rows) }\ntotal()",
    names: "sumOf",
  },
  { title: "an unknown class", code: "new Invoice()", names: "Invoice" },
  { title: "Python's print", code: "print(rows)", names: "print" },
  { title: "Python's len", code: "len(rows)", names: "len" },
  { title: "require", code: "const fs = require('fs')", names: "require" },
  {
    title: "an interface used as a value",
    before: ["interface Point { x: number }"],
    code: "new Point()",
    names: "Point",
  },
  {
    title: "a name of a block used outside it",
    code: "for (const row of rows) { const last = row }\nlast.city",
    names: "last",
  },
  {
    title: "a misspelt name of an earlier cell",
    before: ["const summary = 'text'"],
    code: "sumary.length",
    names: "Did you mean 'summary'",
  },
  { title: "a misspelt global", code: "consle.log(1)", names: "console" },
  { title: "a misspelt member of console", code: "console.lgo(1)", names: "lgo" },
  { title: "a misspelt method of a live object", code: "light.dimm(20)", names: "Did you mean 'dim'" },
  { title: "an unknown method of a live object", code: "light.setBrightness(20)", names: "setBrightness" },
  { title: "a misspelt method after another call", code: "light.dim(5)\nlight.dimm(6)", names: "dimm" },
  { title: "an unknown method of an element", code: "lights[0].turnOff()", names: "turnOff" },
  { title: "an unknown method deep in data", code: "config.server.connect()", names: "connect" },
  { title: "an unknown object in data", code: "config.database.host", names: "database" },
  { title: "an unknown static method", code: "Account.create('Bob')", names: "create" },
  {
    title: "an unknown method of a declared class",
    code: "const bob = Account.open('Bob')\nbob.withdraw(5)",
    names: "withdraw",
  },
  { title: "an unknown method of a new instance", code: "new Account('Bob').withdraw(5)", names: "withdraw" },
  {
    title: "a misspelt field of a declared class",
    code: "const bob = Account.open('Bob')\nbob.balanse + 1",
    names: "Did you mean 'balance'",
  },
  {
    title: "a misspelt field that is written",
    code: "const bob = Account.open('Bob')\nbob.balanc = 5",
    names: "Did you mean 'balance'",
  },
  { title: "a field the result does not have", code: "const found = await getOrder(1)\nfound.amount", names: "amount" },
  {
    title: "a misspelt field of the result",
    code: "const found = await getOrder(1)\nfound.custmer.length",
    names: "Did you mean 'customer'",
  },
  { title: "a field no order of the list has", code: "(await listOrders())[0].price", names: "price" },
  {
    title: "a field in a callback over declared data",
    code: "const orders = await listOrders()\norders.map((each) => each.amount)",
    names: "amount",
  },
  { title: "a destructured field that is not there", code: "const { totl } = await getOrder(1)", names: "totl" },
  {
    title: "a destructured parameter that is not there",
    code: "(await listOrders()).map(({ amount }) => amount)",
    names: "amount",
  },
  {
    title: "a field in a loop over declared data",
    code: "for (const each of await listOrders()) console.log(each.items[0].cost)",
    names: "cost",
  },
  {
    title: "a field of a schema's result",
    code: "const sent = await sendMail({ to: 'a', subject: 'b' })\nsent.messageId",
    names: "messageId",
  },
  { title: "a field of a declared type", code: "tasks[0].title", names: "title" },
  {
    title: "a field of a declared type in a callback",
    code: "tasks.filter((task) => task.completed)",
    names: "completed",
  },
  { title: "an unknown value of an enum", code: "Status.Closed", names: "Closed" },
  {
    title: "an annotated result with a wrong field",
    code: "const task: Task = await addTask('x')\ntask.title",
    names: "title",
  },
  {
    title: "a wrong field of an earlier cell's result",
    before: ["const first = await getOrder(1)"],
    code: "first.items[0].prize.toFixed(2)\nfirst.total.toFixd(2)",
    names: "toFixd",
  },
  { title: "a wrong method on text", code: "'abc'.toUpper()", names: "toUpper" },
  { title: "a wrong method on an array", code: "rows.contains(rows[0])", names: "contains" },
  { title: "length of a Map", code: "stock.length.toFixed()", names: "length" },
  { title: "an array's method on a Map", code: "stock.map((each) => each)", names: "map" },
  { title: "an array's method on a Set", code: "seen.push('b')", names: "push" },
  { title: "an unknown method on a date", code: "startedAt.format('YYYY')", names: "format" },
  {
    title: "an unknown method on a number",
    code: "const total = (await listOrders()).reduce((sum, each) => sum + each.total, 0)\ntotal.round()",
    names: "round",
  },
  {
    title: "an unknown method of a cell's class",
    before: ["class Counter { count = 0; add() { this.count++ } }", "const counter = new Counter()"],
    code: "counter.increment()",
    names: "increment",
  },
  { title: "an unknown member of Math", code: "Math.average(1, 2)", names: "average" },
  { title: "an unknown member of JSON", code: "JSON.decode('{}')", names: "decode" },
  { title: "a missing await before a member", code: "const found = getOrder(1)\nfound.total", names: "await" },
  { title: "a missing await before an index", code: "listOrders().length", names: "await" },
  { title: "a missing await before a callback", code: "listOrders().map((each) => each.total)", names: "await" },
  { title: "a missing await before a destructuring", code: "const { total } = getOrder(1)", names: "total" },
  { title: "a missing await in arithmetic", code: "const doubled = countOrders() * 2", names: "await" },
  { title: "a missing await in an addition", code: "countOrders() + 1", names: "Promise<number>" },
  { title: "a missing await in a comparison", code: "countOrders() > 2 ? 'many' : 'few'", names: "Promise<number>" },
  { title: "a missing await in an equality", code: "countOrders() === 3", names: "Promise<number>" },
  { title: "a missing await in a loop", code: "for (const each of listOrders()) console.log(each)", names: "await" },
  { title: "a missing await in a spread", code: "const all = [...listOrders()]", names: "await" },
  {
    title: "a missing await in a condition",
    code: "if (isHoliday('2030-01-01')) console.log('closed')",
    names: "await",
  },
  { title: "a missing await under a negation", code: "const open = !isHoliday('2030-01-01')", names: "await" },
  { title: "a missing await in a template", code: "`There are ${countOrders()} orders`", names: "await" },
  { title: "a missing await in an argument", code: "await getOrder(countOrders())", names: "await" },
  { title: "a missing await on an inferred function", code: "search('x').length", names: "await" },
  { title: "a missing await on a method", code: "account.transfer(Account.open('B'), 5).fee", names: "await" },
  {
    title: "a missing await of an earlier cell",
    before: ["const waiting = getOrder(1)"],
    code: "waiting.total",
    names: "await",
  },
  { title: "a missing await on fetch", code: "const data = fetch('http://localhost/').json()", names: "await" },
  { title: "too few arguments", code: "await getOrder()", names: "Expected 1 arguments" },
  { title: "too many arguments", code: "await getOrder(1, true)", names: "Expected 1 arguments" },
  { title: "no argument for a schema", code: "await sendMail()", names: "Expected 1 arguments" },
  { title: "arguments instead of an object", code: "await sendMail('a@b.c', 'hello')", names: "Expected 1 arguments" },
  {
    title: "too few arguments for a declared method",
    code: "account.transfer(Account.open('Bob'))",
    names: "Expected 2 arguments",
  },
  { title: "too few arguments for a declared class", code: "new Account()", names: "Expected 1 arguments" },
  { title: "too many optional arguments", code: "await addTask('x', {}, 'high')", names: "Expected 1-2 arguments" },
  { title: "a misspelt option", code: "await addTask('x', { prioriti: 1 })", names: "prioriti" },
  { title: "an unknown option", code: "await addTask('x', { assignee: 'Ann' })", names: "assignee" },
  { title: "an unknown field of a schema", code: "await sendMail({ to: 'a', subject: 'b', cc: 'c' })", names: "cc" },
  { title: "text that is called", code: "(await getOrder(1)).customer()", names: "not callable" },
  ...badInShop.map((cell) => ({ ...cell, bindings: shopBindings })),
  ...badLater.map((cell) => ({ ...cell, bindings: laterBindings })),
  ...badExplicit,
]
