// test lane: clis
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { codexMcpServers } from "../../../src/providers/codex/codex-mcp-servers.ts"

async function homeWith(config: string): Promise<Place> {
  const home = await mkdtemp(join(tmpdir(), "karst-codex-"))
  const folder = join(home, "turn")
  await mkdir(folder)
  await writeFile(join(home, "config.toml"), config)
  const env = { CODEX_HOME: home, API_KEY: "codex-own" }
  return { env, folder, userServers: [], [Symbol.asyncDispose]: () => rm(home, { recursive: true }) }
}

interface Place extends AsyncDisposable {
  env: Record<string, string>
  userServers: string[]
  folder: string
}

const local = { toolTimeoutMs: 1500, command: "serve", args: ["--quiet"] }

describe("the MCP servers that Codex is started with", () => {
  test("leave out those of the user's own settings, but for names that we give", async () => {
    await using home = await homeWith(
      '[mcp_servers.one]\ncommand = "a"\n[mcp_servers."two-b"]\n[mcp_servers.ours.env]\n',
    )
    const { config } = await codexMcpServers({ ...home, servers: [{ ...local, name: "ours" }] }, home.folder)
    assert.equal(config["mcp_servers.one.enabled"], false)
    assert.equal(config["mcp_servers.two-b.enabled"], false)
    assert.equal(config["mcp_servers.ours.enabled"], undefined)
    assert.equal(config["mcp_servers.ours.tool_timeout_sec"], 2)
  })

  test("have their secrets from files and the environment, and not from arguments", async () => {
    await using home = await homeWith("")
    const servers = [
      { ...local, name: "program", env: { TOKEN: "secret-1" } },
      { name: "address", toolTimeoutMs: 1, url: "http://127.0.0.1:9/mcp", headers: { Authorization: "secret-2" } },
    ]
    const { config, env } = await codexMcpServers({ ...home, servers }, home.folder)
    assert.ok(!JSON.stringify(config).includes("secret"))
    assert.deepEqual(Object.values(env), ["secret-2"])
  })

  test("have variables of their own, that neither Codex nor another server sees, whatever is in them", async () => {
    await using home = await homeWith("")
    const odd = `it's "$HOME"\n\\ and \`more\``
    const program = { ...local, command: process.execPath, args: ["-p", "process.env.API_KEY"] }
    const servers = [
      { ...program, name: "one", env: { API_KEY: "servers" } },
      { ...program, name: "two", env: { API_KEY: odd } },
    ]
    const { config, env } = await codexMcpServers({ ...home, servers }, home.folder)
    assert.deepEqual(env, {})
    const said = servers.map(({ name }) => {
      const [command, args] = [config[`mcp_servers.${name}.command`], config[`mcp_servers.${name}.args`]]
      return execFileSync(String(command), args as string[], { encoding: "utf8" })
    })
    assert.deepEqual(said, ["servers\n", `${odd}\n`])
    for (const file of await readdir(home.folder)) {
      const { mode } = await stat(join(home.folder, file))
      assert.equal(mode & 0o077, 0, `${file} is for the user alone`)
    }
  })

  test("cannot have a variable that no shell could have", async () => {
    await using home = await homeWith("")
    const servers = [{ ...local, name: "one", env: { "A B": "x" } }]
    await assert.rejects(codexMcpServers({ ...home, servers }, home.folder), /mcpServers\.one\.env: "A B"/)
  })
})
