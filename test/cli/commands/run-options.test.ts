// test lane: unit, long
import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { karst, modelServer, startKarst } from "../karst.ts"

describe("the options of karst run", () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-test-"))
    await writeFile(join(folder, "notes.txt"), "buy milk")
    await writeFile(join(folder, "system.txt"), "You are a pirate.")
    await writeFile(join(folder, "dot.gif"), "GIF89a\u0001\u0000")
    await writeFile(
      join(folder, "tools.ts"),
      `import { tool } from ${source("tools/tool.ts")}
       export const echo = tool({ name: "echo", description: "Repeats.", run: () => "echoed" })`,
    )
    await writeFile(
      join(folder, "agents.ts"),
      `import { createAgent } from ${source("agent/create-agent.ts")}
       import { scriptedModel } from ${source("models/scripted.ts")}
       import { echo } from "./tools.ts"
       const model = scriptedModel(({ system }) => system.includes("poet") ? "A rose." : "Hello.")
       export const poet = createAgent({ name: "poet", model, instructions: "You are a poet." })
       export const greeter = createAgent({ name: "greeter", model })
       export const caller = createAgent({ name: "caller", model, tools: [echo] })`,
    )
    await writeFile(
      join(folder, "karst.config.json"),
      JSON.stringify({
        limits: { cycles: 3 },
        models: { own: { id: "openai-compatible:http://127.0.0.1:1/v1#own", retry: false } },
        agents: { pirate: { model: "own", instructions: "You are a pirate." } },
      }),
    )
  })
  after(() => rm(folder, { recursive: true }))

  const run = (args: string[], env: Record<string, string> = {}) =>
    karst(["run", ...args], { KARST_TRUST_CONFIG: "1", ...env }, folder)

  test("--workspace, --shell and --tools give tools; --system, --temperature and --reasoning reach the model", async (t) => {
    const { id, bodies } = await modelServer(t, ["ok"])
    const tools = ["--workspace", ".", "--shell", "--tools", "tools.ts"]
    const settings = ["--system", "@system.txt", "--temperature", "0.5", "--reasoning", "low"]
    const { code: exit, stderr } = await run(["x", "--model", id, ...tools, ...settings])
    assert.equal(exit, 0, stderr)
    const body = JSON.parse(bodies[0] ?? "")
    const names = body.tools.map((each: { function: { name: string } }) => each.function.name)
    for (const name of ["read_file", "shell", "echo"]) assert.ok(names.includes(name), name)
    assert.match(body.messages[0].content, /^You are a pirate\.\n\nCells cannot read or write files: use the tools/)
    assert.deepEqual([body.temperature, body.reasoning_effort], [0.5, "low"])
  })

  test("--language zh gives the model its instructions in Chinese", async (t) => {
    const { id, bodies } = await modelServer(t, ["ok"])
    assert.equal((await run(["x", "--model", id, "--language", "zh"])).code, 0)
    assert.match(JSON.parse(bodies[0] ?? "").messages[0].content, /^你通过编写代码[\s\S]*# 工作方式/)
    const { code: exit, stderr } = await run(["x", "--model", id, "--language", "de"])
    assert.equal(exit, 2)
    assert.match(stderr, /--language.*en.*zh/)
  })

  test("--image puts an image into the prompt, and - puts standard input beside other words", async (t) => {
    const { id, bodies } = await modelServer(t, ["ok"])
    const { child, ended } = startKarst(["run", "Sum up:", "-", "--image", "dot.gif", "--model", id], {}, folder)
    child.stdin.end("a long text")
    assert.equal((await ended).code, 2, "the configuration is not trusted")
    const trusted = startKarst(["run", "Sum up:", "-", "--image", "dot.gif", "--model", id], trust, folder)
    trusted.child.stdin.end("a long text")
    assert.equal((await trusted.ended).code, 0)
    assert.match(bodies[0] ?? "", /Sum up: \\n\\na long text/)
    assert.match(bodies[0] ?? "", /data:image\/gif;base64,/)
  })

  test("--agent runs an agent of a module as it is defined, and the header names it", async () => {
    const { code: exit, stdout } = await run(["Hi", "--agent", "./agents.ts#poet"])
    assert.equal(exit, 0)
    assert.match(stdout, /^karst · agent poet · cells in this process\n[\s\S]*● A rose\./)
    const { stdout: withTools } = await run(["Hi", "--agent", "./agents.ts#caller"])
    assert.match(withTools, /^karst · agent caller\n/, "it writes no cells")
    const wrong: [string[], RegExp][] = [
      [["--agent", "agents.ts"], /exports several agents\. Name one: agents\.ts#/],
      [["--agent", "agents.ts#poem"], /no agent "poem" in agents\.ts\. Did you mean "poet"\?/],
      [["--agent", "nobody"], /There is no agent "nobody"/],
      [["--agent", "agents.ts#poet", "--shell"], /--shell cannot be used here: the agent agents\.ts#poet runs as/],
    ]
    for (const [args, says] of wrong) {
      const { code, stderr } = await run(["Hi", ...args])
      assert.equal(code, 2)
      assert.match(stderr, says)
    }
  })

  test("--data gives the agent of a module or of the configuration its variables, also after a resume", async (t) => {
    await writeFile(join(folder, "sales.csv"), "month,total\nMay,4\nJune,5\n")
    const cell = code(
      "var total = sales.reduce((sum, row) => sum + row.total, 0); sales[0].total = 104; `sum ${total}`",
    )
    await writeFile(
      join(folder, "summer.ts"),
      `import { createAgent } from ${source("agent/create-agent.ts")}
       import { scriptedModel } from ${source("models/scripted.ts")}
       import { jsRuntime } from ${source("runtime/js.ts")}
       const model = scriptedModel(({ messages }) =>
         messages.at(-1).role === "user" ? ${JSON.stringify(cell)} : /sum [0-9]+/.exec(JSON.stringify(messages.at(-1)))[0])
       export const summer = createAgent({ name: "summer", model, runtime: () => jsRuntime() })`,
    )
    const stored = { KARST_HOME: join(folder, "home") }
    const summing = await run(["Sum it.", "--agent", "./summer.ts", "--data", "sales.csv"], stored)
    assert.equal(summing.code, 0, summing.stderr + summing.stdout)
    assert.match(summing.stderr, /sales: 2 records from sales\.csv/)
    assert.match(summing.stdout, /● sum 9\b/)
    const resumed = await karst(["resume", "last", "Again."], { KARST_TRUST_CONFIG: "1", ...stored }, folder)
    assert.equal(resumed.code, 0, resumed.stderr + resumed.stdout)
    assert.match(resumed.stdout, /● sum 109\b/)
    const { id, bodies } = await modelServer(t, ["Arr."])
    const pirate = await run(["Hi", "--agent", "pirate", "--model", id, "--data", "sales.csv"])
    assert.equal(pirate.code, 0, pirate.stderr)
    assert.match(bodies[0] ?? "", /sales: .*month/)
    const withoutVariables = await run(["Hi", "--agent", "./agents.ts#caller", "--data", "sales.csv"])
    assert.equal(withoutVariables.code, 2)
    assert.match(withoutVariables.stderr, /--data cannot be used here: the agent caller has no runtime.*Give it one/)
  })

  test("--agent and --model also take names of the configuration", async (t) => {
    const { id, bodies } = await modelServer(t, ["Arr."])
    const pirate = await run(["Hi", "--agent", "pirate", "--model", id])
    assert.match(pirate.stdout, /^karst · agent pirate · cells (isolated|in a process)/)
    assert.match(bodies[0] ?? "", /You are a pirate\./)
    const named = await run(["Hi", "--model", "own"])
    assert.match(named.stdout, /^karst · openai-compatible\/own · /)
    assert.equal(named.code, 1)
  })

  test("the default agent of the configuration runs unless --agent karst names the built-in one, with its limits", async (t) => {
    const { id } = await modelServer(t, [code("1")])
    const byDefault = await run(["Hi"], { KARST_AGENT: "pirate" })
    assert.match(byDefault.stdout, /^karst · agent pirate · /)
    const builtIn = await run(["Hi", "--agent", "karst", "--model", id], { KARST_AGENT: "pirate" })
    assert.match(builtIn.stdout, /^karst · openai-compatible\/test · /)
    assert.equal(builtIn.code, 3)
  })

  test("--provider lets a coding CLI do it", async () => {
    await writeFile(join(folder, "claude"), fakeClaude, { mode: 0o755 })
    const env = { PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder }
    const { code: exit, stdout, stderr } = await run(["say Hi", "--provider", "claude"], env)
    assert.equal(exit, 0, stderr)
    assert.match(stdout, /^karst · claude\n[\s\S]*Hi 1/)
    const refused = await run(["x", "--provider", "claude", "--temperature", "1"], env)
    assert.match(refused.stderr, /--temperature cannot be used here: claude has no such setting/)
  })

  const wrong: [what: string, args: string[], says: RegExp][] = [
    ["a shell without a folder", ["x", "--shell"], /--shell needs a folder.*--workspace \./],
    ["a folder that does not exist", ["x", "--workspace", "no"], /--workspace: there is no folder no/],
    ["a module without tools", ["x", "--tools", "agents.ts"], /agents\.ts exports no tool/],
    ["an image that is none", ["x", "--image", "notes.txt"], /--image notes\.txt: this is no image/],
    ["instructions that cannot be read", ["x", "--system", "@no.txt"], /--system @no\.txt is not there/],
    ["a number of cycles that is none", ["x", "--max-cycles", "0"], /--max-cycles: "0" is not a whole number above 0/],
    ["a reasoning effort that does not exist", ["x", "--reasoning", "hgih"], /Did you mean "high"\?/],
  ]
  for (const [what, args, says] of wrong) {
    test(`${what} is reported in one sentence, with exit code 2`, async () => {
      const { code, stderr } = await run([...args, "--model", "ollama/x"])
      assert.equal(code, 2)
      assert.match(stderr, says)
    })
  }
})

const code = (source: string) => `Let me see.\n\n\`\`\`ts\n${source}\n\`\`\``
const trust = { KARST_TRUST_CONFIG: "1" }
const fakeClaude = `#!/bin/sh
exec "${process.execPath}" "${fileURLToPath(new URL("../../fixtures/fake-claude.ts", import.meta.url))}" "$@"
`

function source(path: string): string {
  return JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)
}
