// test lane: newcomer
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { requires } from "../../system.ts"
import { createTerminalMachine, taskCommand } from "./terminal-machine.ts"
import { openTmux } from "./tmux.ts"

describe("as a person sees it", { skip: requires("node-pty", "tmux") }, () => {
  test("a CLI has the whole window, and what was there before is there after it, even when it is killed", async () => {
    await using bench = await createTerminalMachine("claude")
    await using tmux = await openTmux(bench.cwd, bench.env)
    tmux.type("echo before", "Enter")
    tmux.type(taskCommand({ options: { cwd: bench.cwd } }), "Enter")
    await tmux.sees("ready 100x30")
    assert.doesNotMatch(tmux.screen(), /before/)
    assert.deepEqual(tmux.state(), { otherScreen: true, cursor: false, mouse: true })
    tmux.resize(120, 40)
    await tmux.sees("size 120x40")
    tmux.type("k")
    await tmux.sees("total 0")
    assert.match(tmux.screen(), /before/)
    assert.deepEqual(tmux.state(), { otherScreen: false, cursor: true, mouse: false })
    // The shell reads lines and echoes input again.
    tmux.type("echo af''ter", "Enter")
    await tmux.sees(/after$/m)
    assert.match(tmux.screen(), /echo af''ter/)
  })

  test("the menu moves with the keys, and leaves no trace", async () => {
    await using bench = await createTerminalMachine("claude", "codex")
    await using tmux = await openTmux(bench.cwd, bench.env)
    tmux.type(taskCommand({ options: { cwd: bench.cwd, selectProvider: true } }), "Enter")
    await tmux.sees("❯ Claude Code")
    tmux.type("j")
    await tmux.sees("❯ Codex")
    assert.match(tmux.screen(), /^ {2}Claude Code .*claude$/m)
    tmux.type("", "Up")
    await tmux.sees("❯ Claude Code")
    tmux.type("", "Escape")
    await tmux.sees(/"exitCode":130/)
    assert.doesNotMatch(tmux.screen(), /Which coding CLI|❯/)
  })
})
