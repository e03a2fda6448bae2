// test lane: clis, long
// The program of docs/terminals-and-containers.md, run as it is shown there in a terminal, with small programs in the
// place of the CLIs.
import assert from "node:assert/strict"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { createTerminalMachine, startTerminal } from "../providers/terminal/terminal-machine.ts"
import { requires } from "../system.ts"
import { workIn } from "./surroundings.ts"

test("a person works with the CLI of their choice, and the program continues the session", {
  skip: requires("node-pty"),
}, async (t) => {
  const folder = await workIn(t, { "project/readme.md": "" })
  await using machine = await createTerminalMachine("claude", "codex")
  await mkdir(join(machine.home, ".fake-claude"))
  // In a terminal it is fake-tui.ts, which has had one prompt; otherwise it is fake-claude.ts.
  const fixture = (name: string) => `exec ${process.execPath} ${join(import.meta.dirname, "../fixtures", name)} "$@"`
  const claude = `#!/bin/sh
case " $* " in *" -p "*) ${fixture("fake-claude.ts")} ;; esac
id=$(echo "$*" | sed -n 's/.*--session-id \\([^ ]*\\).*/\\1/p')
echo '["Look"]' > "$HOME/.fake-claude/$id"
${fixture("fake-tui.ts")}
`
  const [bin = ""] = machine.env.PATH?.split(":") ?? []
  await writeFile(join(bin, "claude"), claude, { mode: 0o755 })
  const node = `'${process.execPath}' --conditions=karst-source --disable-warning=ExperimentalWarning`
  const program = join(import.meta.dirname, "terminals-and-containers/interactive.ts")
  const terminal = startTerminal(`${node} '${program}'`, { ...machine.env, KARST_PROVIDER: "codex,claude" }, folder)
  t.after(() => terminal.type("x")) // ends the CLI if an assertion failed
  await terminal.sees("Which coding CLI?")
  await terminal.sees("Claude Code")
  terminal.type("\x1b[B\r")
  await terminal.sees("ready")
  assert.equal((await machine.launched()).args.at(-1), "Look at `report` with me.")
  terminal.type("s")
  await terminal.sees(/served http:\/\/127\.0\.0\.1:\d+\/\S* 200/)
  terminal.type("q")
  const { result, restored } = await terminal.ended()
  assert.deepEqual([result?.exitCode, result?.output, restored], [0, "again 2", true])
  assert.match(terminal.shown, /showed true/)
})
