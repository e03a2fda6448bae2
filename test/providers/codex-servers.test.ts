import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { codexServers } from "../../src/providers/codex-servers.ts"

async function homeWith(config: string): Promise<{ env: Record<string, string> } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "karst-codex-"))
  await writeFile(join(home, "config.toml"), config)
  const env = { CODEX_HOME: home, API_KEY: "codex-own" }
  return { env, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) }
}

const local = { toolTimeoutMs: 1500, command: "serve", args: ["--quiet"] }

describe("the MCP servers that Codex is started with", () => {
  test("leave out those of the user's own settings, but for names that we give", async () => {
    await using home = await homeWith(
      '[mcp_servers.one]\ncommand = "a"\n[mcp_servers."two-b"]\n[mcp_servers.ours.env]\n',
    )
    const { config } = await codexServers({ ...home, servers: [{ ...local, name: "ours" }] })
    assert.equal(config["mcp_servers.one.enabled"], false)
    assert.equal(config["mcp_servers.two-b.enabled"], false)
    assert.equal(config["mcp_servers.ours.enabled"], undefined)
    assert.equal(config["mcp_servers.ours.tool_timeout_sec"], 2)
  })

  test("have their secrets from the environment and not from arguments", async () => {
    await using home = await homeWith("")
    const { config, env } = await codexServers({
      ...home,
      servers: [
        { ...local, name: "program", env: { TOKEN: "secret-1" } },
        { name: "address", toolTimeoutMs: 1, url: "http://127.0.0.1:9/mcp", headers: { Authorization: "secret-2" } },
      ],
    })
    assert.ok(!JSON.stringify(config).includes("secret"))
    assert.deepEqual(Object.values(env), ["secret-1", "secret-2"])
    assert.deepEqual(config["mcp_servers.program.env_vars"], ["TOKEN"])
  })

  test("do not change a variable that Codex itself or another server has", async () => {
    await using home = await homeWith("")
    const servers = ["one", "two"].map((name) => ({ ...local, name, env: { API_KEY: "servers", OWN: name } }))
    const { config, env } = await codexServers({ ...home, servers })
    assert.deepEqual(env, { OWN: "one" })
    assert.deepEqual(config["mcp_servers.one.env"], { API_KEY: "servers" })
    assert.deepEqual(config["mcp_servers.two.env"], { API_KEY: "servers", OWN: "two" })
  })
})
