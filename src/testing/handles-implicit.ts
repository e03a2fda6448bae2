import assert from "node:assert/strict"
import { callable, define, memberOf, type Outcome } from "./handles-case.ts"

const names = ["then", "toJSON", "toString", "valueOf"]

/** The language calls some functions by itself: to await a value, to write it as text or JSON. Those of cells and those
 *  that cells put there are refused, so nothing of the host is called because of the form of some data. */
export const implicitCases = {
  290: define({
    ...withPoke(),
    title: "an argument with a function of the host under then, toJSON, toString or valueOf is refused",
    typescript: names.map((name) => `await $use({ ${name}: $poke })`),
    python: names.map((name) => `$use({'${name}': $poke})`),
    errors: /then|toJSON|toString|valueOf/,
    holds: notPoked,
  }),
  291: define({
    ...withPoke(),
    title: "an argument with a function of the cell under then, toJSON, toString or valueOf is refused",
    typescript: names.map((name) => `await $use({ ${name}: () => { poked = true } })`),
    python: names.map((name) => `$use({'${name}': lambda *args: 1})`),
    errors: /then|toJSON|toString|valueOf/,
    holds: notPoked,
  }),
  292: define({
    ...withPoke(),
    title: "such a function deep inside an argument, an array, a Map or a Set is refused",
    typescript: [
      "await $use([{ a: { then: $poke } }])",
      "await $use(new Map([['k', { then: $poke }]]))",
      "await $use(new Set([{ toJSON: $poke }]))",
      "await $use({ valueOf: $button.poke })",
    ],
    python: [
      "$use([{'a': {'then': $poke}}])",
      "$use({1: {'then': $poke}})",
      "$use(({'toJSON': $poke},))",
      "$use({'valueOf': $button.poke})",
    ],
    errors: /then|toJSON|valueOf/,
    holds: notPoked,
  }),
  293: define({
    ...withPoke(),
    title: "such a value cannot be retrieved, and nothing is called",
    typescript: "const trap = { then: $poke }\nconst traps = [{ toJSON: $poke }]\n1",
    python: "trap = {'then': $poke}\ntraps = [{'toJSON': $poke}]\n1",
    async holds(outcome) {
      await assert.rejects(outcome.retrieve("trap"), /then|promise/)
      await assert.rejects(outcome.retrieve("traps"), /toJSON/)
      notPoked(outcome)
    },
  }),
  294: define({
    ...withPoke(),
    title: "such a value at the end of a cell is shown or refused, and nothing is called",
    typescript: ["({ toJSON: $poke, toString: $poke })", "({ then: $button.poke, n: 1 })\n1"],
    python: ["{'then': $poke}", "{'toJSON': $poke}\n1"],
    holds: notPoked,
  }),
  295: define({
    ...withPoke(),
    title: "such a value that a cell throws is an error of the cell, and nothing is called",
    typescript: "throw { then: $poke, toString: $poke, message: { toJSON: $poke } }",
    python: "class Odd(Exception): pass\nerror = Odd({'then': $poke})\nerror.toString = $poke\nraise error",
    error: /./,
    holds: notPoked,
  }),
  296: define({
    ...withPoke(),
    title: "such a value is refused by a field of the host",
    typescript: "$button.data = { then: $poke }\n1",
    python: "$button.data = {'then': $poke}\n1",
    error: /then/,
    holds(outcome) {
      assert.equal(outcome.host.button.data, null)
      notPoked(outcome)
    },
  }),
  297: define({
    ...withPoke(),
    title: "such a value is refused as the result of a callback",
    typescript: "await $call(() => ({ then: $poke }))",
    python: "$call(lambda: {'then': $poke})",
    error: /then/,
    holds: notPoked,
  }),
  298: define({
    ...withPoke(),
    title: "data under these names is data",
    typescript: "await $take({ then: 1, toJSON: 'x', toString: null, valueOf: [2] })",
    python: "$take({'then': 1, 'toJSON': 'x', 'toString': None, 'valueOf': [2]})",
    holds: ({ taken }) => assert.deepEqual(taken, [{ then: 1, toJSON: "x", toString: null, valueOf: [2] }]),
  }),
  299: define({
    title: "an instance of a cell with a method then is a handle that can be awaited without a call",
    typescript:
      "let runs = 0\nclass Later { then(done) { runs++; done(1) }\n work() { return 2 } }\nconst later = { held: [new Later()] }\n1",
    python:
      "runs = 0\nclass Later:\n    def then(self, *args):\n        global runs\n        runs += 1\n    def work(self): return 2\nlater = {'held': [Later()]}\n1",
    async holds({ retrieve, value }) {
      const held = memberOf(memberOf(await retrieve("later"), "held"), "0")
      const same = await (async () => held)()
      assert.equal(same, held)
      assert.equal(await callable(memberOf(held, "work"))(), 2)
      assert.equal(await value({ typescript: "runs", python: "runs" }), 0)
    },
  }),
  300: define({
    ...withPoke(),
    title: "a table with a function in a column of such a name is refused",
    python: "import pandas as pd\nframe = pd.DataFrame({'then': [$poke], 'n': [1]})\n$use(frame)",
    error: /then/,
    notApplicable: { typescript: "TypeScript has no DataFrame" },
    holds: notPoked,
  }),
  301: define({
    ...withPoke(),
    title: "a handle of a cell's object is written as text and JSON without asking the cell",
    typescript:
      "class Loud { toString() { throw new Error('asked') }\n toJSON() { throw new Error('asked') } }\nawait $take(new Loud())",
    python:
      "class Loud:\n    def toString(self): raise ValueError('asked')\n    def toJSON(self): raise ValueError('asked')\n$take(Loud())",
    holds({ taken: [loud] }) {
      assert.match(JSON.stringify({ loud }), /Loud/)
      assert.match(`${loud}`, /Loud/)
    },
  }),
} as const

class Button {
  data: unknown = null
  pokes = 0
  poke = () => ++this.pokes
}

function withPoke() {
  return {
    host: () => {
      const button = new Button()
      const poke = () => ++button.pokes
      const use = async (value: unknown) => `${JSON.stringify(await value)}`
      return { button, poke, use, call: async (callback: () => unknown) => await callback() }
    },
  }
}

function notPoked({ host: { button }, called }: Pick<Outcome<{ button: Button }>, "host" | "called">): void {
  assert.equal(button.pokes, 0)
  assert.deepEqual(
    called.filter((name) => name.includes("poke")),
    [],
  )
}
