// Cases of the handle suite: assignments to members of host objects. Each one takes effect, or the cell fails.
import assert from "node:assert/strict"
import { variable } from "../../runtime/bindings.ts"
import { casesWith, defineCase } from "./handles-case.ts"

const defineHostCase = casesWith({ host })

const isCopy = { python: "data that Python read from a host object is a copy" }

export const assignmentCases = {
  150: defineHostCase("an assignment to a field is there before the next call", {
    typescript: "$light.level = 7\nawait $light.double()",
    value: 14,
    holds: ({ host: { light } }) => assert.equal(light.level, 7),
  }),
  151: defineHostCase("an assignment passes the setter of the host", {
    typescript: "$light.percent = 50\nawait $light.level",
    value: 0.5,
  }),
  152: defineHostCase("fields accept data of every kind", {
    typescript:
      "$light.data = { at: new Date(5), map: new Map([[1, new Set([2])]]), n: 2n ** 70n, bytes: new Uint8Array([1]) }",
    python:
      "import datetime\n$light.data = {'at': datetime.datetime.fromtimestamp(0.005, datetime.timezone.utc), 'map': {1: {2}}, 'n': 2**70, 'bytes': b'\\x01'}",
    holds({ host: { light } }) {
      const map = new Map([[1, new Set([2])]])
      assert.deepEqual(light.data, { at: new Date(5), map, n: 2n ** 70n, bytes: new Uint8Array([1]) })
    },
  }),
  153: defineHostCase("a field accepts a host object and holds the same object", {
    typescript: "$light.data = [$other]",
    holds({ host: { light, other } }) {
      assert.ok(Array.isArray(light.data))
      assert.equal(light.data[0], other)
    },
  }),
  154: defineHostCase("an assignment to a member that has only a getter fails the cell", {
    typescript: "$light.label = 'x'\n1",
    error: /label/,
    holds: ({ host: { light } }) => assert.equal(light.label, "light"),
  }),
  155: defineCase("an assignment to a field that cannot be written fails the cell", {
    host: () => ({ fixed: Object.defineProperty(new Light(), "level", { value: 3, writable: false }) }),
    typescript: "$fixed.level = 9\n1",
    error: /level/,
    holds: ({ host: { fixed } }) => assert.equal(fixed.level, 3),
  }),
  156: defineCase("an assignment to a frozen object fails the cell", {
    host: () => ({ frozen: Object.freeze(new Light()) }),
    typescript: "$frozen.level = 9\n1",
    error: /level/,
    holds: ({ host: { frozen } }) => assert.equal(frozen.level, 1),
  }),
  157: defineHostCase("an error that a setter throws fails the cell with its message", {
    typescript: "$light.percent = 101\n1",
    error: /at most 100/,
    holds: ({ host: { light } }) => assert.equal(light.level, 1),
  }),
  158: defineCase("a method cannot be replaced, neither an own one nor an inherited one", {
    host: () => ({ light: new Light(), service: { run: () => "ran" } }),
    typescript: ["$light.double = 5\n1", "$service.run = 5\n1", "$light.double = () => 1\n1"],
    python: ["$light.double = 5\n1", "$service.run = 5\n1", "$light.double = lambda: 1\n1"],
    errors: /double|run/,
    holds({ host: { light, service } }) {
      assert.deepEqual([light.double(), service.run()], [2, "ran"])
    },
  }),
  159: defineHostCase("a new member is refused and the error names extend", {
    typescript: "$light.brandNew = 1\n1",
    error: /brandNew.*extend/s,
    holds: ({ host: { light } }) => assert.equal("brandNew" in light, false),
  }),
  160: defineHostCase("a new member is accepted where the binding says extend", {
    inject: ({ light }) => ({ light: variable(light, { extend: true }) }),
    typescript: "$light.brandNew = [1]\nawait $light.brandNew",
    value: [1],
    holds: ({ host: { light } }) => assert.deepEqual(Reflect.get(light, "brandNew"), [1]),
  }),
  161: defineHostCase("extend lets no method, constructor or prototype be replaced", {
    inject: ({ light }) => ({ light: variable(light, { extend: true }) }),
    typescript: [
      "$light.double = 5\n1",
      "$light.constructor = 5\n1",
      "$light.__proto__ = {}\n1",
      "$light.toString = 5\n1",
    ],
    python: [
      "$light.double = 5",
      "setattr($light, 'constructor', 5)",
      "setattr($light, '__proto__', {})",
      "setattr($light, 'toString', 5)",
    ],
    errors: /double|constructor|__proto__|toString/,
    holds({ host: { light } }) {
      assert.equal(Object.getPrototypeOf(light), Light.prototype)
      assert.equal(light.double(), 2)
    },
  }),
  162: defineHostCase("an assignment that fails has its line", {
    typescript: "1\n2\n$light.label = 'x'\n4",
    error: /label/,
    holds({ last }) {
      assert.ok(!last.ok)
      assert.equal(last.error.line, 3)
    },
  }),
  163: defineHostCase("an assignment at the end of a cell that fails at the host still fails the cell", {
    typescript: "1\n$light.percent = 101",
    error: /at most 100/,
  }),
  164: defineHostCase("an assignment over a path reaches the object at its end", {
    typescript:
      "$light.inner.depth = 9\n$light.settings.mode = 'night'\n;[await $light.inner.depth, await $light.settings.mode]",
    value: [9, "night"],
    notApplicable: isCopy,
    holds: ({ host: { light } }) => assert.deepEqual([light.inner.depth, light.settings.mode], [9, "night"]),
  }),
  165: defineHostCase("an assignment to a field of a nested host object reaches that object", {
    typescript: "const inner = await $light.inner\ninner.depth = 4\nawait inner.depth",
    python: "inner = $light.inner\ninner.depth = 4\ninner.depth",
    value: 4,
    holds: ({ host: { light } }) => assert.equal(light.inner.depth, 4),
  }),
  166: defineHostCase("a field can be set to a value computed from its current one", {
    typescript: "$light.level = (await $light.level) + 2\n$light.level = (await $light.level) * 3\nawait $light.level",
    python: "$light.level += 2\n$light.level *= 3\n$light.level",
    value: 9,
  }),
  167: defineHostCase("a hundred assignments happen in their order", {
    typescript: "for (let i = 1; i <= 100; i++) $light.logged = i\nawait $light.log",
    python: "for i in range(1, 101): $light.logged = i\n$light.log",
    value: Array.from({ length: 100 }, (_, index) => index + 1),
  }),
  168: defineHostCase("a field accepts null and undefined or None", {
    typescript: "$light.data = null\n$light.level = undefined\n;[await $light.data, await $light.level]",
    python: "$light.data = None\n$light.level = None\n[$light.data, $light.level]",
    value: (language: string) => (language === "python" ? [null, null] : [null, undefined]),
  }),
  169: defineHostCase("deleting a member of a host object is refused", {
    typescript: "delete $light.level\n1",
    python: "del $light.level\n1",
    error: /level/,
    holds: ({ host: { light } }) => assert.equal(light.level, 1),
  }),
  170: defineHostCase("a member of a host function is not written without extend", {
    typescript: ["$act.count = 1\n1", "$act.name = 'x'\n1"],
    python: ["$act.count = 1\n1", "$act.name = 'x'\n1"],
    errors: /count|name/,
    holds: ({ host: { act } }) => assert.deepEqual([Object.keys(act), act.name], [[], "act"]),
  }),
  171: defineHostCase("an element of the host's array is assigned by its index", {
    typescript: "$light.log[0] = 5\nawait $light.log",
    value: [5],
    notApplicable: isCopy,
    holds: ({ host: { light } }) => assert.deepEqual(light.log, [5]),
  }),
} as const

class Inner {
  depth = 1
  dig() {}
}

class Light {
  level: number | undefined = 1
  data: unknown = null
  settings = { mode: "day" }
  inner = new Inner()
  log: number[] = []
  double() {
    return (this.level ?? 0) * 2
  }
  get label() {
    return "light"
  }
  get percent() {
    return (this.level ?? 0) * 100
  }
  set percent(percent: number) {
    if (percent > 100) throw new RangeError("at most 100")
    this.level = percent / 100
  }
  get logged() {
    return this.log.length
  }
  set logged(n: number) {
    this.log.push(n)
  }
}

function host() {
  return { light: new Light(), other: new Light(), act: function act() {} }
}
