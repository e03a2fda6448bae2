// test lane: unit, long
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { waitUntil } from "../../providers/cli-machines.ts"
import { createTerminalMachine } from "../../providers/terminal/terminal-machine.ts"
import { requires } from "../../system.ts"
import { karst } from "../karst.ts"

const fixtures = fileURLToPath(new URL("../../fixtures", import.meta.url))
const objects = `
enum Kind { Note = "note" }
export const notes: string[] = []
export const counter = { total: 0, add(n: number) { this.total += n; return "total " + this.total } }
export const tools = { note: (prompt: string) => notes.push(prompt + " " + Kind.Note) }
`

describe("karst claude", () => {
  let folder: string
  let env: Record<string, string>

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-claude-"))
    await mkdir(join(folder, "bin"))
    await writeFile(join(folder, "bin/claude"), script("fake-claude.ts"), { mode: 0o755 })
    await writeFile(join(folder, "objects.ts"), objects)
    env = { PATH: `${join(folder, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder }
  })
  after(() => rm(folder, { recursive: true, maxRetries: 5 }))

  test("runs a prompt with the objects of a module, and prints the run", async () => {
    const { code, stdout, stderr } = await command(["objects.ts", "ask note buy_milk say Noted"])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /note/)
    assert.match(stdout, /Noted 1/)
  })

  test("gives nothing but reading beside the objects, and more where it is allowed", async () => {
    const lines = async (...more: string[]) => (await command(["objects.ts", "say Hi", "--json", ...more])).stdout
    const toolsIn = (text: string) => /"tools":\[("[^\]]*")\]/.exec(text)?.[1] ?? ""
    assert.doesNotMatch(toolsIn(await lines()), /Bash|Write/)
    assert.match(toolsIn(await lines("--allow", "read,exec")), /Bash/)
  })

  test("prints events as JSON lines, where asked, and the answer alone in mode result", async () => {
    const { stdout } = await command(["objects.ts", "say Hi", "--json"])
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type)
    assert.equal(events.at(0), "run-start")
    assert.equal(events.at(-1), "run-end")
    assert.equal((await command(["objects.ts", "say Hi", "--mode", "result"])).stdout.trim(), "Hi 1")
  })

  test("ends with 1 where the run fails", async () => {
    const { code } = await command(["objects.ts", "exit 7"])
    assert.equal(code, 1)
  })

  test("opens the CLI in the terminal, with the objects", { skip: requires("node-pty") }, async () => {
    await using bench = await createTerminalMachine("claude")
    await writeFile(join(bench.cwd, "objects.ts"), objects)
    const terminal = inTerminal(["claude", "objects.ts"], bench.cwd, bench.env)
    await terminal.sees("ready")
    terminal.type("c")
    await terminal.sees(/said \S+ 200 .*total 2/)
    terminal.type("q")
    await terminal.sees("ended with 0")
    const { args } = await bench.launched()
    assert.ok(!args.includes("--dangerously-skip-permissions"))
  })

  for (const [what, args, says] of [
    ["no module", ["claude"], /karst claude needs <module>.*karst claude \.\/objects\.ts/],
    [
      "no terminal and no prompt",
      ["claude", "objects.ts"],
      /Without a prompt karst claude needs a terminal.* Say what to do/,
    ],
    ["no such module", ["claude", "nowhere.ts", "Go."], /There is no file nowhere\.ts/],
    ["no objects", ["claude", join(fixtures, "mcp/empty.ts"), "Go."], /exports no objects/],
    [
      "a CLI that is not installed",
      ["codex", "objects.ts", "Go."],
      /Codex is not installed: "codex" is not in PATH\. Install it with `npm/,
    ],
    [
      "no such program",
      ["claude", "objects.ts", "Go.", "--program", "/no/claude"],
      /--program: there is no program \/no\/claude/,
    ],
    ["an unknown group", ["claude", "objects.ts", "Go.", "--allow", "all"], /--allow: "all" is not one of read, write/],
    ["an empty prompt", ["claude", "objects.ts", " "], /The prompt is empty/],
    ["an unknown option", ["gemini", "--frobnicate"], /--frobnicate/],
  ] as const) {
    test(`${what} is reported in one sentence, with exit code 2`, async () => {
      const { code, stderr, stdout } = await karst([...args], env, folder)
      assert.equal(code, 2, stderr)
      assert.match(stderr, says)
      assert.doesNotMatch(stderr, /\n {4}at /)
      assert.equal(stdout, "")
    })
  }

  function command(args: string[]) {
    return karst(["claude", ...args], env, folder)
  }
})

function script(program: string): string {
  return `#!/bin/sh\nexec ${process.execPath} ${join(fixtures, program)} "$@"\n`
}

/** Runs the command in a pseudo-terminal. */
function inTerminal(args: string[], cwd: string, env: Record<string, string>) {
  const { spawn } = createRequire(import.meta.url)("node-pty")
  const bin = fileURLToPath(new URL("../../../src/cli/bin.ts", import.meta.url))
  const node = `'${process.execPath}' --conditions=karst-source --disable-warning=ExperimentalWarning`
  const pty = spawn("sh", ["-c", `${node} '${bin}' ${args.join(" ")}; echo "ended with $?"`], {
    cols: 100,
    rows: 30,
    cwd,
    env,
  })
  let shown = ""
  pty.onData((text: string) => {
    shown += text
  })
  return {
    type: (keys: string) => pty.write(keys),
    sees: (text: string | RegExp) =>
      waitUntil(`${text} is shown, and not ${JSON.stringify(shown.slice(-2000))}`, () =>
        typeof text === "string" ? shown.includes(text) : text.test(shown),
      ),
  }
}
