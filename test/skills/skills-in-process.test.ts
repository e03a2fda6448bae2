// test lane: runtimes, long
import assert from "node:assert/strict"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, type Message, messageText } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { retrieveAny } from "../retrieve-any.ts"
import { requires } from "../system.ts"
import { skillText, temporaryFolder } from "./skill-folders.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``
const texts = (messages: readonly Message[]) => messages.map((message) => messageText(message))

const files = {
  "package.json": '{"type":"module"}',
  "greet/SKILL.md": skillText("greet"),
  "greet/names.ts": 'export const known: string[] = ["Ada"]',
  "greet/injection.ts": `
    import { known } from "./names.ts"
    export interface Guest { name: string }
    /** Greets somebody. */
    export function hello(guest: Guest): string { known.push(guest.name); return "hello " + guest.name }
    export class Door { open = false }
    export const door = new Door()
    export const place = () => process.pid
    export { known as guests }
  `,
}
const crash = "const real = (await import('node:module')).createRequire('/')('process'); real.kill(real.pid, 'SIGKILL')"
const activate = cell('await activateSkill("greet")')

describe("a skill's module in a processRuntime", () => {
  test("runs in the child; its names are declared, used, retrieved and injected", async (t) => {
    const root = await temporaryFolder(t, files)
    await using runtime = processRuntime({ seed: 1 })
    const model = scriptedModel([
      activate,
      cell('console.log(await hello({ name: "Bo" }), (await place()) === process.pid, door instanceof Door)'),
      "Done.",
    ])
    const { messages, trajectory } = await createAgent({ model, runtime, skills: [root] }).run("Go")
    const [, , , told = "", , result = ""] = texts(messages)
    assert.match(
      told,
      /interface Guest \{ name: string \}\n\/\*\* Greets somebody\. \*\/\ndeclare function hello\(guest: Guest\)/,
    )
    assert.match(result, /hello Bo/)
    assert.doesNotMatch(result, /false/)
    assert.deepEqual(await retrieveAny(runtime, "guests"), ["Ada", "Bo"])
    const hello = (await retrieveAny(runtime, "hello")) as (guest: { name: string }) => Promise<string>
    assert.equal(await hello({ name: "Cy" }), "hello Cy")
    const described = await runtime.describe()
    assert.match(described, /declare let seed: number/)
    assert.match(described, /declare function hello/)
    assert.match(await runtime.describe(["guests"]), /guests/)
    const injected = (await runtime.names()).filter((name) => name.injected).map(({ name }) => name)
    for (const name of ["hello", "Door", "door", "guests", "seed"]) assert.ok(injected.includes(name), name)
    await assert.rejects(runtime.inject({ hello: 1 }), /"hello" is already there/)
    assert.deepEqual(
      trajectory.events.flatMap((event) => (event.type === "call-start" ? event.call.binding : [])),
      ["activateSkill"],
    )
  })

  test("is loaded again after a crash and a reset, and what cells did to it is told as lost", async (t) => {
    const root = await temporaryFolder(t, files)
    await using runtime = processRuntime()
    const model = scriptedModel([
      activate,
      cell(`await hello({ name: "Bo" }); const mine = 1; ${crash}`),
      cell('console.log(guests, await hello({ name: "Cy" }))'),
      "Done.",
    ])
    const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
    const results = texts(messages)
    assert.match(results[5] ?? "", /As injected again, without what cells did to them: .*guests/)
    assert.match(results[7] ?? "", /\[ 'Ada', 'Cy' \] hello Cy/)
    await runtime.execute("let other = 1")
    await runtime.reset()
    const { ok } = await runtime.execute('await hello({ name: "Di" })')
    assert.ok(ok)
    assert.match(await runtime.describe(), /declare function hello/)
  })

  test("that is gone after a crash takes its names with it and nothing else", async (t) => {
    const root = await temporaryFolder(t, files)
    await using runtime = processRuntime({ seed: 1 })
    const model = scriptedModel([activate, cell(crash), cell("seed + 1"), "Done."])
    const agent = createAgent({
      model,
      runtime,
      skills: [root],
      async onEvent(event) {
        if (event.type === "skill-activated") await rm(join(root, "greet"), { recursive: true })
      },
    })
    const { messages } = await agent.run("Go")
    const last = texts(messages)[7] ?? ""
    assert.match(last, /2/)
    assert.match(last, /hello \(its module cannot be loaded again: /)
    assert.doesNotMatch(await runtime.describe(), /hello/)
  })

  test("comes along into a copy", async (t) => {
    const root = await temporaryFolder(t, files)
    await using runtime = processRuntime()
    await runtime.load?.(join(root, "greet/injection.ts"))
    assert.deepEqual(await runtime.load?.(join(root, "greet/injection.ts")), [
      "Door",
      "door",
      "guests",
      "hello",
      "place",
    ])
    const copy = await runtime.fork?.()
    assert.ok(copy)
    const execution = await copy.execute('await hello({ name: "Bo" })')
    await copy.close()
    assert.equal(execution.ok && execution.value, "hello Bo")
  })

  test("runs on the host when its source is trusted: live objects, and calls that pass the gate", async (t) => {
    const root = await temporaryFolder(t, files)
    await using runtime = processRuntime()
    const model = scriptedModel([
      activate,
      cell('console.log(await hello({ name: "Bo" }), (await place()) === process.pid); door.open = true'),
      "Done.",
    ])
    const agent = createAgent({ model, runtime, skills: [{ path: root, trusted: true }] })
    const { messages, trajectory } = await agent.run("Go")
    assert.match(texts(messages)[5] ?? "", /hello Bo false/)
    assert.equal(((await runtime.retrieve("door")) as { open: boolean }).open, true)
    assert.deepEqual(
      trajectory.events.flatMap((event) => (event.type === "call-start" ? event.call.binding : [])),
      ["activateSkill", "hello", "place"],
    )
  })

  const broken: [what: string, source: string, says: RegExp][] = [
    ["throws", 'throw new Error("no luck")', /could not be loaded: no luck/],
    ["takes a name that is taken", "export const a = 1, taken = 2", /"taken" is already there/],
    [
      "wants approval, which nobody there could ask for",
      'export const wipe = { [Symbol.for("karst.binding")]: true, kind: "function", call() {}, options: { approve: true } }',
      /"wipe" would be called in the runtime's own process.*trusted: true/,
    ],
  ]
  for (const [what, source, says] of broken) {
    test(`that ${what} is an error the model sees, and binds nothing`, async (t) => {
      const root = await temporaryFolder(t, { "bad/SKILL.md": skillText("bad"), "bad/injection.mjs": source })
      await using runtime = processRuntime({ taken: 1 })
      const model = scriptedModel([cell('await activateSkill("bad")'), "Done."])
      const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
      assert.match(texts(messages)[2] ?? "", says)
      const names = (await runtime.names()).map(({ name }) => name)
      assert.deepEqual(names.sort(), ["activateSkill", "readSkillFile", "taken"])
    })
  }

  test("in the working folder or a folder that cells may write is never run", async (t) => {
    const root = await temporaryFolder(t, files)
    for (const options of [{ cwd: root }, { isolation: "auto", write: [root] } as const]) {
      await using runtime = processRuntime({}, options)
      const model = scriptedModel([activate, "Done."])
      const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
      assert.match(texts(messages)[2] ?? "", /was not run: the agent can write in/)
    }
  })

  test("is read inside a sandbox where that is allowed, and told how to be otherwise", {
    skip: requires("bwrap"),
  }, async (t) => {
    const root = await temporaryFolder(t, files)
    const run = async (read: string[]) => {
      await using runtime = processRuntime({}, { isolation: "os", read })
      const model = scriptedModel([activate, cell('await hello({ name: "Bo" })'), "Done."])
      const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
      return texts(messages)
    }
    assert.match((await run([]))[2] ?? "", /cannot be read inside the sandbox\. Name its folder in the `read` option/)
    assert.match((await run([root]))[5] ?? "", /hello Bo/)
  })
})
