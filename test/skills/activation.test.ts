import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { ConfigError, createAgent, fn, jsRuntime, type Message, messageText, skill, variable } from "karst"
import { scriptedModel } from "karst/models"
import { skillText, temporaryFolder } from "./skill-folders.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``
const texts = (messages: readonly Message[]) => messages.map((message) => `${message.role}: ${messageText(message)}`)

const greet = () =>
  skill({
    name: "greet",
    description: "Greets people.\nUse it for guests.",
    instructions: "Call `hello(name)`.",
    bindings: () => ({ hello: (name: string) => `hello ${name}`, guests: variable([] as string[], "Who came") }),
    files: { "references/titles.md": "Dr, Prof", "assets/logo.png": Uint8Array.of(0x89, 0xff) },
  })

describe("an agent with skills", () => {
  test("is told their names and descriptions, one line each, and nothing of their instructions", async () => {
    const agent = createAgent({ model: scriptedModel([]), skills: [greet()], instructions: "You are polite." })
    const prompt = await agent.describe()
    assert.match(
      prompt,
      /# Skills\n\n.*`await activateSkill\("<name>"\)`.*\n\n- greet: Greets people\. Use it for guests\.\n/,
    )
    assert.match(prompt, /declare function activateSkill\(name: string\): Promise<string>/)
    assert.doesNotMatch(prompt, /hello|titles/)
  })

  test("without any has neither the section nor the functions", async () => {
    for (const skills of [undefined, []]) {
      const prompt = await createAgent({ model: scriptedModel([]), skills }).describe()
      assert.doesNotMatch(prompt, /skill/i)
    }
  })

  test("gets instructions, declarations and files after the result of the cell that activates one", async () => {
    const runtime = jsRuntime()
    const model = scriptedModel([
      cell('await activateSkill("greet")'),
      cell('guests.push(await hello("Ada"))'),
      "Done.",
    ])
    const { messages, trajectory } = await createAgent({ model, runtime, skills: [greet()] }).run("Greet Ada.")
    const [, , result, told, , , answer] = texts(messages)
    assert.equal(
      result,
      "result: <output>\n'The skill \"greet\" is active; its instructions follow the output of this cell.'\n</output>",
    )
    assert.match(
      told ?? "",
      /^user: <skill name="greet">\nCall `hello\(name\)`\.\n\nNew in the session:\n\n```ts\n.*hello\(name: .*\/\*\* Who came \*\/\ndeclare let guests: .*```\n\nIts files, as `await readSkillFile\("greet", "<path>"\)` gives them:\n- assets\/logo.png \(2 bytes\)\n- references\/titles.md \(8 bytes\)\n<\/skill>$/s,
    )
    assert.equal(answer, "assistant: Done.")
    assert.deepEqual(await runtime.retrieve("guests"), ["hello Ada"])
    assert.match(await runtime.describe(), /declare function hello/)
    const types = trajectory.events.map(({ type }) => type)
    assert.equal(types.indexOf("skill-activated"), types.indexOf("code-end") + 1)
    assert.deepEqual(
      trajectory.events.flatMap((event) => (event.type === "call-start" ? event.call.binding : [])),
      ["activateSkill", "hello"],
    )
    assert.deepEqual(trajectory.messages, messages)
  })

  test("may use what a skill brings in the cell that activates it", async () => {
    const model = scriptedModel([cell('await activateSkill("greet"); await hello("Bo")'), "Done."])
    const { messages } = await createAgent({ model, skills: [greet()] }).run("Greet Bo.")
    assert.match(texts(messages)[2] ?? "", /hello Bo/)
  })

  test("that activates one again is told so, in the same cell, a later one and a later run, and nothing is bound twice", async () => {
    const again = 'console.log(await activateSkill("greet"))'
    const model = scriptedModel([
      cell(`await Promise.all([1, 2].map(() => activateSkill("greet"))); ${again}`),
      cell(again),
      "One.",
      cell(again),
      "Two.",
    ])
    await using session = await createAgent({ model, skills: [greet()] }).session()
    const first = await session.send("One")
    const second = await session.send("Two")
    const all = [...first.trajectory.events, ...second.trajectory.events]
    assert.equal(all.filter(({ type }) => type === "skill-activated").length, 1)
    assert.equal(texts(second.messages).filter((text) => text.includes("<skill")).length, 1)
    assert.equal(texts(second.messages).filter((text) => text.includes("its instructions are above")).length, 3)
    assert.doesNotMatch(texts(second.messages).join("\n"), /New in the session:[\s\S]*New in the session:/)
  })

  test("is told the instructions again when they are no longer in the conversation", async () => {
    const skills = [greet()]
    const runtime = jsRuntime()
    const model = () => scriptedModel([cell('await activateSkill("greet")'), "Done."])
    const first = await createAgent({ model: model(), runtime, skills }).run("One")
    const forgetful = { ...first, messages: [] }
    const { messages } = await createAgent({ model: model(), runtime, skills }).run("Two", { from: forgetful })
    assert.equal(texts(messages).filter((text) => text.includes("<skill")).length, 1)
  })

  test("learns which skills there are from a wrong name, and which files from a wrong path", async () => {
    const model = scriptedModel([
      cell('await activateSkill("gret")'),
      cell('await readSkillFile("greet", "../secret")'),
      cell('await readSkillFile("greet", "assets/logo.png")'),
      cell(
        'console.log(await readSkillFile("greet", "references/titles.md"), await readSkillFile("greet", "assets/logo.png", "base64"))',
      ),
      "Done.",
    ])
    const { messages } = await createAgent({ model, skills: [greet()] }).run("Go")
    const results = texts(messages).filter((text) => text.startsWith("result"))
    assert.match(results[0] ?? "", /There is no skill "gret"\. There is greet\./)
    assert.match(
      results[1] ?? "",
      /Not a file of "greet": "\.\.\/secret" is not there\. It has assets\/logo\.png, references/,
    )
    assert.match(results[2] ?? "", /"assets\/logo\.png" is not text: ask for it in "base64"/)
    assert.match(results[3] ?? "", /Dr, Prof if8=/)
  })

  test("activates through the gate, as any call goes", async () => {
    const model = scriptedModel([cell('await activateSkill("greet")'), "Done."])
    const asked: string[] = []
    const agent = createAgent({
      model,
      skills: [greet()],
      hooks: {
        beforeCall(call) {
          asked.push(call.binding)
          return { refuse: "not today" }
        },
      },
    })
    const { messages, trajectory } = await agent.run("Go")
    assert.deepEqual(asked, ["activateSkill"])
    assert.match(texts(messages)[2] ?? "", /activateSkill was not called: not today/)
    assert.ok(!trajectory.events.some(({ type }) => type === "skill-activated"))
  })

  test("has functions of a skill pass the gate, with what they were bound with", async () => {
    const wipe = skill({
      name: "wipe",
      description: "Wipes.",
      instructions: "wipe()",
      bindings: { wipe: fn(() => "wiped", { approve: true }) },
    })
    const model = scriptedModel([cell('await activateSkill("wipe"); await wipe()'), "Done."])
    const { messages } = await createAgent({ model, skills: [wipe] }).run("Go")
    assert.match(texts(messages)[2] ?? "", /wipe needs approval and there is no approver/)
  })

  test("fails with every problem of its skills at once, and tells warnings", async (t) => {
    const root = await temporaryFolder(t, {
      "a/SKILL.md": "x",
      "b/SKILL.md": skillText("c"),
      "good/SKILL.md": skillText("good\nmodel: opus"),
    })
    const model = scriptedModel(["Done.", "Done."])
    await assert.rejects(
      async () => createAgent({ model, skills: [root] }).run("Go"),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError)
        assert.match(error.message, /a\/SKILL\.md: has no front matter.*\n- .*b\/SKILL\.md: name "c" must be the name/s)
        return true
      },
    )
    const { trajectory } = await createAgent({ model, skills: [join(root, "good")] }).run("Go")
    const warned = trajectory.events.filter((event) => event.type === "warning-raised")
    assert.deepEqual(
      warned.map(({ code }) => code),
      ["skill"],
    )
    assert.match(warned[0]?.message ?? "", /"model" is not in the standard/)
  })

  test("does not know one whose author keeps it from models", async () => {
    const kept = { ...greet(), offered: false }
    const prompt = await createAgent({ model: scriptedModel([]), skills: [kept] }).describe()
    assert.doesNotMatch(prompt, /greet/)
  })

  test("takes other skills for one run", async () => {
    const agent = createAgent({ model: scriptedModel(["A", "B"]), skills: [greet()] })
    const other = skill({ name: "other", description: "Other.", instructions: "x" })
    const { trajectory } = await agent.run("Go", { skills: [other] })
    assert.match(trajectory.system, /- other: Other\./)
    assert.doesNotMatch(trajectory.system, /- greet/)
  })
})

