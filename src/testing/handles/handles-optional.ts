// Cases of the handle suite: optional chains over members of host objects, and defaults for members not awaited.
import assert from "node:assert/strict"
import { casesWith, defineCase, type HandleCase } from "./handles-case.ts"

const defineHostCase = casesWith({ host })

const readsAtOnce = { python: "Python reads a member when it is named, and has no optional chains" }

const none = undefined

export const optionalCases = {
  107: defineHostCase("an optional chain over a member that is null or undefined is undefined", {
    typescript: `const parts = [
        await $order.customer?.name,
        await $order.customer?.orders?.[0]?.total,
        await $order.customer?.address.city,
        await $order.missing?.name,
        await $order.buyer?.name,
        await $order.buyer?.orders?.[0]?.total,
        await $order.buyer?.orders?.[1]?.total,
        (await $order.customer)?.name,
      ]
      const later = $order.customer?.name
      parts.push(await later, ...(await Promise.all([$order.buyer?.name, $order.customer?.name])))
      parts`,
    value: [none, none, none, none, "Ada", 7, none, none, none, "Ada", none],
    notApplicable: readsAtOnce,
  }),
  108: defineHostCase(
    "an optional call of a member that is null, undefined or missing is undefined, and calls nothing",
    {
      typescript: `[
        await $order.customer?.greet(1),
        await $order.customer?.greet?.(1),
        await $order.onChange?.(1),
        await $order.missing?.(1),
        await $order.sum?.(),
        await $order.buyer?.greet?.("Bob"),
        await $order.buyer?.["greet"]("Eve"),
        await $order.buyer.nickname?.(),
      ]`,
      value: [none, none, none, none, 5, "Bob from Ada", "Eve from Ada", none],
      notApplicable: readsAtOnce,
      holds: ({ called }) => assert.deepEqual(called, ["order.sum", "order.buyer.greet", "order.buyer.greet"]),
    },
  ),
  109: defineHostCase("a step without ?. over a member that is null fails, and so does a chain that was not awaited", {
    typescript: [
      "await $order.customer.name",
      "await $order.buyer?.nickname.length",
      "await $order.buyer?.name()",
      "$order.customer?.name + ''",
      "if ($order.customer?.name) 1",
      "const kept = $order.customer?.name\n1",
    ],
    errors: /Cannot read|is not a function|write `await\b/,
    notApplicable: readsAtOnce,
  }),
  144: defineCase("optional chains over objects of the cell itself work as in JavaScript", {
    typescript: `const calls = []
      const local = { n: 2, nothing: null, get() { calls.push("get"); return this.n }, inner: { get: function () { return this?.n }, n: 3 } }
      const none = undefined
      const effect = () => calls.push("effect")
      class Hidden { #n = 4; read(other) { return other?.#n } base() { return 1 } }
      class Shown extends Hidden { own() { return super.base?.() } }
      ;[local?.get?.(), local.inner.get?.(), local.nothing?.x.y.z(effect()), none?.[effect()], none?.(effect()), local.gone?.(effect()),
        new Hidden().read(new Hidden()), new Shown().own(), delete local?.n, local?.n, none?.a.b?.c.d(), (local?.inner).get(), local?.inner!.n, calls]`,
    value: [2, 3, none, none, none, none, 4, 1, true, none, none, 3, 3, ["get"]],
    notApplicable: readsAtOnce,
  }),
  145: refused("parameters", [
    "await (({ note = 'none' }) => note)($order)",
    "await ((order, { note = 'none' }) => note)(1, $order)",
    "function f({ total: { deep = 1 } }) { return deep }\nawait f($order)",
    "function g([first = 1]) { return first }\nawait g([$order.missing])",
    "function h(total = 0) { return total }\nawait h($order.missing)",
    "const m = { f({ note = 1 }) { return note } }\nawait m.f($order)",
    "class C { constructor({ note = 1 }) { this.note = note } }\nawait new C($order).note",
    "const t = async ({ note = 1 }) => await note\nawait t($order)",
    "function* many({ note = 1 }) { yield note }\nawait Promise.all([...many($order)])",
  ]),
  146: refused("other patterns", [
    "for (const { note = 1 } of [$order]) await note",
    "for (const [first = 1] of [[$order.missing]]) { await first }",
    "for (const [{ deep = 1 }] of [[$order]]) await deep",
    "let { part = 1 } = { part: $order.missing }\nawait part",
    "const [first = 1] = [$order.missing]\nawait first",
    "var { other = 1 } = { other: $order.missing }\nawait other",
    "{ let { inner = 1 } = { inner: $order.missing }; await inner }",
    "let here; ({ here = 1 } = { here: $order.missing }); await here",
    "try { throw { note: $order.missing } } catch ({ note = 1 }) { await note }",
    "for (let { start = 1 } = { start: $order.missing }, i = 0; i < 1; i++) await start",
  ]),
  147: defineHostCase("default values apply to awaited values, functions, handles and results of calls", {
    typescript: `const first = ({ note = "none", total = 1 }) => [note, total]
      const second = async (order = 5, result = 6, callback = 7) => [await order.total, await result, typeof callback]
      const { a = 1, b = 2 } = { a: await $order.total, b: await $order.missing }
      const third = ({ total = $order.total }, own = $order.note) => Promise.all([total, own])
      ;[await third({}), first({ note: await $order.missing, total: await $order.total }), await second($order, $order.sum(), () => 1), a, b]`,
    value: [[5, "first"], ["none", 5], [5, 5, "function"], 5, 2],
    notApplicable: readsAtOnce,
  }),
} as const

function refused(place: string, cells: readonly string[]): HandleCase {
  return defineHostCase(
    `a default value in ${place} does not replace a member that was not awaited: the cell fails and says "write \`await\`"`,
    {
      typescript: cells.map((code) => `${code}\n0`),
      errors: /default values.*[Ww]rite `await\b/,
      notApplicable: readsAtOnce,
    },
  )
}

class Customer {
  name = "Ada"
  nickname = null
  orders = [{ total: 7 }]
  greet(name: string) {
    return `${name} from ${this.name}`
  }
}

class Order {
  total = 5
  note = "first"
  customer: Customer | null = null
  buyer: Customer | null = new Customer()
  onChange: (() => void) | undefined = undefined
  sum() {
    return this.total
  }
}

function host() {
  return { order: new Order() }
}
