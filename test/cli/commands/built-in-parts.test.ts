// test lane: unit, long
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { testProject } from "../../config/project-folder.ts"
import { karst, modelServer, startKarst } from "../karst.ts"

const fixture = fileURLToPath(new URL("../../fixtures/mcp/tools-server.ts", import.meta.url))

const skillText = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\nInstructions of ${name}.\n`

/** A project with skills of every origin. */
const skillFiles = {
  "project/karst.config.json": { skills: ["./shared"] },
  "project/shared/tables/SKILL.md": skillText("tables", "Makes tables."),
  "project/.karst/skills/charts/SKILL.md": skillText("charts", "Draws charts."),
  "home/skills/letters/SKILL.md": skillText("letters", "Writes letters."),
}

async function project(t: TestContext, files: Record<string, string | object>) {
  const { folder, home, write } = await testProject(t, files)
  const env = { KARST_HOME: home, KARST_TRUST_CONFIG: "1" }
  const log = join(home, "server.log")
  const server = { command: process.execPath, args: [fixture], env: { MCP_TEST_LOG: log } }
  const command = (args: string[], more: Record<string, string> = {}) => karst(args, { ...env, ...more }, folder)
  return { folder, home, env, log, server, command, write }
}

/** An answer of the model that calls a tool. */
function callOf(name: string, input: object) {
  return (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    const chunk = (choices: object[]) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices })}\n\n`
    const call = { index: 0, id: "t1", type: "function", function: { name, arguments: JSON.stringify(input) } }
    response.write(chunk([{ index: 0, delta: { role: "assistant", tool_calls: [call] } }]))
    response.write(chunk([{ index: 0, delta: {}, finish_reason: "tool_calls" }]))
    response.end("data: [DONE]\n\n")
  }
}

function toolNames(body: string | undefined): string[] {
  const { tools = [] } = JSON.parse(body ?? "{}")
  return tools.map((each: { function: { name: string } }) => each.function.name)
}

