// test lane: clis, long
import assert from "node:assert/strict"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { fakeCliMachine } from "../../providers/cli-machines.ts"
import { karst } from "../karst.ts"

async function machine(config: string) {
  const place = await fakeCliMachine()
  const env = {
    HOME: place.folder,
    KARST_HOME: join(place.folder, "home"),
    KARST_TRUST_CONFIG: "1",
    PATH: place.options.env?.PATH ?? "",
  }
  await writeFile(join(place.cwd, "karst.config.ts"), `export default ${config}`)
  const run = (...args: string[]) => karst(["run", "say Hi", "--mode", "result", ...args], env, place.cwd)
  return { place, run, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() }
}

describe("karst run --provider", () => {
  test("starts the MCP servers in the folder of the configuration, also if the CLI works elsewhere", async () => {
    await using at = await machine('{ mcpServers: { files: { command: "./files-server", args: ["a b"] } } }')
    await mkdir(join(at.place.cwd, "elsewhere"))
    const here = await at.run("--provider", "codex")
    const there = await at.run("--provider", "codex", "--workspace", "elsewhere")
    assert.deepEqual([here.code, there.code], [0, 0], here.stderr + there.stderr)
    const [first = "", second = ""] = await at.place.starts("codex")
    assert.match(first, /command[^,]*"\.\/files-server"/)
    assert.match(second, /cd \\"\$0\\" && exec .*work"[^\]]*"\.\/files-server", ?"a b"/)
  })

  test("gives the coding CLI the MCP servers of the configuration, without one that lacks a variable", async () => {
    await using at = await machine(`{
      mcpServers: {
        files: { command: "files-server", args: ["--root", "/data"] },
        tickets: { url: "https://tickets.example/mcp", headers: { Authorization: "\${NO_SUCH_VARIABLE}" } },
      },
    }`)
    const { code, stdout, stderr } = await at.run("--provider", "codex")
    assert.deepEqual([code, stdout], [0, "Hi 1\n"], stderr)
    const [started = ""] = await at.place.starts("codex")
    assert.match(started, /mcp_servers\.files.*files-server/s)
    assert.doesNotMatch(started, /tickets/)
    assert.match(stderr, /NO_SUCH_VARIABLE.*The coding CLI works without this server/)
  })

  test("says which hooks and skills of the configuration do not apply", async () => {
    await using at = await machine(`{ hooks: { beforeCall() {}, beforeModel() {}, onEvent() {} } }`)
    const skill = join(at.place.cwd, ".karst", "skills", "tables")
    await mkdir(skill, { recursive: true })
    await writeFile(join(skill, "SKILL.md"), "---\nname: tables\ndescription: Makes tables.\n---\nMake them.\n")
    const { code, stderr } = await at.run("--provider", "claude")
    assert.equal(code, 0, stderr)
    assert.match(stderr, /the hooks `beforeModel`, `onEvent` of the configuration do not apply to a coding CLI/)
    assert.match(stderr, /does not use the skills of the configuration: tables\./)
    await using plain = await machine("{ hooks: { beforeCall() {} } }")
    assert.equal((await plain.run("--provider", "claude")).stderr, "")
  })

  test("keeps the limits of the configuration, on the cost by the prices of its models", async () => {
    const limits = "limits: { costUsd: 5 }"
    await using unpriced = await machine(`{ ${limits} }`)
    const refused = await unpriced.run("--provider", "codex", "--model", "own-model")
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /limits\.costUsd: Codex reports no cost.*prices/)
    const price = "price: { input: 1000, output: 1000 }"
    await using priced = await machine(`{ ${limits}, models: { own: { id: "openai/own-model", ${price} } } }`)
    const { code, stdout, stderr } = await priced.run("--provider", "codex", "--model", "own-model", "--json")
    assert.equal(code, 0, stderr)
    const end = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}")
    assert.equal(end.type, "run-end")
    assert.ok(end.usage.costUsd > 0, stdout)
  })
})