describe("agents that share a runtime", () => {
  test("each activate their own skills by the same functions, and see what the others brought", async () => {
    const runtime = jsRuntime()
    const farewell = skill({
      name: "farewell",
      description: "Says goodbye.",
      instructions: "Call bye(name).",
      bindings: { bye: (name: string) => `bye ${name}` },
    })
    const one = createAgent({
      runtime,
      skills: [greet()],
      model: scriptedModel([cell('await activateSkill("greet"); await hello("Ada")'), "One."]),
    })
    const two = createAgent({
      runtime,
      skills: [farewell],
      model: scriptedModel([
        cell('await activateSkill("greet")'),
        cell('await activateSkill("farewell"); [await hello("Ada"), await bye("Ada")]'),
        "Two.",
      ]),
    })
    const plain = createAgent({ runtime, model: scriptedModel([cell('await activateSkill("greet")'), "Three."]) })
    await one.run("Go")
    const second = texts((await two.run("Go")).messages)
    assert.match(second[2] ?? "", /There is no skill "greet"\. There is farewell\./)
    assert.match(second[4] ?? "", /'hello Ada', 'bye Ada'/)
    const third = texts((await plain.run("Go")).messages)
    assert.match(third[2] ?? "", /There are no skills here/)
  })

  test("may start at once, and activate the same skill at once", async () => {
    const runtime = jsRuntime()
    const skills = [greet()]
    const agents = [1, 2, 3].map((number) =>
      createAgent({
        runtime,
        skills,
        model: scriptedModel([cell(`await activateSkill("greet"); await hello("${number}")`), "Done."]),
      }),
    )
    const results = await Promise.all(agents.map((agent) => agent.run("Go")))
    for (const [index, { messages }] of results.entries()) {
      assert.match(texts(messages)[2] ?? "", new RegExp(`hello ${index + 1}`))
    }
  })

  test("go on in a copy of it", async () => {
    const runtime = jsRuntime()
    const model = () => scriptedModel([cell('await activateSkill("greet")'), "Done."])
    await createAgent({ runtime, model: model(), skills: [greet()] }).run("Go")
    const copy = await runtime.fork?.()
    const other = skill({ name: "greet", description: "x", instructions: "y" })
    const { status } = await createAgent({ runtime: copy, model: model(), skills: [other] }).run("Go")
    assert.equal(status, "done")
  })

  test("are refused skills where the names of the functions are taken", async () => {
    const runtime = jsRuntime({ activateSkill: 1 })
    const agent = createAgent({ runtime, model: scriptedModel(["Done."]), skills: [greet()] })
    await assert.rejects(
      async () => agent.run("Go"),
      /Skills need the names activateSkill and readSkillFile.*rename that/,
    )
  })
})