async function pidIn(log: string): Promise<number> {
  return Number(/^start (\d+)/.exec(await readFile(log, "utf8"))?.[1])
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("the skills of the built-in agent", () => {
  test("are those of the configuration and of .karst/skills of project and user; karst prompt shows the same", async (t) => {
    const { command } = await project(t, skillFiles)
    const { id, bodies } = await modelServer(t, ["ok"])
    const { code, stderr } = await command(["run", "x", "--model", id])
    assert.equal(code, 0, stderr)
    const system: string = JSON.parse(bodies[0] ?? "").messages[0].content
    for (const text of ["tables: Makes tables.", "charts: Draws charts.", "letters: Writes letters."])
      assert.ok(system.includes(text), text)
    const { stdout } = await command(["prompt"])
    assert.ok(stdout.includes(system.trim()), stdout)
  })

  test("of --skill come first, and no configuration is needed for those of .karst/skills", async (t) => {
    const { command } = await project(t, {
      "project/own/charts/SKILL.md": skillText("charts", "Draws better charts."),
      "project/.karst/skills/charts/SKILL.md": skillText("charts", "Draws charts."),
      "home/skills/letters/SKILL.md": skillText("letters", "Writes letters."),
    })
    const { stdout } = await command(["prompt", "--skill", "own"])
    assert.match(stdout, /charts: Draws better charts\./)
    assert.match(stdout, /letters: Writes letters\./)
    assert.doesNotMatch(stdout, /Draws charts\./)
  })

  test("can be activated, with code only from folders that the configuration names", async (t) => {
    const injection = "export const one = 1\n"
    const { command } = await project(t, {
      ...skillFiles,
      "project/shared/tables/injection.js": injection,
      "project/.karst/skills/charts/injection.js": injection,
    })
    const cell =
      "```ts\nawait activateSkill('tables')\nawait activateSkill('charts')\nconsole.log(typeof one, 'one')\n```"
    const { id, bodies } = await modelServer(t, [cell, "ok"])
    const { code, stdout, stderr } = await command(["run", "x", "--model", id])
    assert.equal(code, 0, stdout + stderr)
    assert.match(bodies[1] ?? "", /Instructions of tables\.[\s\S]*Instructions of charts\./)
    assert.match(stderr, /charts: has code, which is not run.*Add the folder to `skills`/)
  })

  test("with a mistake in a folder that the configuration names are refused, with the place", async (t) => {
    const { command } = await project(t, { ...skillFiles, "project/shared/wrong/SKILL.md": "no front matter" })
    const { code, stderr } = await command(["run", "x", "--model", "ollama/x"])
    assert.equal(code, 2)
    assert.match(stderr, /karst\.config\.json:2: the skills cannot be used as they are:\n- .*wrong/)
  })

  test("are listed in a chat by /skills", async (t) => {
    const { env, folder } = await project(t, skillFiles)
    const { child, ended } = startKarst(["chat", "--model", "ollama/x"], env, folder)
    child.stdin.end("/skills\n")
    const { stdout } = await ended
    for (const text of ["tables  Makes tables.", "charts  Draws charts.", "letters  Writes letters."])
      assert.ok(stdout.includes(text), stdout)
  })
})

describe("the MCP servers of the built-in agent", () => {
  test("are those of the configurations of project and user; they are ended with the run", async (t) => {
    const { command, write, server, log, home } = await project(t, {})
    const userLog = join(home, "user.log")
    await write({
      "project/karst.config.json": { mcpServers: { sums: server } },
      "home/config.json": { mcpServers: { other: { ...server, env: { MCP_TEST_LOG: userLog } } } },
    })
    const { id, bodies } = await modelServer(t, [callOf("sums_add", { a: 20, b: 3 }), "It is 23."])
    const { code, stdout, stderr } = await command(["run", "20 + 3?", "--model", id])
    assert.equal(code, 0, stderr)
    assert.equal(stderr, "")
    assert.match(stdout, /● It is 23\./)
    const names = toolNames(bodies[0])
    assert.ok(names.includes("sums_add") && names.includes("other_add"), String(names))
    const results = JSON.parse(bodies[1] ?? "").messages.filter(({ role }: { role: string }) => role === "tool")
    assert.match(JSON.stringify(results), /23/)
    for (const file of [log, userLog]) assert.equal(isRunning(await pidIn(file)), false)
  })

  test("also serve karst chat and karst prompt", async (t) => {
    const { command, write, server, log, env, folder } = await project(t, {})
    await write({ "project/karst.config.json": { mcpServers: { sums: server } } })
    const prompt = await command(["prompt"])
    assert.equal(prompt.code, 0, prompt.stderr)
    assert.match(prompt.stderr, /^karst: Besides, the model gets your tools: sums_add, .*\.\n$/)
    const { id, bodies } = await modelServer(t, [callOf("sums_add", { a: 20, b: 3 }), "It is 23."])
    const { child, ended } = startKarst(["chat", "--model", id], env, folder)
    child.stdin.end("20 + 3?\n")
    assert.match((await ended).stdout, /● It is 23\./)
    assert.ok(toolNames(bodies[0]).includes("sums_add"))
    assert.equal(prompt.stdout.trim(), JSON.parse(bodies[0] ?? "").messages[0].content.trim())
    assert.equal(isRunning(await pidIn(log)), false)
  })

  test("that cannot be reached are named with their place, and the run goes on", async (t) => {
    const { command, write, server } = await project(t, {})
    const gone = { command: "/no/such/program" }
    const keyed = { url: "http://127.0.0.1:1/$" + "{NO_VAR}" }
    await write({ "project/karst.config.json": { mcpServers: { gone, keyed, sums: server } } })
    const { id, bodies } = await modelServer(t, ["ok"])
    const { code, stderr } = await command(["run", "x", "--model", id])
    assert.equal(code, 0, stderr)
    assert.match(
      stderr,
      /^karst: .*karst\.config\.json:3: mcp: the MCP server "gone" cannot be used: .* The agent works without its tools\.$/m,
    )
    assert.match(stderr, /json:6: The MCP server "keyed" needs the environment variable NO_VAR/)
    assert.ok(toolNames(bodies[0]).includes("sums_add"))
  })

  test("come only from configuration files that are trusted", async (t) => {
    const { command, write, server, log } = await project(t, {})
    await write({ "project/karst.config.json": { mcpServers: { sums: server } } })
    const { code, stderr } = await command(["run", "x", "--model", "ollama/x"], { KARST_TRUST_CONFIG: "" })
    assert.equal(code, 2)
    assert.match(stderr, /is new to Karst/)
    assert.equal(existsSync(log), false)
  })

  test("cannot be added by data resources", async (t) => {
    const { command, write, server, log } = await project(t, {})
    const frontMatter = `---\nname: a\ndescription: d\nmcpServers: ${JSON.stringify({ sums: server })}\n---\nText.\n`
    await write({
      "project/.karst/config.json": { mcpServers: { sums: server } },
      "project/.karst/mcp.json": { mcpServers: { sums: server } },
      "project/.mcp.json": { mcpServers: { sums: server } },
      "project/.karst/skills/a/SKILL.md": frontMatter,
      "project/.karst/agents/a.md": frontMatter,
    })
    const { id, bodies } = await modelServer(t, ["ok"])
    assert.equal((await command(["run", "x", "--model", id])).code, 0)
    assert.deepEqual(
      toolNames(bodies[0]).filter((name) => name.startsWith("sums")),
      [],
    )
    assert.equal(existsSync(log), false)
  })
})

describe("the hooks of the configuration", () => {
  test("apply to the built-in agent", async (t) => {
    const { command } = await project(t, {
      "project/karst.config.ts": `export default { hooks: { beforeCall: () => ({ refuse: "not on Sundays" }) } }`,
      "project/notes.txt": "buy milk",
    })
    const { id, bodies } = await modelServer(t, [callOf("read_file", { path: "notes.txt" }), "ok"])
    const { code, stderr } = await command(["run", "x", "--workspace", ".", "--model", id])
    assert.equal(code, 0, stderr)
    assert.match(bodies[1] ?? "", /not on Sundays/)
    assert.doesNotMatch(bodies[1] ?? "", /buy milk/)
  })
})
