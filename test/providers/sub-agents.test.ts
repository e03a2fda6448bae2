// test lane: clis
import assert from "node:assert/strict"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, tool } from "karst"
import { scriptedModel } from "karst/models"
import { claude, codex, fallback } from "karst/providers"
import { agentTool } from "karst/tools"
import * as z from "zod"
import { eventsOfType, fakeCliMachine } from "./cli-machines.ts"

describe("a coding CLI as a sub-agent", () => {
  test("of another CLI works in its own folder; its run belongs to the call that made it, and is counted once", async () => {
    await using place = await fakeCliMachine()
    const elsewhere = join(place.folder, "elsewhere")
    await mkdir(elsewhere)
    const coder = codex({ ...place.options, name: "coder", description: "Writes code.", cwd: elsewhere })
    const own = createAgent({ name: "poet", model: scriptedModel(["a poem"]) })
    const boss = claude({ ...place.options, tools: [coder, own] })
    const result = await boss.run("ask coder say_hello ask poet write say done")
    assert.equal(result.output, "done 1")
    const ends = eventsOfType(result.trajectory.events, "tool-end")
    assert.deepEqual(ends.map(({ id, ok, text }) => [id, ok, text]).sort(), [
      ["toolu_ask_0", true, "hello 1"],
      ["toolu_ask_1", true, "a poem"],
    ])
    const children = eventsOfType(result.trajectory.events, "run-start").filter(({ parent }) => parent !== undefined)
    assert.deepEqual(children.map(({ agent, parent, metadata }) => [agent, parent, metadata.call]).sort(), [
      ["coder", result.id, "toolu_ask_0"],
      ["poet", result.id, "toolu_ask_1"],
    ])
    const used = eventsOfType(result.trajectory.events, "run-end").find(
      ({ run }) => run === children.find((each) => each.agent === "coder")?.run,
    )
    assert.equal(used?.usage.input, 5)
    const poet = eventsOfType(result.trajectory.events, "run-end").find(
      ({ run }) => run === children.find((each) => each.agent === "poet")?.run,
    )
    assert.equal(result.usage.input, 15 + (poet?.usage.input ?? 0))
    assert.match((await place.starts("codex"))[0] ?? "", new RegExp(`-C ${elsewhere}`))
    assert.deepEqual(await place.processes(), [])
  })

  test("of an agent of ours fails as a result that the model sees", async () => {
    await using place = await fakeCliMachine()
    await place.tell("codex", "fail 500")
    const call = { type: "tool-call", id: "c1", name: "codex", input: { prompt: "say x" } } as const
    const model = scriptedModel([[call], "It failed."])
    const boss = createAgent({ model, tools: [agentTool(codex(place.options))], noTool: "answer" })
    const result = await boss.run("go")
    const [end] = eventsOfType(result.trajectory.events, "tool-end")
    assert.equal(end?.ok, false)
    assert.match(end?.text ?? "", /500/)
  })

  test("is refused where runs are nested too deep, whichever kind they are", async () => {
    await using place = await fakeCliMachine()
    const deepest = codex({ ...place.options, name: "deepest" })
    const boss = claude({ ...place.options, tools: [deepest], limits: { depth: 1 } })
    const result = await boss.run("ask deepest say_hello say done")
    const [end] = eventsOfType(result.trajectory.events, "tool-end")
    assert.equal(end?.ok, false)
    assert.match(end?.text ?? "", /nested 1 deep/)
    assert.deepEqual(await place.heard("codex"), [])
  })

  test("of a fallback belongs to the fallback's own run", async () => {
    await using place = await fakeCliMachine()
    const coder = codex({ ...place.options, name: "coder" })
    const result = await fallback(claude({ ...place.options, tools: [coder] })).run("ask coder say_hello say done")
    const [child] = eventsOfType(result.trajectory.events, "run-start").filter(({ parent }) => parent !== undefined)
    assert.deepEqual([child?.parent, child?.metadata.call], [result.id, "toolu_ask_0"])
    assert.equal(result.usage.input, 15)
  })
})

describe("the spec of an agent", () => {
  test("is what it is, as JSON: no secret is in it", async () => {
    const lookUp = tool({
      name: "look_up",
      description: "Looks up.",
      input: z.object({ word: z.string() }),
      run: () => "",
    })
    const inner = codex({ name: "inner", instructions: "Be brief.", env: { KEY: "top-secret" }, tools: { add } })
    const agent = claude({
      name: "outer",
      description: "Codes.",
      model: "fast",
      reasoning: "high",
      instructions: "Be kind.",
      allow: ["read"],
      env: { ANTHROPIC_SMALL_FAST_MODEL: "small-1", ANTHROPIC_API_KEY: "top-secret" },
      mcpServers: { files: { url: "http://127.0.0.1/top-secret", headers: { Authorization: "top-secret" } } },
      runtime: jsRuntime({}),
      tools: {
        look_up: lookUp,
        helper: inner,
        poet: createAgent({ name: "x", description: "Rhymes.", model: scriptedModel([]) }),
      },
    })
    const spec = await agent.spec()
    assert.deepEqual(JSON.parse(JSON.stringify(spec)), spec)
    assert.doesNotMatch(JSON.stringify(spec), /top-secret/)
    const { tools, agents, ...rest } = spec
    assert.deepEqual(rest, {
      name: "outer",
      description: "Codes.",
      provider: "claude",
      model: "small-1",
      reasoning: "high",
      instructions: "Be kind.",
      allow: ["read"],
      mcpServers: ["files"],
    })
    assert.deepEqual(
      tools.map(({ name, description }) => [name, description]),
      [["look_up", "Looks up."]],
    )
    assert.deepEqual(tools[0]?.input.required, ["word"])
    assert.deepEqual(
      agents.map(({ name, provider, description, tools }) => [
        name,
        provider,
        description,
        tools.map((each) => each.name),
      ]),
      [
        ["helper", "codex", undefined, ["add"]],
        ["poet", undefined, "Rhymes.", []],
      ],
    )
  })

  test("of ours has its model, instructions, tools and sub-agents, of a fallback all that may do the work", async () => {
    const lookUp = tool({ name: "look_up", description: "Looks up.", input: z.object({}), run: () => "" })
    const own = createAgent({
      name: "own",
      model: scriptedModel([], { id: "scripted/one" }),
      instructions: "Be brief.",
      tools: [lookUp],
      agents: { coder: codex({ model: "gpt-9" }) },
    })
    const spec = await own.spec()
    assert.deepEqual([spec.name, spec.model, spec.instructions], ["own", "scripted/one", "Be brief."])
    assert.deepEqual([spec.tools.map(({ name }) => name), spec.agents[0]?.name], [["look_up"], "coder"])
    assert.deepEqual([spec.agents[0]?.provider, spec.agents[0]?.model], ["codex", "gpt-9"])
    const several = await fallback(claude({ model: "opus-9" }), own, { name: "both" }).spec()
    assert.deepEqual([several.name, several.provider, several.model], ["both", "claude", "opus-9"])
    assert.deepEqual(
      several.fallback?.map(({ name }) => name),
      ["claude", "own"],
    )
  })
})

function add(one: number, other: number): number {
  return one + other
}
