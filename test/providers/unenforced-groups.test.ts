// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { claudeProvider } from "../../src/providers/claude/claude.ts"
import { codexProvider } from "../../src/providers/codex/codex.ts"
import { geminiProvider } from "../../src/providers/gemini/gemini.ts"
import { opencodeProvider } from "../../src/providers/opencode/opencode.ts"
import type { ToolGroup, TurnSettings } from "../../src/providers/provider.ts"

describe("what is not allowed and cannot be kept from a CLI", () => {
  for (const { title, unenforcedGroups: unenforced } of [claudeProvider, opencodeProvider, geminiProvider]) {
    test(`is, in ${title}, all that its shell can do, unless each command is asked about`, () => {
      const told = (allow: ToolGroup[], permissions: TurnSettings["permissions"] = "allow") =>
        unenforced({ allow: new Set(allow), permissions })
      assert.deepEqual(told(["exec"]), ["read", "write", "web"])
      assert.deepEqual(told(["read", "exec", "web"]), ["write"])
      assert.deepEqual(told(["read", "exec"], "ask"), [])
      assert.deepEqual(told(["read"]), [])
    })
  }

  test("is, in Codex, reading and commands that change nothing: its sandbox keeps the rest", () => {
    const told = (allow: ToolGroup[]) => codexProvider.unenforcedGroups({ allow: new Set(allow), permissions: "allow" })
    assert.deepEqual(told([]), ["read", "exec"])
    assert.deepEqual(told(["read", "exec"]), [])
  })
})
