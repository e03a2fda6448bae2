import { z } from "zod"
import { type Bindings, classType, fn, variable } from "../../../src/runtime/bindings.ts"
import type { BadCell, GoodCell } from "./type-gate-corpus.ts"

type Handler = (payload: unknown) => void

class Emitter {
  handlers = new Map<string, Handler[]>()
  on(event: string, handler: Handler) {
    this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler])
    return this
  }
  emit(event: string, payload?: unknown) {
    for (const handler of this.handlers.get(event) ?? []) handler(payload)
  }
}

class Store extends Emitter {
  #items = new Map<string, { sku: string; quantity: number; price: number }>()
  readonly currency = "EUR"
  get size() {
    return this.#items.size
  }
  set limit(_value: number) {}
  add(sku: string, quantity = 1, price = 0) {
    this.#items.set(sku, { sku, quantity, price })
    this.emit("added", sku)
    return this
  }
  find(sku: string) {
    return this.#items.get(sku)
  }
  async reserve(sku: string, quantity: number) {
    return { ok: this.#items.has(sku), sku, quantity, until: new Date(0) }
  }
  *[Symbol.iterator]() {
    yield* this.#items.values()
  }
  async *pages(size = 2) {
    const all = [...this.#items.values()]
    for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
  }
}

const shapes = [
  { kind: "circle", radius: 2 },
  { kind: "square", side: 3 },
] as const
const shapeType = '({ kind: "circle"; radius: number } | { kind: "square"; side: number })[]'

const customerType =
  "{ id: number; name: string; email?: string; address: { city: string; zip: string | null }; tags: Record<string, string> }"
const customer = (id: number) => ({
  id,
  name: `C${id}`,
  address: { city: "Bern", zip: id % 2 ? "3000" : null },
  tags: { tier: "gold" } as Record<string, string>,
})

/** The names of another runtime, a shop: generics, unions, optional members, index signatures, iterables, schemas. */
export function shopBindings(): Bindings {
  return {
    store: new Store().add("pen", 3, 2).add("ink", 1, 9),
    Store: classType(Store),
    bus: new Emitter(),
    shapes: variable(shapes, { type: shapeType }),
    prices: variable<Record<string, number>>({ pen: 2, ink: 9 }, { type: "Record<string, number>" }),
    cache: {} as Record<string, unknown>,
    raw: '{"users":[{"name":"Ann","roles":["admin"]}],"total":1}',
    measurements: new Float64Array([1.5, 2.5, 3.5]),
    headers: new Map<string, string[]>([["accept", ["a", "b"]]]),
    now: new Date("2026-01-15T10:00:00Z"),
    matrix: [
      [1, 2],
      [3, 4],
    ],
    current: null,
    people: [
      { name: "Ann", age: 31, manager: null },
      { name: "Bob", age: 25, manager: { name: "Ann" } },
    ],
    Level: classType({ Low: 1, High: 2 }),
    Customer: classType(z.object({ id: z.number(), name: z.string(), email: z.string().optional() })),
    getCustomer: fn(async (id: number) => customer(id), { signature: `(id: number) => Promise<${customerType}>` }),
    listCustomers: fn(async () => [customer(1), customer(2)], { signature: `() => Promise<${customerType}[]>` }),
    findCustomer: fn(async (name: string) => (name === "C1" ? customer(1) : undefined), {
      signature: `(name: string) => Promise<${customerType} | undefined>`,
    }),
    query: fn(async (_sql: string, ...values: unknown[]) => [{ n: values.length }], {
      signature: "<T = Record<string, unknown>>(sql: string, ...values: unknown[]) => Promise<T[]>",
    }),
    charge: fn(async ({ amount }: { amount: number }) => ({ id: "ch1", amount, status: "paid" }), {
      input: z.object({ amount: z.number(), currency: z.enum(["EUR", "USD"]).optional(), note: z.string().optional() }),
      output: z.object({ id: z.string(), amount: z.number(), status: z.enum(["paid", "failed"]) }),
    }),
    fetchJson: fn(async () => ({ items: [{ id: 1 }], next: null }), { signature: "(url: string) => Promise<any>" }),
    round: fn((value: number, digits = 0) => Number(value.toFixed(digits)), {
      signature: "(value: number, digits?: number) => number",
      sync: true,
    }),
    log: fn(async () => undefined, { signature: "(message: string, details?: object) => Promise<void>" }),
    groupBy: fn(
      async (list: { [key: string]: unknown }[], key: string) => Object.groupBy(list, (row) => String(row[key])),
      {
        signature: "<T, K extends keyof T>(list: T[], key: K) => Promise<Record<string, T[]>>",
      },
    ),
    untyped: (a: unknown, b: unknown) => ({ a, b }),
  }
}

/** Correct cells. None may be refused. */
export const goodInShop: GoodCell[] = [
  {
    title: "a union narrowed by its tag",
    code: "shapes.map((s) => s.kind === 'circle' ? s.radius ** 2 * Math.PI : s.side ** 2)",
  },
  {
    title: "a union narrowed by a switch",
    code: "let area = 0\nfor (const shape of shapes) {\n  switch (shape.kind) {\n    case 'circle': area += shape.radius; break\n    case 'square': area += shape.side; break\n  }\n}\narea.toFixed(2)",
  },
  { title: "a union asked for a member of one side", code: "shapes.filter((s) => s.radius !== undefined).length" },
  { title: "a union narrowed by in", code: "shapes.map((s) => ('radius' in s ? s.radius : s.side))" },
  {
    title: "a result that may be undefined",
    code: "const found = await findCustomer('C1')\nif (!found) throw new Error('none')\nfound.address.city.toUpperCase()",
  },
  {
    title: "optional chaining on a result",
    code: "const c = await findCustomer('C9')\nc?.address.zip?.padStart(5, '0') ?? 'none'",
  },
  {
    title: "an optional member with a default",
    code: "const { name, email = 'none' } = await getCustomer(1)\nname + email.length",
  },
  {
    title: "an index signature",
    code: "const c = await getCustomer(1)\nc.tags.tier.toUpperCase() + (c.tags.missing ?? '')",
  },
  {
    title: "a record grown by assignment",
    code: "prices.paper = 4\nprices['glue'] = 3\nObject.values(prices).reduce((a, b) => a + b, 0)",
  },
  {
    title: "Object.entries with destructuring",
    code: "Object.entries(prices).map(([sku, price]) => `${sku}: ${price.toFixed(2)}`)",
  },
  {
    title: "Object.fromEntries",
    code: "const doubled = Object.fromEntries(Object.entries(prices).map(([k, v]) => [k, v * 2]))\ndoubled.pen",
  },
  {
    title: "reduce into an empty object",
    code: "const byCity = (await listCustomers()).reduce((groups, c) => {\n  (groups[c.address.city] ??= []).push(c)\n  return groups\n}, {})\nbyCity.Bern.length",
  },
  {
    title: "reduce into a typed record",
    code: "const counts = people.reduce((all, p) => { all[p.name] = (all[p.name] ?? 0) + 1; return all }, {} as Record<string, number>)\ncounts.Ann + 1",
  },
  {
    title: "reduce into a Map",
    code: "const m = people.reduce((map, p) => map.set(p.name, p.age), new Map())\nm.get('Ann') + 1",
  },
  {
    title: "parsed json walked freely",
    code: "const data = JSON.parse(raw)\ndata.users.flatMap((u) => u.roles).join()",
  },
  {
    title: "parsed json under an interface",
    code: "interface User { name: string; roles: string[] }\nconst { users }: { users: User[] } = JSON.parse(raw)\nusers.map((u) => u.name.length + u.roles.length)",
  },
  {
    title: "a dynamic result",
    code: "const page = await fetchJson('https://x.test')\npage.items[0].id + (page.next?.cursor ?? 0)",
  },
  {
    title: "an unknown error narrowed",
    code: "try { JSON.parse('{') } catch (error: unknown) { (error as Error).message.slice(0, 5) }",
  },
  {
    title: "an error asked by instanceof",
    code: "let why = ''\ntry { store.find('x').sku } catch (e) { why = e instanceof TypeError ? e.message : String(e) }\nwhy.length",
  },
  {
    title: "an error with a code asked for",
    code: "try { await charge({ amount: 1 }) } catch (err) { console.log(err.code ?? err.status) }",
  },
  { title: "a live iterable", code: "const skus = []\nfor (const item of store) skus.push(item.sku)\nskus.sort()" },
  {
    title: "a live iterable spread",
    code: "[...store].map(({ sku, quantity, price }) => ({ sku, worth: quantity * price }))",
  },
  {
    title: "an async iterable",
    code: "let count = 0\nfor await (const page of store.pages(1)) count += page.length\ncount",
  },
  { title: "chained methods of an instance", code: "store.add('cap', 5, 12).add('bag').size" },
  { title: "an inherited method", code: "store.on('added', (sku) => console.log(sku)).add('x').emit('done')" },
  { title: "a setter", code: "store.limit = 10\nstore.size" },
  { title: "a new instance of an injected class", code: "const other = new Store()\nother.add('a').find('a')?.price" },
  {
    title: "a subclass of an injected class",
    code: "class Big extends Store { total() { return [...this].reduce((s, i) => s + i.price, 0) } }\nnew Big().add('a', 1, 5).total()",
  },
  {
    title: "an awaited method in Promise.all",
    code: "const held = await Promise.all(['pen', 'ink'].map((sku) => store.reserve(sku, 1)))\nheld.filter((h) => h.ok).map((h) => h.until.getTime())",
  },
  {
    title: "Promise.allSettled and its values",
    code: "const all = await Promise.allSettled([getCustomer(1), charge({ amount: 5 })])\nall.flatMap((r) => r.status === 'fulfilled' ? [r.value] : []).length",
  },
  {
    title: "a race with a timer",
    code: "const timer = new Promise((resolve) => setTimeout(resolve, 1000, 'late'))\nconst first = await Promise.race([getCustomer(1), timer])\ntypeof first",
  },
  {
    title: "a generic call with its type",
    code: "const rows = await query<{ n: number }>('select ?', 1)\nrows[0].n.toFixed()",
  },
  {
    title: "a generic call without a type",
    code: "const rows = await query('select 1')\nrows[0].n + rows[0]['total']",
  },
  { title: "a host's generic helper", code: "const groups = await groupBy(people, 'name')\ngroups.Ann[0].age + 1" },
  {
    title: "a schema's optional fields",
    code: "const paid = await charge({ amount: 10, currency: 'EUR' })\npaid.status === 'paid' ? paid.id : null",
  },
  {
    title: "options built before",
    code: "const options = { amount: 3 }\noptions.note = 'hi'\n;(await charge(options)).amount",
  },
  { title: "a sync function in arithmetic", code: "round(10 / 3, 2) * 100 + round(2.5)" },
  { title: "a call nobody waits for", code: "log('started', { at: now })\nawait log('done')" },
  {
    title: "a function of the host passed on",
    code: "const all = await Promise.all([1, 2].map(getCustomer))\nall[1].name",
  },
  { title: "typed arrays", code: "measurements.map((x) => x * 2).reduce((a, b) => a + b) / measurements.length" },
  {
    title: "dates",
    code: "const days = (Date.now() - now.getTime()) / 86_400_000\nconst day = now.toLocaleDateString('en-GB', { weekday: 'long' })\nday.length + Math.sign(days)",
  },
  {
    title: "date subtraction",
    code: "const end = new Date(now)\nend.setMonth(end.getMonth() + 1)\nconst seconds = (end - now) / 1000\nseconds",
  },
  {
    title: "named groups of a pattern",
    code: "const { groups } = /(?<y>\\d{4})-(?<m>\\d\\d)/.exec(now.toISOString()) ?? {}\nNumber(groups?.y) + Number(groups.m)",
  },
  { title: "matchAll", code: '[...raw.matchAll(/"(\\w+)":/g)].map(([, key]) => key)' },
  { title: "replace with a function", code: "raw.replace(/\\d+/g, (digits) => String(Number(digits) + 1)).length" },
  {
    title: "sort, toSorted and localeCompare",
    code: "people.toSorted((a, b) => a.name.localeCompare(b.name) || b.age - a.age)[0].name",
  },
  {
    title: "a Map of lists",
    code: "headers.get('accept')?.at(-1)?.toUpperCase()\nfor (const [key, values] of headers) console.log(key, values.join())",
  },
  { title: "nested arrays", code: "matrix.flat().reduce((a, b) => a + b, 0) + matrix[1][0]" },
  {
    title: "a null that was filled and used later",
    before: ["current = await getCustomer(1)"],
    code: "current.name + current.address.city",
  },
  { title: "a null tested first", code: "if (current) current.name\ncurrent?.name ?? 'nobody'" },
  { title: "an empty object used as a cache", code: "cache.c1 ??= await getCustomer(1)\ncache.c1.name" },
  { title: "a cache filled before", before: ["cache.list = [1, 2]"], code: "cache.list.length" },
  {
    title: "manager that is null in the first row",
    code: "people.filter((p) => p.manager).map((p) => p.manager.name)",
  },
  {
    title: "a name made in a branch",
    before: ["if (people.length > 1) { var picked = people[0] }"],
    code: "picked.name",
  },
  {
    title: "a name assigned in a branch",
    before: ["let best\nfor (const p of people) if (!best || p.age > best.age) best = p"],
    code: "best.name.toUpperCase()",
  },
  {
    title: "a let that begins as null",
    code: "let winner = null\nfor (const s of shapes) if (s.kind === 'square') winner = s\nwinner.side",
  },
  { title: "a let that begins as nothing and is a list", code: "let list\nlist = [1]\nlist.push(2)\nlist.length" },
  {
    title: "a name that changed from a list to a count",
    before: ["let result = await listCustomers()", "result = result.length"],
    code: "result.toFixed(0)",
  },
  {
    title: "a helper of an earlier cell with an object",
    before: ["const stats = (list) => ({ count: list.length, sum: list.reduce((a, b) => a + b, 0) })"],
    code: "const { count, sum } = stats([1, 2])\nconst mean = sum / count\nmean.toFixed(1)",
  },
  {
    title: "an async helper of an earlier cell",
    before: ["async function cityOf(id: number) { return (await getCustomer(id)).address.city }"],
    code: "(await cityOf(1)).length",
  },
  {
    title: "a helper with optional parameters",
    before: ["function pad(value, width = 5, fill) { return String(value).padStart(width, fill) }"],
    code: "pad(3) + pad(4, 2) + pad(5, 3, '0')",
  },
  {
    title: "a class with private methods and statics",
    code: "class Counter {\n  static made = 0\n  #n = 0\n  #bump(by: number) { this.#n += by }\n  constructor() { Counter.made++ }\n  add(by = 1) { this.#bump(by); return this }\n  get value() { return this.#n }\n}\nnew Counter().add().add(2).value + Counter.made",
  },
  {
    title: "an abstract class and an override",
    code: "abstract class Base { abstract name(): string; hello() { return 'hi ' + this.name() } }\nclass Ann extends Base { override name() { return 'Ann' } }\nnew Ann().hello()",
  },
  {
    title: "a generic class",
    before: [
      "class Stack<T> { items: T[] = []; push(item: T) { this.items.push(item); return this } pop(): T | undefined { return this.items.pop() } }",
    ],
    code: "const s = new Stack<number>()\ns.push(1).push(2).pop()?.toFixed()",
  },
  {
    title: "satisfies and as const",
    code: "const levels = { low: 1, high: 2 } as const satisfies Record<string, number>\nlevels.high + 1",
  },
  {
    title: "an enum with text, used in a type",
    code: "enum Role { Admin = 'admin', User = 'user' }\nconst roles: Role[] = [Role.Admin]\nroles.includes(Role.User) || Object.values(Role).length",
  },
  { title: "an injected enum", code: "people.map((p) => (p.age > 30 ? Level.High : Level.Low))" },
  {
    title: "a type predicate and overloads",
    code: "function isText(x: unknown): x is string { return typeof x === 'string' }\nfunction twice(x: string): string\nfunction twice(x: number): number\nfunction twice(x) { return isText(x) ? x + x : x * 2 }\ntwice('a').length + twice(2)",
  },
  {
    title: "a mapped type and a conditional one",
    code: "type Flags<T> = { [K in keyof T]: boolean }\ntype Item = typeof people extends (infer P)[] ? P : never\nconst flags: Flags<{ a: number }> = { a: true }\nflags.a",
  },
  {
    title: "a proxy",
    code: "const watched = new Proxy(prices, { get: (target, key) => target[key] ?? 0 })\nwatched.nothing + watched.pen",
  },
  {
    title: "an object with getters, setters and this",
    code: "const box = { _v: 1, get v() { return this._v }, set v(x) { this._v = x }, inc() { this.v++; return this } }\nbox.inc().v",
  },
  { title: "a curried closure", code: "const add = (a) => (b) => (c) => a + b + c\nadd(1)(2)(3).toFixed()" },
  {
    title: "a memo with a Map",
    code: "const memo = new Map()\nconst fib = (n) => memo.get(n) ?? (memo.set(n, n < 2 ? n : fib(n - 1) + fib(n - 2)), memo.get(n))\nfib(20)",
  },
  {
    title: "arguments, apply and bind",
    code: "function sum() { return [...arguments].reduce((a, b) => a + b, 0) }\nsum.apply(null, [1, 2]) + sum.bind(null, 3)(4) + Math.max(...matrix[0])",
  },
  {
    title: "a recursive walk of anything",
    code: "const leaves = (x) => Array.isArray(x) ? x.flatMap(leaves) : x && typeof x === 'object' ? Object.values(x).flatMap(leaves) : [x]\nleaves(JSON.parse(raw)).length",
  },
  {
    title: "Intl, structuredClone, URL, crypto",
    code: "new Intl.NumberFormat('de', { style: 'currency', currency: store.currency }).format(3) + structuredClone(people)[0].name + new URLSearchParams({ a: '1' }) + crypto.randomUUID().length",
  },
  {
    title: "Buffer, TextEncoder and base64",
    code: "const bytes = new TextEncoder().encode(raw)\nBuffer.from(bytes).toString('base64').length + atob(btoa('a'))",
  },
  {
    title: "AbortSignal and setTimeout promises",
    code: "const signal = AbortSignal.timeout(1000)\nawait new Promise((go) => setTimeout(go, 1))\nsignal.aborted",
  },
  {
    title: "a module of Node",
    code: "import { setTimeout as sleep } from 'node:timers/promises'\nimport path from 'node:path'\nawait sleep(1)\npath.basename('/a/b.txt', '.txt').length",
  },
  {
    title: "using what a function without declared types gives",
    code: "const pair = await untyped(1, 'x')\npair.a + pair.b.length",
  },
  {
    title: "an injected name shadowed in a function",
    code: "function total(prices) { return prices.map((p) => p.amount).length }\ntotal([{ amount: 1 }])",
  },
  { title: "an injected name shadowed by a parameter", code: "people.map((store) => store.name)" },
  { title: "an optional call on what may be missing", code: "store.remove?.('pen')\nbus.off?.('x')" },
  {
    title: "a method given to a live object",
    code: "store.describe = function () { return this.size + ' items' }\nstore.describe()",
  },
  {
    title: "a method given before to a live object",
    before: ["bus.once = (event, handler) => bus.on(event, handler)"],
    code: "bus.once('x', () => {}).emit('x')",
  },
  {
    title: "rows enriched in an earlier cell",
    before: ["for (const p of people) p.adult = p.age >= 18"],
    code: "people.every((p) => p.adult)",
  },
  {
    title: "customers enriched in an earlier cell",
    before: ["const customers = (await listCustomers()).map((c) => ({ ...c, score: c.id * 10 }))"],
    code: "customers.toSorted((a, b) => b.score - a.score)[0].score",
  },
  {
    title: "customers enriched in place in an earlier cell",
    before: ["const customers = await listCustomers()\ncustomers.forEach((c) => { c.score = c.id * 10 })"],
    code: "customers.map((c) => c.score).at(0) + 1",
  },
  {
    title: "a list made empty and filled in the next cell",
    before: ["const out = []", "out.push({ sku: 'a', price: 1 })"],
    code: "out[0].sku.toUpperCase() + out[0].price.toFixed(1)",
  },
  {
    title: "an object made empty and filled in the next cell",
    before: ["const index = {}", "for (const p of people) index[p.name] = p"],
    code: "index.Ann.age + 1",
  },
  {
    title: "an object literal of an earlier cell that got a member",
    before: ["const state = { step: 1 }", "state.log = []\nstate.log.push('a')"],
    code: "state.log.length + state.step",
  },
  {
    title: "null of an earlier cell that was replaced",
    before: ["let session = null", "session = { token: 'x' }"],
    code: "session.token.length",
  },
  {
    title: "a promise of an earlier cell, awaited",
    before: ["const pending = getCustomer(2)"],
    code: "(await pending).name",
  },
  {
    title: "promises of an earlier cell, awaited together",
    before: ["const jobs = [getCustomer(1), getCustomer(2)]"],
    code: "(await Promise.all(jobs)).map((c) => c.name)",
  },
  {
    title: "destructured names of an earlier cell",
    before: ["const { address: { city, zip }, ...others } = await getCustomer(2)"],
    code: "city.length + (zip ?? '').length + others.name",
  },
  {
    title: "a type of an earlier cell",
    before: [
      "type Line = { sku: string; count: number }\nconst lines: Line[] = []",
      "lines.push({ sku: 'a', count: 1 })",
    ],
    code: "const total: number = lines.reduce((n, line: Line) => n + line.count, 0)\ntotal",
  },
  {
    title: "a class of an earlier cell, extended",
    before: ["class Animal { constructor(public name: string) {} speak() { return this.name } }"],
    code: "class Dog extends Animal { speak() { return super.speak() + '!' } }\nnew Dog('Rex').speak()",
  },
  {
    title: "labels of objects by computed keys",
    code: "const key = 'total'\nconst sums = { [key]: 3, [`${key}Tax`]: 1 }\nsums.total + sums.totalTax",
  },
  { title: "delete and a check", code: "delete prices.ink\n'ink' in prices ? prices.ink : 0" },
  {
    title: "void, comma and nested ternaries",
    code: "const n = people.length\nvoid log('n')\nn > 2 ? 'many' : n === 2 ? 'two' : (0, 'few')",
  },
  {
    title: "text compared with a template",
    code: "`${people[0].name}-${prices.pen}` === 'Ann-2' && people[0].name.at(0)?.charCodeAt(0)",
  },
  {
    title: "a generator helper",
    code: "function* pairs(list) { for (let i = 1; i < list.length; i++) yield [list[i - 1], list[i]] }\n[...pairs([1, 2, 3])].map(([a, b]) => b - a)",
  },
  { title: "iterator helpers", code: "measurements.values().map((x) => x * 2).take(2).toArray().length" },
  {
    title: "a counter of words",
    code: "const words = {}\nfor (const w of 'a b a'.split(' ')) words[w] = (words[w] || 0) + 1\nObject.entries(words).sort(([, a], [, b]) => b - a)[0][0]",
  },
  {
    title: "a promise kept in a Map and awaited",
    code: "const jobs = new Map(people.map((p, i) => [p.name, getCustomer(i)]))\nfor (const [name, job] of jobs) console.log(name, (await job).name)",
  },
  {
    title: "an await inside an expression",
    code: "const total = round((await charge({ amount: 5 })).amount * 1.2, 1) + (await listCustomers()).length\ntotal",
  },
  {
    title: "a condition on an awaited value",
    code: "if ((await findCustomer('C1'))?.tags.tier === 'gold') await log('gold')",
  },
  {
    title: "an annotation wider than the value",
    code: "const c: object = await getCustomer(1)\nJSON.stringify(c).length",
  },
  { title: "a result cast to any", code: "const c = (await getCustomer(1)) as any\nc.whatever?.deep" },
  {
    title: "an element of an awaited promise with a name",
    code: "const all = listCustomers()\nconst first = (await all)[0]\nfirst.name",
  },
  {
    title: "a promise of an earlier cell, replaced by its value",
    before: ["let all = listCustomers()"],
    code: "all = await all\nall[0].name + `${all}`",
  },
  {
    title: "a promise asked for a method by its name",
    code: "const c = getCustomer(1)\nawait c['then']((found) => found.name)",
  },
  {
    title: "a promise that is printed as what it is, by a tag",
    code: "const tag = (parts, ...values) => Promise.all(values)\nconst c = getCustomer(1)\n;(await tag`${c}`)[0].name",
  },
  {
    title: "members of classes that only this engine has",
    code: "Error.captureStackTrace?.({})\nError.stackTraceLimit + Object.groupBy([1], String)[1].length + Array.from('ab').length",
  },
  {
    title: "a member asked for by its name",
    code: "const c = await getCustomer(1)\nif (c.hasOwnProperty('phone')) console.log(c.phone)\nObject.hasOwn(c, 'fax') && c.fax",
  },
  {
    title: "a member that the declared type lacks, cast",
    code: "((await getCustomer(1)) as { nickname?: string }).nickname ?? 'none'",
  },
]

/** Cells that fail, or do something unintended. */
export const badInShop: BadCell[] = [
  { title: "a function of another library", code: "const total = lodash.sumBy(people, 'age')", names: "lodash" },
  { title: "a data frame", code: "const df = pd.DataFrame(people)", names: "pd" },
  { title: "a misspelt host function", code: "await getCustumer(1)", names: "getCustomer" },
  { title: "a guessed host function", code: "await listOrders()", names: "listOrders" },
  { title: "a name used before another cell makes it", code: "console.log(summary.total)", names: "summary" },
  { title: "a loop variable outside of its loop", code: "for (let i = 0; i < 3; i++) {}\nconsole.log(i)", names: "i" },
  {
    title: "a catch variable outside of its block",
    code: "try { null.x } catch (problem) {}\nproblem.message",
    names: "problem",
  },
  {
    title: "a variable of another function",
    code: "function one() { const inner = 1; return inner }\none() + inner",
    names: "inner",
  },
  { title: "Python's None", code: "const first = people.length ? people[0] : None", names: "None" },
  { title: "Python's True", code: "let found = False", names: "False" },
  { title: "Python's str", code: "str(people.length)", names: "str" },
  { title: "an unknown method of a live instance", code: "store.remove('pen')", names: "remove" },
  {
    title: "an unknown method of a declared result's list",
    code: "(await query('select 1')).rows.length",
    names: "rows",
  },
  { title: "a misspelt getter of a live instance that is called on", code: "store.sise.toFixed()", names: "size" },
  {
    title: "an unknown method of an awaited result's text",
    code: "(await getCustomer(1)).name.capitalize()",
    names: "capitalize",
  },
  { title: "a wrong member of a declared result", code: "(await getCustomer(1)).city", names: "city" },
  {
    title: "a wrong member deep in a declared result",
    code: "const c = await getCustomer(1)\nc.address.street.length",
    names: "street",
  },
  { title: "a wrong member of an element", code: "(await listCustomers()).map((c) => c.fullName)", names: "fullName" },
  {
    title: "a wrong destructured member of a parameter",
    code: "(await listCustomers()).forEach(({ id, phone }) => console.log(id, phone))",
    names: "phone",
  },
  { title: "a wrong member in a sort", code: "(await listCustomers()).sort((a, b) => a.age - b.age)", names: "age" },
  {
    title: "a wrong member of a schema's result",
    code: "const paid = await charge({ amount: 1 })\npaid.receipt",
    names: "receipt",
  },
  { title: "a wrong field of a schema", code: "await charge({ amount: 1, tip: 2 })", names: "tip" },
  { title: "a misspelt field of a schema", code: "await charge({ amount: 1, curency: 'EUR' })", names: "curency" },
  { title: "a missing argument of a function", code: "await findCustomer()", names: "Expected 1 arguments" },
  { title: "one argument too many", code: "await listCustomers(10)", names: "Expected 0 arguments" },
  { title: "too many arguments of a sync function", code: "round(1, 2, 3)", names: "Expected 1-2 arguments" },
  { title: "a promise asked for its length", code: "listCustomers().length", names: "await" },
  {
    title: "a promise filtered",
    code: "const gold = listCustomers().filter((c) => c.tags.tier === 'gold')",
    names: "await",
  },
  { title: "a promise looped over", code: "for (const c of listCustomers()) console.log(c)", names: "await" },
  { title: "a promise destructured", code: "const { name } = getCustomer(1)", names: "name" },
  { title: "a promise in a chain", code: "getCustomer(1).address.city", names: "await" },
  { title: "a promise in a template", code: "console.log(`Hello ${findCustomer('C1')}`)", names: "await" },
  { title: "a promise as a condition", code: "if (findCustomer('C9')) await log('there')", names: "await" },
  { title: "a promise in a while loop", code: "while (findCustomer('x')) break", names: "await" },
  { title: "a promise in a sum", code: "const total = charge({ amount: 1 }) + 1", names: "Promise" },
  { title: "a promise of a name, used", code: "const all = listCustomers()\nall.map((c) => c.name)", names: "await" },
  { title: "an element of a promise", code: "listCustomers()[0].name", names: "await" },
  { title: "an element of a promise with a name", code: "const all = listCustomers()\nall[0]?.name", names: "await" },
  { title: "a promise with a name in a template", code: "const c = getCustomer(1)\n;`${c}`", names: "await" },
  { title: "a line that goes on in a template", code: "const c = await getCustomer(1)\n`${c}`", names: "not callable" },
  {
    title: "a line that goes on in parentheses",
    code: "const n = (await listCustomers()).length\n(n + 1).toFixed()",
    names: "not callable",
  },
  {
    title: "a promise of an earlier cell, used",
    before: ["const all = listCustomers()"],
    code: "all[0].name",
    names: "await",
  },
  {
    title: "a promise given to a function for values",
    code: "await getCustomer(round(getCustomer(1)))",
    names: "await",
  },
  { title: "a wrong array method on declared data", code: "(await listCustomers()).first()", names: "first" },
  { title: "Python's append", code: "const out = []\nout.append(1)", names: "append" },
  { title: "a wrong method on a number", code: "(await charge({ amount: 1 })).amount.round(2)", names: "round" },
  { title: "a method of a list on a Map", code: "headers.filter(([key]) => key)", names: "filter" },
  { title: "a method of text on a date", code: "now.substring(0, 10)", names: "substring" },
  { title: "a method of a list on text", code: "raw.map((x) => x)", names: "map" },
  { title: "a wrong method on a typed array", code: "measurements.push(4)", names: "push" },
  { title: "a wrong member of Object", code: "Object.items(prices)", names: "items" },
  { title: "a wrong member of Array", code: "Array.range(3)", names: "range" },
  { title: "a wrong member of String", code: "String.format('a')", names: "format" },
  { title: "a wrong member of an enum", code: "Level.Medium", names: "Medium" },
  { title: "a number that is called", code: "(await charge({ amount: 1 })).amount()", names: "not callable" },
  {
    title: "a misspelt member of a cell's class",
    before: ["class Cart { lines = []; total() { return 0 } }"],
    code: "new Cart().totals()",
    names: "total",
  },
]
