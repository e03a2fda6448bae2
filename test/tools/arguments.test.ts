import assert from "node:assert/strict"
import { describe, test } from "node:test"
import * as z from "zod"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { Json } from "../../src/core/json.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { createArtifacts } from "../../src/tools/artifacts.ts"
import { builtinTools } from "../../src/tools/builtin.ts"
import { agentTool, handoffTool } from "../../src/tools/delegate/agent-tool.ts"
import { commands } from "../../src/tools/shell/commands.ts"
import { checkCommandTool, shellTool } from "../../src/tools/shell.ts"
import { tool } from "../../src/tools/tool.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { call, calls, errorCodeOf, toolEnds } from "../agent/tool-call-helpers.ts"
import { connect, serve, textOf } from "../mcp/clients.ts"

const helper = createAgent({ name: "helper", model: scriptedModel(["Done."]), tools: [] })
const shell = commands({})

const builtin = [
  ...builtinTools({
    asks: true,
    finishes: true,
    todos: true,
    compactMemory: true,
    artifacts: createArtifacts(),
    workspace: memoryWorkspace(),
    images: true,
    skills: { names: ["skill"], activate: async () => "", read: async () => "" },
    agents: { helper },
  }),
  shellTool(shell),
  checkCommandTool(shell),
  agentTool(helper),
  handoffTool(helper),
]

async function toolEndOf(given: Parameters<typeof createAgent>[0]["tools"], name: string, input: Json) {
  const model = scriptedModel([calls(call(name, input)), "Done.", "Done."])
  const workspace = memoryWorkspace()
  await workspace.write("a.txt", "old")
  const agent = createAgent({ model, tools: given, workspace, todos: true })
  const { trajectory } = await agent.run("go")
  const [end] = toolEnds(trajectory.events)
  assert.ok(end)
  return { end, text: new TextDecoder().decode(await workspace.read("a.txt")) }
}

describe("an argument that a built-in tool does not declare", () => {
  for (const { name, accept, input } of builtin) {
    test(`is refused by ${name} with the name of the argument and those accepted`, async () => {
      const validation = await accept({ colour: "red" })
      assert.ok(!validation.ok)
      assert.match(validation.message, /unknown argument "colour"/)
      for (const accepted of Object.keys(Object(input.properties))) assert.ok(validation.message.includes(accepted))
    })
  }

  test("leaves the file as it was", async () => {
    const { end, text } = await toolEndOf([], "write_file", { path: "a.txt", content: "new", mode: "append" })
    assert.equal(errorCodeOf(end), "invalid-input")
    assert.match(end.text, /unknown argument "mode"\. Accepted: path, content, append/)
    assert.equal(text, "old")
  })

  test("is refused inside of a list", async () => {
    const { end } = await toolEndOf([], "write_todos", { todos: [{ title: "a", priority: 1 }] })
    assert.match(end.text, /unknown argument "todos\[0\]\.priority"\. Accepted: id, title, status/)
  })

  test("is refused by the tools of an MCP server", async (context) => {
    const client = await connect(context, await serve(context, { runtime: jsRuntime({ a: 1 }) }), "modern")
    for (const name of ["describe", "run", "inspect", "wait"]) {
      const result = await client.callTool({ name, arguments: { colour: "red" } })
      assert.equal(result.isError, true)
      assert.match(textOf(result), /unknown argument "colour"\. Accepted: (names|code|name|cell)/)
    }
  })
})

describe("arguments that are encoded twice", () => {
  const seen: unknown[] = []
  const record = tool({
    name: "record",
    description: "",
    input: z.object({
      ids: z.array(z.int()).optional(),
      filter: z.object({ tags: z.array(z.string()) }).optional(),
      either: z.union([z.string(), z.array(z.string())]).optional(),
      anything: z.unknown().optional(),
      text: z.string().optional(),
    }),
    run(input) {
      seen.push(input)
      return "seen"
    },
  })
  const given = async (input: Json) => {
    seen.length = 0
    const { end } = await toolEndOf([record], "record", input)
    return { end, input: seen[0] }
  }

  test("are decoded where the whole is a text of an object", async () => {
    assert.deepEqual((await given('{"ids":[1]}')).input, { ids: [1] })
    assert.deepEqual((await given(JSON.stringify('{"ids":[2]}'))).input, { ids: [2] })
  })

  test("are decoded where a list or an object is given as text", async () => {
    assert.deepEqual((await given({ ids: "[1,2]" })).input, { ids: [1, 2] })
    assert.deepEqual((await given({ filter: '{"tags":"[\\"a\\"]"}' })).input, { filter: { tags: ["a"] } })
  })

  test("stay texts where the schema accepts a text", async () => {
    const input = { either: '["a"]', anything: '{"a":1}', text: "[1]" }
    assert.deepEqual((await given(input)).input, input)
  })

  test("are refused as before where the text is something else", async () => {
    assert.equal(errorCodeOf((await given('{"ids": [1')).end), "invalid-json")
    assert.equal(errorCodeOf((await given("[1]")).end), "invalid-json")
    const { end } = await given({ ids: "one, two" })
    assert.equal(errorCodeOf(end), "invalid-input")
    assert.match(end.text, /ids: .*expected array, received string/)
    assert.equal(errorCodeOf((await given('{"ids":["x"]}')).end), "invalid-input")
    assert.match((await given({ ids: '["x"]' })).end.text, /ids\[0\]: .*expected (int|number)/)
  })

  test("are decoded by built-in tools and those with plain JSON Schema", async () => {
    const todos = '[{"title":"a"}]'
    assert.equal((await toolEndOf([], "write_todos", { todos })).end.ok, true)
    const plain = tool({
      name: "plain",
      description: "",
      input: {
        type: "object",
        properties: { rows: { $ref: "#/$defs/rows" }, maybe: { anyOf: [{ type: "array" }, { type: "null" }] } },
        $defs: { rows: { type: "array", items: { type: "object", properties: { n: { type: "number" } } } } },
      },
      run: (input) => input,
    })
    const input = { rows: '[{"n":1}]', maybe: "[]" }
    assert.equal((await toolEndOf([plain], "plain", input)).end.text, '{"rows":[{"n":1}],"maybe":[]}')
  })

  test("are decoded by the tools of an MCP server", async (context) => {
    const client = await connect(context, await serve(context, { runtime: jsRuntime({ a: 1, b: 2 }) }), "modern")
    const result = await client.callTool({ name: "describe", arguments: { names: '["a"]' } })
    assert.match(textOf(result), /declare .*\ba\b/)
    assert.doesNotMatch(textOf(result), /\bb\b/)
  })
})
