import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { type Message, messageText } from "../../src/core/message.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { skill } from "../../src/skills.ts"
import { tool } from "../../src/tools/tool.ts"
import { skillText, temporaryFolder } from "../skills/skill-folders.ts"
import { call, finish, resultIn } from "./delegate-case.ts"

const look = tool({ name: "look", description: "Looks", run: () => "nothing" })

const greet = () =>
  skill({
    name: "greet",
    description: "Greets people.",
    instructions: "Say hello, then the title.",
    files: { "references/titles.md": "Dr, Prof", "assets/logo.png": Uint8Array.of(0x89, 0xff) },
  })

const texts = (messages: readonly Message[]) => messages.map((message) => `${message.role}: ${messageText(message)}`)

test("an agent without a runtime is told of its skills and how to call for one", async () => {
  const agent = createAgent({ noTool: "continue", model: scriptedModel([]), tools: [look], skills: [greet()] })
  const prompt = await agent.describe()
  assert.match(prompt, /# Skills\n\n.*call activate_skill with its name.*\n\n- greet: Greets people\./)
  assert.doesNotMatch(prompt, /activateSkill|a cell/)
})

test("activate_skill has the instructions told after all results of the answer, once", async () => {
  const model = scriptedModel([
    [...call("activate_skill", { name: "greet" }), ...call("look")],
    call("activate_skill", { name: "greet" }, "again"),
    finish("Hello."),
  ])
  const { messages } = await createAgent({ noTool: "continue", model, tools: [look], skills: [greet()] }).run(
    "Greet Ada.",
  )
  const [, , first, second, told, , again] = texts(messages)
  assert.equal(first, 'result: The skill "greet" is active; its instructions follow.')
  assert.equal(second, "result: nothing")
  assert.equal(
    told,
    'user: <skill name="greet">\nSay hello, then the title.\n\n' +
      'Its files, as `activate_skill({ name: "greet", file: "<path>" })` gives them:\n' +
      "- assets/logo.png (2 bytes)\n- references/titles.md (8 bytes)\n</skill>",
  )
  assert.equal(again, 'result: The skill "greet" is active; its instructions are above.')
})

test("activate_skill reads the files of a skill, and says what is there where it cannot", async () => {
  const read = (file: string) => call("activate_skill", { name: "greet", file }, file)
  const model = scriptedModel([
    read("references/titles.md"),
    read("../secret"),
    read("assets/logo.png"),
    finish("Done."),
  ])
  await createAgent({ noTool: "continue", model, tools: [look], skills: [greet()] }).run("go")
  const seen = model.requests.slice(1).map((request) => resultIn(request))
  assert.equal(seen[0], "Dr, Prof")
  assert.match(seen[1] ?? "", /Error \(skill-file\): Not a file of "greet".*references\/titles\.md/)
  assert.match(seen[2] ?? "", /Error \(skill-file\): .*not text/)
})

test("an unknown skill is refused with the names there are", async () => {
  const model = scriptedModel([call("activate_skill", { name: "dance" }), finish("Done.")])
  await createAgent({ noTool: "continue", model, tools: [look], skills: [greet()] }).run("go")
  assert.match(resultIn(model.requests[1]), /Error \(invalid-input\).*greet/)
})

test("a skill whose functions need a runtime says so, and nothing of it is run", async (context) => {
  let made = 0
  const bound = skill({
    name: "bound",
    description: "Has functions.",
    instructions: "Call hello.",
    bindings() {
      made++
      return {}
    },
  })
  const folder = await temporaryFolder(context, {
    "stored/SKILL.md": skillText("stored"),
    "stored/injection.ts": "throw new Error('it ran')",
  })
  const model = scriptedModel([
    [...call("activate_skill", { name: "bound" }), ...call("activate_skill", { name: "stored" }, "two")],
    finish("Done."),
  ])
  const { messages } = await createAgent({ noTool: "continue", model, tools: [look], skills: [bound, folder] }).run(
    "go",
  )
  const told = texts(messages).filter((text) => text.startsWith("user: <skill"))
  assert.equal(told.length, 2)
  for (const text of told) assert.match(text, /It also has functions, which need an agent that runs code/)
  assert.equal(made, 0)
})

test("activate_skill is offered only where there are skills and no runtime", async () => {
  const offered = async (options: object) => {
    const model = scriptedModel(["Done."])
    await createAgent({ model, tools: [look], ...options }).run("go")
    return model.requests[0]?.tools?.some(({ name }) => name === "activate_skill")
  }
  const { jsRuntime } = await import("../../src/runtime/js.ts")
  assert.deepEqual(
    [
      await offered({ skills: [greet()] }),
      await offered({}),
      await offered({ skills: [greet()], runtime: jsRuntime() }),
    ],
    [true, false, false],
  )
})

test("a sub-agent has the skills that it was given, and is told of no others", async () => {
  const childModel = scriptedModel([call("activate_skill", { name: "greet" }), finish("Hello.")])
  const child = createAgent({ noTool: "continue", name: "w", model: childModel, tools: [look], skills: [greet()] })
  const other = skill({ name: "count", description: "Counts.", instructions: "Count." })
  const model = scriptedModel([call("delegate", { tasks: [{ agent: "w", prompt: "go" }] }), finish("Done.")])
  await createAgent({ noTool: "continue", model, tools: [look], skills: [other], agents: { w: child } }).run("go")
  assert.match(childModel.requests[0]?.system ?? "", /- greet/)
  assert.doesNotMatch(childModel.requests[0]?.system ?? "", /- count/)
  assert.match(resultIn(childModel.requests[1]), /is active/)
})
