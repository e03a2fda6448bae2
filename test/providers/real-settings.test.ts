// test lane: clis, long
import assert from "node:assert/strict"
import { appendFile, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { acp, type CliAgent, type CliOptions, claude, codex, gemini, opencode } from "karst/providers"
import type { CliName } from "../../scripts/clis.ts"
import { requires } from "../system.ts"
import { type CliMachine, claudeMachine, codexMachine, eventsOfType } from "./cli-machines.ts"
import { geminiMachine, opencodeMachine } from "./slow-cli-machines.ts"

interface Tested {
  name: CliName
  bench(): Promise<CliMachine>
  agent(options: CliOptions): CliAgent
  /** Matches its own system prompt. */
  words: RegExp
}

const clis: Tested[] = [
  { name: "claude", bench: claudeMachine, agent: claude, words: /IMPORTANT: Assist with autho/ },
  { name: "codex", bench: codexMachine, agent: codex, words: /You are (Codex|GPT|a coding agent)/ },
  { name: "opencode", bench: opencodeMachine, agent: opencode, words: /You are opencode/i },
  { name: "gemini", bench: geminiMachine, agent: gemini, words: /You are Gemini CLI/ },
]

for (const { name, bench, agent, words } of clis) {
  test(`systemPrompt replaces the prompt of ${name}`, { skip: requires(name), timeout: 180_000 }, async () => {
    await using place = await bench()
    const options = { ...place.options, idleTimeoutMs: 90_000 }
    await agent(options).run("hello")
    const sent = (from = 0) => JSON.stringify(place.model.requests.slice(from).map(({ body }) => body))
    assert.match(sent(), words)
    const before = place.model.requests.length
    const { trajectory } = await agent({ ...options, systemPrompt: "You are a heron.", instructions: "Wade." }).run(
      "hello",
    )
    const replaced = sent(before)
    assert.ok(replaced.includes("You are a heron.") && replaced.includes("Wade."))
    assert.doesNotMatch(replaced, words)
    assert.equal(trajectory.system, "You are a heron.\n\nWade.")
  })
}

test("systemPrompt and userServers are refused where a CLI has no setting for them", () => {
  assert.throws(() => acp({ command: "any", systemPrompt: "x" }), /systemPrompt: any has no setting.*instructions/)
  assert.throws(() => acp({ command: "any", userServers: ["x"] }), /userServers: any .*mcpServers/)
})

// An MCP server on standard input and output with one tool that says hello.
const server = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  const tools = [{ name: "greet", description: "Greets", inputSchema: { type: "object", properties: {} } }]
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "n", version: "1" } },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: "hello from the user's own server" }] },
  }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }))
})`

describe("the user's own MCP servers", () => {
  test("reach Claude Code by name alone", { skip: requires("claude") }, async () => {
    await using place = await claudeMachine()
    await writeFile(join(place.home, "server.cjs"), server)
    const notes = { command: process.execPath, args: [join(place.home, "server.cjs")] }
    const file = join(place.home, ".claude.json")
    await claude(place.options).run("hello")
    const config = JSON.parse(await readFile(file, "utf8"))
    await writeFile(file, JSON.stringify({ ...config, mcpServers: { notes, other: notes } }))
    const used = await claude({ ...place.options, userServers: ["notes"] }).run("[[tool:mcp__notes__greet {}]]")
    assert.match(used.output, /hello from the user's own server/)
    const { trajectory } = await claude(place.options).run("[[tool:mcp__notes__greet {}]]")
    assert.equal(eventsOfType(trajectory.events, "tool-end")[0]?.ok, false)
    const { error } = await claude({ ...place.options, userServers: ["nots"] }).run("hello").settled
    assert.match(error?.message ?? "", /"nots".*There are: notes, other/)
  })

  test("reach Codex by name alone", { skip: requires("codex") }, async () => {
    await using place = await codexMachine()
    await writeFile(join(place.home, "server.cjs"), server)
    const table = `\n[mcp_servers.notes]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(join(place.home, "server.cjs"))}]\n`
    await appendFile(join(place.home, ".codex", "config.toml"), table)
    const used = await codex({ ...place.options, userServers: ["notes"] }).run("[[tool:mcp__notes:greet {}]]")
    assert.match(used.output, /hello from the user's own server/)
    const { error } = await codex({ ...place.options, userServers: ["nots"] }).run("hello").settled
    assert.match(error?.message ?? "", /"nots".*There are: notes/)
  })
})
