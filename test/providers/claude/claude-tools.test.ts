// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { permissionFlags } from "../../../src/providers/claude/claude-tools.ts"
import { type TurnSettings, toolGroups } from "../../../src/providers/provider.ts"

describe("Claude Code is granted", () => {
  const settings = (changes: Partial<TurnSettings>): TurnSettings => ({
    program: "claude",
    cwd: "/",
    model: undefined,
    reasoning: undefined,
    instructions: undefined,
    systemPrompt: undefined,
    userServers: [],
    allow: new Set(["read"]),
    permissions: "allow",
    servers: [],
    env: {},
    timeoutMs: undefined,
    idleTimeoutMs: undefined,
    ...changes,
  })
  const flag = (flags: string[], name: string) => flags[flags.indexOf(name) + 1]?.split(",") ?? []

  test("exactly what is allowed and the tools of its servers, and is never asked", () => {
    const flags = permissionFlags(settings({ servers: [{ name: "karst", url: "http://x", toolTimeoutMs: 1 }] }))
    assert.deepEqual(flag(flags, "--tools").slice(0, 3), ["Read", "Glob", "Grep"])
    assert.ok(!flag(flags, "--tools").includes("Bash"))
    assert.ok(flag(flags, "--allowedTools").includes("mcp__karst"))
    assert.deepEqual(flag(flags, "--permission-mode"), ["dontAsk"])
  })

  test("only reading before it is asked", () => {
    const flags = permissionFlags(settings({ allow: new Set(toolGroups), permissions: "ask" }))
    assert.ok(flag(flags, "--tools").includes("Bash"))
    assert.ok(!flag(flags, "--allowedTools").includes("Bash") && flag(flags, "--allowedTools").includes("Read"))
    assert.deepEqual(flag(flags, "--permission-prompt-tool"), ["stdio"])
  })

  test("everything only where that was written", () => {
    const isBypass = (permissions: TurnSettings["permissions"]) =>
      permissionFlags(settings({ permissions })).includes("--dangerously-skip-permissions")
    assert.deepEqual([isBypass("allow"), isBypass("ask"), isBypass("bypass")], [false, false, true])
  })
})
