// Cases of the handle suite: members of host objects. Every name works at every depth, but only inside the object.
import assert from "node:assert/strict"
import { defineCase } from "./handles-case.ts"
import { Meter, Money, Odd, Order, Person, Robot, ToolCall, Vault } from "./handles-member-objects.ts"

export const memberCases = {
  50: defineCase("a field named name is the field, at any depth", {
    host: () => ({ order: new Order() }),
    typescript: "[await $order.name, await $order.customer.name, await $order.customer.address.name]",
    python: "[$order.name, $order.customer['name'], $order.customer['address']['name']]",
    value: ["first", "Ada", "home"],
  }),
  51: defineCase("the length of a text and of an array is read at the host", {
    host: () => ({ order: new Order() }),
    typescript: "[await $order.name.length, await $order.items.length, await $order.customer.name.length]",
    python: "[len($order.name), len($order.items), len($order.customer['name'])]",
    value: [5, 2, 3],
  }),
  52: defineCase("fields named function and arguments are fields", {
    host: () => ({ call: new ToolCall() }),
    typescript: "[await $call.function.name, await $call.function.arguments]",
    python: "[$call.function['name'], $call.function['arguments']]",
    value: ["search", "{}"],
  }),
  53: defineCase("names that functions reserve are ordinary fields of an object", {
    host: () => ({ odd: new Odd() }),
    typescript:
      "[await $odd.name, await $odd.length, await $odd.call, await $odd.apply, await $odd.bind, await $odd.arguments, await $odd.caller, await $odd.prototype]",
    value: ["n", 7, "c", "a", "b", "r", "l", "p"],
  }),
  54: defineCase("names that functions reserve are ordinary fields inside nested data", {
    host: () => ({ odd: new Odd() }),
    typescript: "[await $odd.inner.call.bind.name, await $odd.inner.length, await $odd.inner.apply.toString]",
    python: "[$odd.inner['call']['bind']['name'], $odd.inner['length'], $odd.inner['apply']['toString']]",
    value: ["deep", 3, "text"],
  }),
  55: defineCase("a path over several objects of the host needs one await", {
    host: () => ({ shop: { open: () => true, owner: new Person("Ada") } }),
    typescript: "[await $shop.owner.address.city, await $shop.owner.address.label('to')]",
    value: ["Bern", "to Bern"],
  }),
  56: defineCase("a getter is computed at every read", {
    host: () => ({ meter: new Meter() }),
    typescript: "[await $meter.reading, await $meter.reading, await $meter.reading]",
    value: [1, 2, 3],
  }),
  57: defineCase("a getter that throws is an error of the cell that names its cause", {
    host: () => ({ meter: new Meter() }),
    typescript: "await $meter.broken",
    error: /no battery/,
  }),
  58: defineCase("members of all base classes are there, and the derived one wins", {
    host: () => ({ robot: new Robot("R") }),
    typescript: "[await $robot.name, await $robot.greet(), await $robot.address.city, await $robot.kind]",
    value: ["R", "beep, I am R", "Bern", "robot"],
  }),
  59: defineCase("a private member cannot be reached, while methods use it", {
    host: () => ({ vault: new Vault() }),
    typescript: "[await $vault.open(), await $vault['#secret'], await $vault.secret]",
    python: "[$vault.open(), getattr($vault, '#secret', None), getattr($vault, 'secret', None)]",
    value: (language: string) => ["42", ...(language === "python" ? [null, null] : [undefined, undefined])],
  }),
  60: defineCase("constructor, prototype and __proto__ of a host object cannot be reached", {
    host: () => ({ vault: new Vault(), Vault }),
    typescript: `const seen = []
      for (const name of ["constructor", "__proto__", "prototype", "__defineGetter__", "hasOwnProperty"]) {
        let found = null
        try { found = (await $vault[name]) ?? null } catch {}
        if (found !== null && found !== Object.prototype[name]) seen.push(name)
      }
      let made = null
      try { made = (await $Vault.prototype) ?? null } catch {}
      ;[seen, made]`,
    python:
      "names = ['constructor', '__proto__', 'prototype', '__defineGetter__', 'hasOwnProperty']\n[[name for name in names if getattr($vault, name, None) is not None], getattr($Vault, 'prototype', None)]",
    value: [[], null],
  }),
  61: defineCase("a path does not lead over constructor to the class and its functions", {
    host: () => ({ shop: { open: () => true, owner: new Person("Ada") } }),
    typescript: [
      "await $shop.owner.constructor.name",
      "const make = await $shop.owner.constructor.constructor\nmake('return process')",
    ],
    python: ["$shop.owner.constructor.name", "$shop.owner.constructor.constructor('return process')()"],
    errors: /constructor|__proto__|is not a function|undefined|null/,
  }),
  62: defineCase("a Proxy answers for its members by its own traps", {
    host: () => ({ mirror: new Proxy(new Person("Eve"), {}) }),
    typescript: "[await $mirror.name, await $mirror.greet(), await $mirror.address.city]",
    value: ["Eve", "I am Eve", "Bern"],
  }),
  63: defineCase("every member that a Proxy computes can be read", {
    host: () => ({ any: new Proxy({}, { get: (_, key) => (key === "then" ? undefined : `value of ${String(key)}`) }) }),
    typescript: "[await $any.anything, await $any.length, await $any.name]",
    value: ["value of anything", "value of length", "value of name"],
  }),
  64: defineCase("every method that a Proxy computes can be called with arguments", {
    host: () => ({
      client: new Proxy({}, { get: (_, key) => (key === "then" ? undefined : (n: number) => `${String(key)} ${n}`) }),
    }),
    typescript: "[await $client.getUser(1), await $client.call(2)]",
    value: ["getUser 1", "call 2"],
  }),
  65: defineCase("members with a symbol as key stay at the host", {
    host: () => ({ marked: Object.assign(new Person("M"), { [Symbol.for("karst.test")]: "hidden" }) }),
    typescript: "[$marked[Symbol.for('karst.test')] === undefined, await $marked.name]",
    value: [true, "M"],
    notApplicable: { python: "Python has no symbols" },
  }),
  66: defineCase("whether there is a member can be asked without reading it", {
    host: () => ({ robot: new Robot("R") }),
    typescript: "['name' in $robot, 'greet' in $robot, 'kind' in $robot, 'nothing' in $robot, 'constructor' in $robot]",
    python: "[hasattr($robot, name) for name in ['name', 'greet', 'kind', 'nothing', 'constructor']]",
    value: [true, true, true, false, false],
  }),
  67: defineCase("the names of the members can be listed", {
    host: () => ({ person: new Person("P") }),
    typescript: "Object.keys($person).sort()",
    python: "sorted(name for name in dir($person) if name in ('name', 'address', 'greet'))",
    value: (language: string) => (language === "python" ? ["address", "greet", "name"] : ["address", "name"]),
  }),
  68: defineCase("a member that the host adds later is found", {
    host: () => {
      const session = new Person("S")
      return { session, login: () => void Object.assign(session, { user: "Ada", role: () => "admin" }) }
    },
    typescript: "await $login()\n;[await $session.user, await $session.role()]",
    python: "$login()\n[$session.user, $session.role()]",
    value: ["Ada", "admin"],
  }),
  69: defineCase("a member that is not there is undefined in TypeScript and an AttributeError in Python", {
    host: () => ({ person: new Person("P") }),
    typescript: "(await $person.nothing) === undefined",
    python:
      "try:\n    $person.nothing\n    missing = False\nexcept AttributeError as error:\n    missing = 'nothing' in str(error)\nmissing",
    value: true,
  }),
  70: defineCase("a path over a member that is not there is an error that names it", {
    host: () => ({ person: new Person("P") }),
    typescript: "await $person.nothing.name",
    error: /nothing|name/,
  }),
  71: defineCase("a method that is not there is an error that names it", {
    host: () => ({ person: new Person("P") }),
    typescript: "await $person.fly(1)",
    error: /fly/,
  }),
  72: defineCase("a method read off its object still works on that object", {
    host: () => ({ person: new Person("P") }),
    typescript: "const greet = $person.greet\nconst held = { greet }\n;[await greet(), await held.greet()]",
    python: "greet = $person.greet\nheld = {'greet': greet}\n[greet(), held['greet']()]",
    value: ["I am P", "I am P"],
  }),
  73: defineCase("an element of an array of the host is reached by its index", {
    host: () => ({ club: { join: () => 1, people: [new Person("A"), new Person("B")], tags: [{ text: "x" }] } }),
    typescript: "[await $club.people[1].name, await $club.tags[0].text, await $club.people[0].greet()]",
    python: "[$club.people[1].name, $club.tags[0]['text'], $club.people[0].greet()]",
    value: ["B", "x", "I am A"],
  }),
  74: defineCase("own methods named toString, toJSON and valueOf are called when the cell calls them", {
    host: () => ({ money: new Money() }),
    typescript: "[await $money.toString(), await $money.toJSON(), await $money.valueOf()]",
    value: ["5 CHF", { amount: 5 }, 5],
  }),
  75: defineCase("every field of an object with 2,000 fields can be read", {
    host: () => ({ wide: Object.assign(new Person("W"), Object.fromEntries(range(2_000).map((n) => [`f${n}`, n]))) }),
    typescript: "[await $wide.f0, await $wide.f999, await $wide.f1999]",
    value: [0, 999, 1999],
  }),
  76: defineCase("optional chaining walks a path as a dot does", {
    host: () => ({ order: new Order() }),
    typescript: "[await $order?.customer?.name, await $order.customer?.address.name]",
    value: ["Ada", "home"],
    notApplicable: { python: "Python has no optional chaining" },
  }),
  77: defineCase("a handle has no then, so it can be awaited and returned", {
    host: () => ({ job: { then: "later", run: () => 1 } }),
    typescript:
      "const same = (await $job) === $job\n;[same, $job.then === undefined, await (async () => $job)() === $job]",
    value: [true, true, true],
    notApplicable: { python: "Python awaits no host object" },
  }),
  78: defineCase("an object of a library of Node is used by its members", {
    host: () => ({ url: new URL("https://karst.test:8080/a?b=c"), headers: new Headers({ a: "b" }) }),
    typescript: "[await $url.hostname, await $url.port, await $url.searchParams.get('b'), await $headers.get('a')]",
    value: ["karst.test", "8080", "c", "b"],
    holds: async ({ host, retrieve }) => assert.equal(await retrieve("url"), host.url),
  }),
} as const

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index)
}