describe("an injection module", () => {
  const module = (marker: string) => `
    import { writeFileSync } from "node:fs"
    writeFileSync(${JSON.stringify(marker)}, "ran")
    export interface Guest { name: string }
    /** Greets somebody. */
    export function hello(guest: Guest): string { return "hello " + guest.name }
    /** A door. */
    export class Door { open = false }
    export const door = new Door()
    export default { limit: 3 }
  `

  test("runs at activation and not before, and what it exports is declared, injected and retrieved", async (t) => {
    const root = await temporaryFolder(t, { "greet/SKILL.md": skillText("greet"), "package.json": '{"type":"module"}' })
    const marker = join(root, "ran")
    await writeFile(join(root, "greet/injection.ts"), module(marker))
    const runtime = jsRuntime()
    const model = scriptedModel([
      "Nothing to do.",
      cell('await activateSkill("greet")'),
      cell('door.open = door instanceof Door; await hello({ name: "Ada" }) + limit'),
      "Done.",
    ])
    const agent = createAgent({ model, runtime, skills: [root] })
    await agent.describe()
    await agent.run("Hi")
    assert.ok(!existsSync(marker))
    const { messages } = await agent.run("Greet")
    assert.ok(existsSync(marker))
    assert.match(
      texts(messages)[3] ?? "",
      /interface Guest \{ name: string \}\n\/\*\* Greets somebody\. \*\/\ndeclare function hello\(guest: Guest\): Promise<string>/,
    )
    assert.match(texts(messages)[5] ?? "", /hello Ada3/)
    assert.equal(((await runtime.retrieve("door")) as { open: boolean }).open, true)
    assert.equal(await runtime.retrieve("limit"), 3)
    const injected = (await runtime.names()).filter((name) => name.injected).map(({ name }) => name)
    assert.deepEqual(injected.sort(), ["Door", "activateSkill", "door", "hello", "limit", "readSkillFile"])
    await runtime.execute("delete globalThis.door; limit = 9")
    await runtime.reset()
    assert.equal(await runtime.retrieve("limit"), 3)
  })

  const broken: [what: string, source: string, says: RegExp][] = [
    ["throws", 'throw new Error("no luck")', /injection\.mjs" could not be loaded: no luck/],
    ["exports nothing", "1", /exports nothing to bind/],
    ["has a default export that is no object", "export default 1", /default export must be an object/],
    ["exports a promise", "export const x = Promise.resolve(1)", /"x" is a promise/],
    ["takes a name that is taken", "export const a = 1, taken = 2", /"taken" is already there/],
  ]
  for (const [what, source, says] of broken) {
    test(`that ${what} is an error the model sees, binds nothing, and may be tried again`, async (t) => {
      const root = await temporaryFolder(t, { "bad/SKILL.md": skillText("bad"), "bad/injection.mjs": source })
      const runtime = jsRuntime({ taken: 1 })
      const attempt = cell('await activateSkill("bad")')
      const model = scriptedModel([attempt, attempt, "Done."])
      const { messages, trajectory } = await createAgent({ model, runtime, skills: [root] }).run("Go")
      assert.match(texts(messages)[2] ?? "", says)
      assert.match(texts(messages)[4] ?? "", says)
      assert.ok(!trajectory.events.some(({ type }) => type === "skill-activated"))
      const names = (await runtime.names()).map(({ name }) => name)
      assert.deepEqual(names.sort(), ["activateSkill", "readSkillFile", "taken"])
    })
  }

  test("whose default export is a function makes each runtime its own", async (t) => {
    const source = "export default () => ({ list: [] })"
    const root = await temporaryFolder(t, { "own/SKILL.md": skillText("own"), "own/injection.mjs": source })
    const lists = await Promise.all(
      [1, 2].map(async (number) => {
        const runtime = jsRuntime()
        const model = scriptedModel([cell(`await activateSkill("own"); list.push(${number})`), "Done."])
        await createAgent({ model, runtime, skills: [root] }).run("Go")
        return runtime.retrieve("list")
      }),
    )
    assert.deepEqual(lists, [[1], [2]])
  })

  test("for another language is named and not run", async (t) => {
    const root = await temporaryFolder(t, { "py/SKILL.md": skillText("py"), "py/injection.py": "raise Exception" })
    const model = scriptedModel([cell('await activateSkill("py")'), "Done."])
    const { messages } = await createAgent({ model, skills: [root] }).run("Go")
    assert.match(
      texts(messages)[3] ?? "",
      /Its functions are not here: injection\.py is Python, and this session runs TypeScript\. .*needs an agent that runs Python/,
    )
  })

  test("in a folder that cells can write is never run", async (t) => {
    const root = await temporaryFolder(t, {
      "work/evil/SKILL.md": skillText("evil"),
      "work/evil/injection.mjs": "export const x = 1",
    })
    const runtime = { ...jsRuntime(), writableFolders: () => [join(root, "work")] }
    for (const trusted of [false, true]) {
      const model = scriptedModel([cell('await activateSkill("evil")'), "Done."])
      const agent = createAgent({ model, runtime, skills: [{ path: root, trusted }] })
      const { messages } = await agent.run("Go")
      assert.match(
        texts(messages)[2] ?? "",
        /was not run: the agent can write in ".*work"\. Keep the skill outside of it/,
      )
    }
  })
})
