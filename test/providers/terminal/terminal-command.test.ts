// test lane: clis
import assert from "node:assert/strict"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { knownProviders } from "../../../src/providers/coding-agent.ts"
import { type TerminalLaunch, type TurnSettings, toolGroups } from "../../../src/providers/provider.ts"

/** The command that starts a CLI in a terminal, with settings that it passes by file or variable. */
async function launched(t: TestContext, name: string, changes: Partial<TurnSettings> & Partial<TerminalLaunch> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "karst-launch-"))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { prompt, key, ...over } = changes
  const settings: TurnSettings = {
    program: name,
    cwd: folder,
    model: undefined,
    reasoning: undefined,
    instructions: undefined,
    systemPrompt: undefined,
    userServers: [],
    allow: new Set(toolGroups),
    permissions: "allow",
    servers: [
      { name: "karst", toolTimeoutMs: 1000, url: "http://127.0.0.1:1/mcp", headers: { Authorization: "secret" } },
    ],
    env: { HOME: folder },
    timeoutMs: undefined,
    idleTimeoutMs: undefined,
    ...over,
  }
  const provider = knownProviders.find((each) => each.name === name)
  const command = await provider?.terminalCommand?.({ settings, prompt, key, folder })
  assert.ok(command)
  if (command.close) t.after(command.close)
  const policy = await readFile(join(folder, "policy.toml"), "utf8").catch(() => "")
  const { permission = {} } = JSON.parse(command.env?.OPENCODE_CONFIG_CONTENT ?? "{}")
  return { ...command, line: command.args.join(" "), policy, permission }
}

const names = knownProviders.map(({ name }) => name)

describe("a CLI started for a person", () => {
  for (const name of names) {
    test(`takes a prompt as it is, goes on with a conversation, and its token is in no argument: ${name}`, async (t) => {
      const { args, line } = await launched(t, name, { prompt: '--help me with "this"', model: "some-model" })
      assert.match(args.at(-1) ?? "", /^(--prompt(-interactive)?=)?--help me with "this"$/)
      assert.ok(args.at(-1)?.startsWith("--prompt") || args.at(-2) === "--")
      assert.match(line, /--model some-model/)
      assert.doesNotMatch(line, /secret/)
      const { args: resumed, key } = await launched(t, name, { key: "the-key" })
      assert.ok(resumed.includes("the-key"))
      assert.equal(key, "the-key")
    })
  }

  test("may do everything where nothing is restricted, and asks about what is not named", async (t) => {
    assert.match((await launched(t, "codex")).line, /sandbox_mode="danger-full-access" .*approval_policy="never"/)
    const { permission } = await launched(t, "opencode")
    assert.deepEqual([permission["*"], permission.bash, permission.question], ["ask", "allow", "allow"])
    assert.match(
      (await launched(t, "gemini")).policy,
      /"run_shell_command"[\s\S]*toolName = "\*"\ndecision = "ask_user"/,
    )
  })

  test("is kept to what is allowed", async (t) => {
    const reading = { allow: new Set(["read"] as const) }
    assert.match((await launched(t, "claude", reading)).line, /--tools Read,Glob,Grep,\S+ /)
    assert.match((await launched(t, "codex", reading)).line, /sandbox_mode="read-only"/)
    const { permission } = await launched(t, "opencode", reading)
    assert.deepEqual([permission["*"], permission.bash, permission.read], ["deny", undefined, "allow"])
    const { policy } = await launched(t, "gemini", reading)
    assert.doesNotMatch(policy, /run_shell_command/)
    assert.match(policy, /toolName = "\*"\ndecision = "deny"/)
  })

  test("asks the person about all but reading, where that is wanted", async (t) => {
    const asking = { permissions: "ask" } as const
    assert.doesNotMatch((await launched(t, "claude", asking)).line, /Bash/)
    assert.match((await launched(t, "claude", asking)).line, /--permission-mode default/)
    assert.match((await launched(t, "codex", asking)).line, /sandbox_mode="read-only" .*approval_policy="on-request"/)
    const { permission } = await launched(t, "opencode", asking)
    assert.deepEqual([permission.read, permission.bash, permission.edit], ["allow", "ask", "ask"])
    assert.match((await launched(t, "gemini", asking)).policy, /"run_shell_command".*\]\ndecision = "ask_user"/)
  })

  test("checks nothing only where that is written", async (t) => {
    for (const [name, flag] of [
      ["claude", "--dangerously-skip-permissions"],
      ["codex", "--dangerously-bypass-approvals-and-sandbox"],
      ["opencode", "--auto"],
      ["gemini", "--approval-mode yolo"],
    ] as const) {
      assert.ok(!(await launched(t, name)).line.includes(flag), name)
      assert.ok((await launched(t, name, { permissions: "bypass" })).line.includes(flag), name)
    }
  })

  test("names its conversation when it ends, and that is read", async (t) => {
    const id = "01a1de8a-a085-7443-8cfb-910371c2a9ab"
    for (const [name, says, key] of [
      ["claude", `Resume this session with:\r\nclaude --resume ${id}\r\n`, id],
      ["codex", `To continue this session, run:\r\n  codex resume ${id}`, id],
      ["opencode", "  Continue  opencode -s ses_e21750f5dffeitbS7DzNHVQLgc", "ses_e21750f5dffeitbS7DzNHVQLgc"],
      ["gemini", `│  To resume this session: gemini --resume ${id}   │`, id],
    ] as const) {
      const { resumeHint: farewell } = await launched(t, name)
      assert.equal(farewell && [...says.matchAll(farewell)][0]?.[1], key)
    }
  })
})
