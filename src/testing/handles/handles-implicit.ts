// Cases of the handle suite: functions that the language calls implicitly, to await a value or to convert it to text or
// JSON. If a cell supplies one, it is refused or arrives in an object that is not data, so that no value makes the host
// call a function by its form alone.
import assert from "node:assert/strict"
import { inspect } from "node:util"
import type { Language } from "../runtime/runtime-case.ts"
import { type CaseOutcome, callable, casesWith, defineCase, type HandleCase, memberOf } from "./handles-case.ts"

const names = ["then", "toJSON", "toString", "valueOf"]

const definePokeCase = casesWith(withPoke())

export const implicitCases = {
  290: attempts("an argument with a function of the host under then, toJSON, toString or valueOf has nothing called", {
    typescript: names.map((name) => `await $use({ ${name}: $poke })`),
    python: names.map((name) => `$use({'${name}': $poke})`),
  }),
  291: attempts("an argument with a function of the cell under then, toJSON, toString or valueOf has nothing called", {
    typescript: names.map((name) => `await $use({ ${name}: () => $poke() })`),
    python: names.map((name) => `$use({'${name}': lambda *args: $poke()})`),
  }),
  292: attempts("such a function deep inside an argument, an array, a Map or a Set is not called", {
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
  }),
  293: definePokeCase(
    "such a value is refused by retrieve, or is an object that can be awaited and written without a call",
    {
      typescript: "const trap = { then: $poke }\nconst traps = [{ toJSON: $poke, toString: $poke }]\n1",
      python: "trap = {'then': $poke}\ntraps = [{'toJSON': $poke, 'toString': $poke}]\n1",
      async holds(outcome) {
        for (const name of ["trap", "traps"]) {
          const found = await outcome.retrieve(name).catch((error: unknown) => {
            assert.match(String(error), /then|promise|toJSON/)
          })
          await found
          JSON.stringify({ found })
        }
        notPoked(outcome)
      },
    },
  ),
  294: attempts("such a value at the end of a cell is shown or refused, and nothing is called", {
    typescript: ["({ toJSON: $poke, toString: $poke })", "({ valueOf: $button.poke, n: 1 })\n1"],
    python: ["{'then': $poke}", "{'toJSON': $poke}\n1"],
  }),
  295: definePokeCase("such a value that a cell throws is an error of the cell, and nothing is called", {
    typescript: "throw { then: $poke, toString: $poke, message: { toJSON: $poke } }",
    python: "class Odd(Exception): pass\nerror = Odd({'then': $poke})\nerror.toString = $poke\nraise error",
    error: /./,
    holds: notPoked,
  }),
  296: attempts("such a value is refused by a field of the host, or held there without a call", {
    typescript: ["$button.data = { then: $poke }\n1", "$button.data = { toJSON: $poke }\n1"],
    python: ["$button.data = {'then': $poke}\n1", "$button.data = {'toJSON': $poke}\n1"],
  }),
  297: attempts("such a value as the result of a callback is refused or arrives without a call", {
    typescript: ["await $call(() => ({ toJSON: $poke, valueOf: $poke }))", "await $call(() => [{ then: $poke }])"],
    python: ["$call(lambda: {'toJSON': $poke})", "$call(lambda: {'then': $poke})"],
  }),
  298: definePokeCase("data under these names is data", {
    typescript: "await $take({ then: 1, toJSON: 'x', toString: null, valueOf: [2] })",
    python: "$take({'then': 1, 'toJSON': 'x', 'toString': None, 'valueOf': [2]})",
    holds: ({ taken }) => assert.deepEqual(taken, [{ then: 1, toJSON: "x", toString: null, valueOf: [2] }]),
  }),
  299: defineCase("an instance of a cell with a method then is a handle that can be awaited without a call", {
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
  300: definePokeCase("a table with a function in a column of such a name is refused", {
    python: "import pandas as pd\nframe = pd.DataFrame({'then': [$poke], 'n': [1]})\n$use(frame)",
    error: /then/,
    notApplicable: { typescript: "TypeScript has no DataFrame" },
    holds: notPoked,
  }),
  301: definePokeCase(
    "a handle of a cell's object is shown and written as JSON without asking the cell, and is no primitive",
    {
      typescript:
        "class Loud { toString() { throw new Error('asked') }\n toJSON() { throw new Error('asked') } }\nawait $take(new Loud())",
      python:
        "class Loud:\n    def toString(self): raise ValueError('asked')\n    def toJSON(self): raise ValueError('asked')\n$take(Loud())",
      holds({ taken: [loud] }) {
        assert.match(JSON.stringify({ loud }), /Loud/)
        assert.match(inspect(loud), /Loud/)
        const uses = [
          () => `${loud}`,
          () => String(loud),
          () => (loud as number) + 1,
          () => Number(loud),
          () => (loud as number) > 1,
          () => [loud].join(),
          () => Reflect.get({}, loud as string),
        ]
        for (const use of uses) assert.throws(use, /Loud.* await /)
      },
    },
  ),
} as const

class Button {
  data: unknown = null
  pokes = 0
  poke = () => ++this.pokes
}

/** Runs cells that each succeed or are refused because of the key's name. Either way nothing is called. */
function attempts(title: string, cells: Record<Language, readonly string[]>): HandleCase {
  return definePokeCase(title, {
    typescript: "1",
    async holds(outcome) {
      for (const code of cells[outcome.language]) {
        const { ok } = await outcome.run({ typescript: code, python: code })
        if (!ok) assert.match(outcome.message, /then|toJSON|toString|valueOf/, code)
      }
      notPoked(outcome)
    },
  })
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

function notPoked({ host: { button }, called }: Pick<CaseOutcome<{ button: Button }>, "host" | "called">): void {
  assert.equal(button.pokes, 0)
  assert.deepEqual(
    called.filter((name) => name.includes("poke")),
    [],
  )
}
