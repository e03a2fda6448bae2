// test lane: clis
import assert from "node:assert/strict"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type CodexOptions, claude, codex } from "karst/providers"
import type { ToolGroup } from "../../../src/providers/provider.ts"

interface Started {
  arguments: string[]
  input: string
  environment: string
}

/** Sends prompts in one session and returns how Codex was started for each. */
async function startedFor(options: CodexOptions, ...prompts: string[]): Promise<Started[]> {
  const notes = await mkdtemp(join(tmpdir(), "karst-codex-"))
  const program = join(import.meta.dirname, "../..", "fixtures", "fake-codex.sh")
  await using session = await codex({ ...options, program, env: { FAKE_NOTES: notes, HOME: notes } }).session()
  for (const prompt of prompts) await session.send(prompt)
  const names = (await readdir(notes)).filter((name) => name.startsWith("arguments-"))
  const order = names.map((name) => Number(name.split("-")[1])).sort((one, other) => one - other)
  const read = (name: string, count: number) => readFile(join(notes, `${name}-${count}`), "utf8")
  const all = await Promise.all(
    order.map(async (count) => ({
      arguments: (await read("arguments", count)).split("\0").slice(0, -1),
      input: await read("input", count),
      environment: await read("environment", count),
    })),
  )
  await rm(notes, { recursive: true, force: true })
  return all
}

describe("Codex is started", () => {
  test("with the prompt on its input, however long, and never among its arguments", async () => {
    const prompt = "word ".repeat(60_000)
    const [first] = await startedFor({}, prompt)
    assert.equal(first?.input, prompt)
    assert.equal(first?.arguments.at(-1), "-")
    assert.ok((first?.arguments.join(" ").length ?? 0) < 2000)
  })

  test("with the same rights when it goes on, by its thread", async () => {
    const [first, second] = await startedFor({ allow: ["read", "write"] }, "one", "two")
    const rights = 'sandbox_mode="workspace-write"'
    assert.ok(first?.arguments.includes(rights) && second?.arguments.includes(rights))
    assert.deepEqual(second?.arguments.slice(-3), ["resume", "thread-1", "-"])
    assert.ok(!first?.arguments.includes("resume"))
  })

  const modes: [ToolGroup[], string][] = [
    [["read"], "read-only"],
    [["read", "web"], "read-only"],
    [["read", "exec"], "read-only"],
    [["read", "write"], "workspace-write"],
    [["read", "write", "exec"], "workspace-write"],
    [["read", "write", "exec", "web"], "danger-full-access"],
  ]
  for (const [allow, mode] of modes) {
    test(`in the sandbox ${mode} where it may ${allow.join(", ")}`, async () => {
      const [first] = await startedFor({ allow }, "x")
      assert.ok(first?.arguments.includes(`sandbox_mode="${mode}"`))
      assert.ok(first?.arguments.includes(`web_search="${allow.includes("web") ? "live" : "disabled"}"`))
      assert.ok(!first?.arguments.some((each) => each.startsWith("--dangerously")))
    })
  }

  test("without any check only where that was written", async () => {
    const [first] = await startedFor({ permissions: "bypass" }, "x")
    assert.ok(first?.arguments.includes("--dangerously-bypass-approvals-and-sandbox"))
    assert.ok(!first?.arguments.some((each) => each.startsWith("sandbox_mode")))
  })

  test("with instructions, reasoning, servers and settings as TOML, and no secrets", async () => {
    const [first] = await startedFor(
      {
        instructions: 'Say "hi"\nand more',
        reasoning: "high",
        model: "some-model",
        config: { "tools.view_image": false, notify: ["a b", 'c"d'] },
        mcpServers: {
          far: { url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer secret-1" } },
          near: { command: "node", args: ["x y"] },
          private: { command: "node", env: { KEY: "secret-2" } },
        },
      },
      "x",
    )
    const given = first?.arguments ?? []
    for (const expected of [
      'developer_instructions="Say \\"hi\\"\\nand more"',
      'model_reasoning_effort="high"',
      "tools.view_image=false",
      'notify=["a b", "c\\"d"]',
      'mcp_servers.far.url="http://127.0.0.1:1/mcp"',
      'mcp_servers.near.args=["x y"]',
    ]) {
      assert.ok(given.includes(expected), `${expected} in ${given.join(" ")}`)
    }
    assert.equal(given[given.indexOf("--model") + 1], "some-model")
    assert.ok(!given.join().includes("secret-"))
    assert.match(first?.environment ?? "", /^KARST_HEADER_FAR_0=Bearer secret-1$/m)
  })

  test("or says what is too long for that", async () => {
    const program = join(import.meta.dirname, "../..", "fixtures", "fake-codex.sh")
    const { error } = await codex({ program, instructions: "x".repeat(3_000_000) }).run("x").settled
    assert.match(error?.message ?? "", /longer than the system allows.*[Ii]nstructions/)
  })

  test("by options of its own, which another CLI refuses", () => {
    const options = { config: {} }
    assert.throws(() => claude(options as object), /no option `config`/)
  })
})
