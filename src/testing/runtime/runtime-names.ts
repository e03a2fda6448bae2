// Cases of the runtime suite: how the host injects, updates, retrieves and lists names.
import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AgentError, ConfigError } from "../../core/errors.ts"
import { fn, variable } from "../../runtime/bindings.ts"
import type { StandardSchema } from "../../runtime/runtime.ts"
import { runtimeCase, sameInBoth } from "./runtime-case.ts"

export const nameCases = {
  "inject-all-or-none": runtimeCase("when one of several names cannot be injected, none is", async ({ runtime }) => {
    await runtime.inject({ taken: 1 })
    await assert.rejects(runtime.inject({ fine: 1, taken: 2, "not-a-name": 3 }), (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      assert.match(error.message, /"taken"/)
      assert.match(error.message, /"not-a-name"/)
      return true
    })
    await assert.rejects(runtime.retrieve("fine"), ConfigError)
    assert.equal(await runtime.retrieve("taken"), 1)
  }),

  "inject-names": runtimeCase(
    "names that are invalid, reserved or taken, by the host or by a cell, are refused",
    async (trial) => {
      await trial.ran({ typescript: "const made = 1", python: "made = 1" })
      await trial.runtime.inject({ given: 1 })
      const bad = ["", "1st", "with space", "class", "for", "made", "given"]
      const own = { typescript: ["const", "await", "console"], python: ["def", "None", "lambda"] }[trial.language]
      for (const name of [...bad, ...own]) {
        await assert.rejects(trial.runtime.inject({ [name]: 1 }), ConfigError, `"${name}" was accepted`)
      }
      assert.equal(await trial.value(sameInBoth("made + given")), 2)
    },
  ),

  "inject-again": runtimeCase(
    "things may be injected after cells ran, and of several that claim a name at once one wins",
    async (trial) => {
      await trial.ran({ typescript: "const first = 1", python: "first = 1" })
      const claims = await Promise.allSettled([1, 2, 3].map((second) => trial.runtime.inject({ second })))
      assert.equal(claims.filter(({ status }) => status === "fulfilled").length, 1)
      assert.equal(await trial.value(sameInBoth("first + second")), 2)
    },
  ),

  thenables: runtimeCase("a promise is refused, coming or going", async (trial) => {
    const { runtime } = trial
    await runtime.inject({ value: 1 })
    await assert.rejects(runtime.inject({ later: Promise.resolve(1) }), /"later".*promise/)
    await assert.rejects(runtime.inject({ later: { then: () => {} } }), /"later".*promise/)
    await assert.rejects(runtime.update({ value: Promise.resolve(2) }), /"value".*promise/)
    assert.equal(await runtime.retrieve("value"), 1)
    await trial.ran({
      typescript: "const pending = Promise.resolve(1); 0",
      python: "import asyncio\npending = asyncio.get_event_loop().create_future()",
    })
    await assert.rejects(runtime.retrieve("pending"), /"pending".*await/)
  }),

  update: runtimeCase("names of the host and of cells get new values, functions new targets", async (trial) => {
    await trial.runtime.inject({ count: 1, add: (a: number) => a + 1, lamp: { level: 1 } })
    await trial.ran({
      typescript: "let made = 'by a cell'\nconst kept = add",
      python: "made = 'by a cell'\nkept = add",
    })
    await trial.runtime.update({ count: 5, made: ["by the host"], add: (a: number) => a + 100 })
    assert.equal(await trial.value({ typescript: "count + made[0]", python: "str(count) + made[0]" }), "5by the host")
    assert.equal(await trial.value({ typescript: "await add(1)", python: "add(1)" }), 101)
    assert.equal(await trial.value({ typescript: "await kept(1)", python: "kept(1)" }), 101)
  }),

  "update-refused": runtimeCase(
    "an update of an unknown name or to another kind is refused as a whole",
    async ({ runtime }) => {
      await runtime.inject({ count: 1, add: (a: number) => a })
      await assert.rejects(runtime.update({ count: 2, nobody: 1 }), (error: unknown) => {
        assert.ok(error instanceof ConfigError)
        assert.match(error.message, /"nobody"/)
        assert.match(error.message, /"count"/)
        return true
      })
      await assert.rejects(runtime.update({ count: 2, add: 3 }), /"add" is a function/)
      await assert.rejects(runtime.update({ count: () => 2 }), /"count" is a variable/)
      assert.equal(await runtime.retrieve("count"), 1)
    },
  ),

  retrieve: runtimeCase("any name is retrieved, with the value it has now", async (trial) => {
    await trial.runtime.inject({ rows: [1] })
    await trial.ran({
      typescript: "rows.push(2)\nlet total = { sum: 3, parts: [...rows] }",
      python: "rows.append(2)\ntotal = {'sum': 3, 'parts': [*rows]}",
    })
    assert.deepEqual(await trial.runtime.retrieve("rows"), [1, 2])
    assert.deepEqual(await trial.runtime.retrieve("total"), { sum: 3, parts: [1, 2] })
  }),

  "retrieve-unknown": runtimeCase("an unknown name is an error that lists the names that exist", async (trial) => {
    await trial.runtime.inject({ given: 1 })
    await trial.ran({ typescript: "const made = 2", python: "made = 2" })
    await assert.rejects(trial.runtime.retrieve("missing"), (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      for (const name of ["missing", "given", "made"]) assert.match(error.message, new RegExp(`"${name}"`))
      return true
    })
  }),

  "retrieve-schema": runtimeCase("with a schema, the validated value or an error", async ({ runtime }) => {
    const text: StandardSchema<string> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) =>
          typeof value === "string" ? { value: value.trim() } : { issues: [{ message: "not a text" }] },
      },
    }
    await runtime.inject({ title: " Karst ", size: 5 })
    assert.equal(await runtime.retrieve("title", text), "Karst")
    await assert.rejects(runtime.retrieve("size", text), (error: unknown) => {
      assert.ok(error instanceof AgentError)
      assert.match(error.message, /"size".*not a text/)
      return true
    })
  }),

  names: runtimeCase("`names` lists each name with its kind, its size and whether it was injected", async (trial) => {
    await trial.runtime.inject({ list: [1, 2, 3], add: (a: number) => a })
    await trial.ran({
      typescript: "const word = 'abcd'\nfunction double(x) { return 2 * x }\nclass Thing {}",
      python: "word = 'abcd'\ndef double(x): return 2 * x\nclass Thing: pass",
    })
    const names = new Map((await trial.runtime.names()).map((each) => [each.name, each]))
    const of = (name: string) => [names.get(name)?.kind, names.get(name)?.size, names.get(name)?.injected]
    assert.deepEqual(of("list"), ["variable", 3, true])
    assert.deepEqual(of("word"), ["variable", 4, false])
    assert.deepEqual(of("add"), ["function", undefined, true])
    assert.deepEqual(of("double"), ["function", undefined, false])
    assert.equal(names.get("Thing")?.kind, "type")
    assert.deepEqual([...names.keys()].toSorted(), ["Thing", "add", "double", "list", "word"])
    for (const { type } of names.values()) assert.notEqual(type, "")
  }),

  keep: runtimeCase("a value is kept under a name that was never used", async (trial) => {
    await trial.ran({ typescript: "const _output_1 = 'mine'", python: "_output_1 = 'mine'" })
    const names = await Promise.all(["a", "b", "c"].map((text) => trial.runtime.keep("_output", text)))
    assert.equal(new Set([...names, "_output_1"]).size, 4)
    for (const name of names) assert.match(name, /^_output_\d+$/)
    assert.equal(await trial.value(sameInBoth(`_output_1 + ${names.join(" + ")}`)), "mineabc")
    await trial.runtime.reset()
    assert.ok(!names.includes(await trial.runtime.keep("_output", "d")))
    await assert.rejects(trial.runtime.keep("no good", 1), ConfigError)
  }),

  describe: runtimeCase("declarations have names, types and descriptions, and never a value", async (trial) => {
    const { runtime } = trial
    const secret = "xyzzy-4711"
    await runtime.inject({
      password: variable(secret, "The password"),
      users: [{ login: secret, age: 9173 }],
      addUser: fn((login: string) => login, { description: "Adds a user", signature: "(login: string) => string" }),
    })
    await trial.ran({ typescript: "const made = password + 1", python: "made = password + '1'" })
    const text = await runtime.describe()
    for (const part of ["password", "users", "addUser", "The password", "Adds a user", "login"])
      assert.ok(text.includes(part), `"${part}" is missing in:\n${text}`)
    assert.doesNotMatch(text, /made/)
    const some = await runtime.describe(["made"])
    assert.match(some, /made/)
    assert.doesNotMatch(some, /addUser/)
    await assert.rejects(runtime.describe(["nobody"]), /"nobody"/)
    for (const told of [text, some, JSON.stringify(await runtime.names())]) assert.doesNotMatch(told, /4711|9173/)
  }),

  load: runtimeCase(
    "what a module exports is put in where cells run, once and all or none, and is there again after a reset",
    async (trial) => {
      const { runtime } = trial
      if (!runtime.load) return
      const folder = await mkdtemp(join(tmpdir(), "karst-load-"))
      try {
        const file = join(folder, trial.language === "python" ? "tools.py" : "tools.mjs")
        await writeFile(file, moduleText[trial.language])
        assert.deepEqual((await runtime.load(file)).toSorted(), ["double", "limits"])
        await runtime.load(file)
        const use = { typescript: "[await double(4), limits.most]", python: '[double(4), limits["most"]]' }
        assert.deepEqual(await trial.value(use), [8, 3])
        assert.deepEqual(await runtime.retrieve("limits"), { most: 3 })
        assert.match(await runtime.describe(), /double[\s\S]*limits/)
        const { injected } = (await runtime.names()).find(({ name }) => name === "limits") ?? {}
        assert.equal(injected, true)
        await trial.ran({ typescript: "const double = null", python: "double = None" })
        await runtime.reset()
        assert.deepEqual(await trial.value(use), [8, 3])
        const other = await trial.another()
        await other.inject({ limits: 1 })
        await assert.rejects(async () => other.load?.(file), ConfigError)
        assert.deepEqual(
          (await other.names()).map(({ name }) => name),
          ["limits"],
        )
        await assert.rejects(runtime.load(join(folder, "nobody.mjs")), AgentError)
      } finally {
        await rm(folder, { recursive: true })
      }
    },
  ),

  reset: runtimeCase(
    "reset empties the namespace and binds the injected values again, as last updated",
    async (trial) => {
      const { runtime } = trial
      await runtime.inject({ count: 1, label: "old", add: (a: number) => a + 1 })
      await runtime.update({ label: "new" })
      await trial.ran({
        typescript: "count = 99\nconst mine = 1\nconst add = null",
        python: "count = 99\nmine = 1\nadd = None",
      })
      await runtime.reset()
      await assert.rejects(runtime.retrieve("mine"), ConfigError)
      const code = { typescript: "[count, label, await add(1)]", python: "[count, label, add(1)]" }
      assert.deepEqual(await trial.value(code), [1, "new", 2])
      await runtime.inject({ mine: "free again" })
      assert.equal(await trial.value(sameInBoth("mine")), "free again")
    },
  ),
}

const moduleText = {
  typescript: "export const double = (n) => n * 2\nexport const limits = { most: 3 }\n",
  python:
    'from karst import Function, Variable\n\ndef double(n):\n    return n * 2\n\n__exports__ = [Function(double), Variable("limits", {"most": 3})]\n',
}
