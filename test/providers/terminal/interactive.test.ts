// test lane: clis, long
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { describe, test } from "node:test"
import { installedProviders } from "karst/providers"
import { parseSessionHandle } from "../../../src/sessions/session-handle.ts"
import { requires } from "../../system.ts"
import { waitUntil } from "../cli-machines.ts"
import { createTerminalMachine, type Task, type TerminalMachine, taskCommand } from "./terminal-machine.ts"

const undone = ["\x1b[<1u", "\x1b[0m", "\x1b[?1049l", "\x1b[?25h", "\x1b[?1000l", "\x1b[?2004l"]

describe("a CLI in a terminal", { skip: requires("node-pty"), concurrency: 2 }, () => {
  test("is shown and typed at, has the size of the window, and tells how it ended and what it is resumed by", async () => {
    await using bench = await createTerminalMachine("claude")
    const terminal = bench.start({ prompt: "-p is what I want to say" })
    await terminal.sees("ready 100x30")
    terminal.resize(70, 20)
    await terminal.sees("size 70x20")
    terminal.type("j")
    await terminal.sees('key "j"')
    terminal.type("q")
    const { result, restored } = await terminal.ended()
    const { args, cwd, term } = await bench.launched()
    assert.equal(restored, true)
    assert.deepEqual(
      [cwd, term, args.at(-1), args.at(-2)],
      [bench.cwd, "xterm-256color", "-p is what I want to say", "--"],
    )
    assert.equal(result?.sessionId, args[args.indexOf("--session-id") + 1])
    assert.deepEqual([result?.provider, result?.exitCode], ["claude", 0])
    const { provider, key, cwd: folder } = parseSessionHandle(result?.handle ?? "")
    assert.deepEqual([provider, key, folder], ["claude", result?.sessionId, bench.cwd])
    assert.deepEqual(await bench.processes(), [])
  })

  test("goes on with a session by its handle, in the folder of that session", async () => {
    await using bench = await createTerminalMachine("claude")
    const parts = { id: "s_1", provider: "claude", key: "the-key", cwd: bench.home }
    const resume = `karst:2:${Buffer.from(JSON.stringify(parts)).toString("base64url")}`
    const terminal = bench.start({ options: { resume, cwd: undefined } })
    await terminal.sees("ready")
    terminal.type("x")
    const { result } = await terminal.ended()
    const { args, cwd } = await bench.launched()
    assert.equal(args[args.indexOf("--resume") + 1], "the-key")
    assert.equal(cwd, bench.home)
    assert.deepEqual(
      [result?.exitCode, result?.sessionId, parseSessionHandle(result?.handle ?? "").id],
      [3, "the-key", "s_1"],
    )
    const other = bench.start({ provider: "codex", options: { resume } })
    assert.match((await other.ended()).threw ?? "", /Session "s_1" is one with claude/)
  })

  test("is granted everything where nothing is restricted, and else what is allowed alone", async () => {
    await using bench = await createTerminalMachine("claude")
    const flags = async (options: Task["options"]) => {
      const terminal = bench.start({ options: { model: "fast", ...options } })
      await terminal.sees("ready")
      terminal.type("x")
      await terminal.ended()
      const { args } = await bench.launched()
      return (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
    }
    const all = await flags({})
    assert.equal(all("--tools"), undefined)
    assert.match(all("--allowedTools") ?? "", /Read.*Write.*Bash.*WebFetch.*AskUserQuestion/)
    assert.equal(all("--model"), "haiku", "a tier is resolved")
    const reading = await flags({ allow: ["read"] })
    assert.match(reading("--tools") ?? "", /^Read,Glob,Grep,Task/)
    assert.doesNotMatch(reading("--allowedTools") ?? "", /Bash|Write/)
    const asking = await flags({ permissions: "ask" })
    assert.equal(asking("--tools"), undefined)
    assert.doesNotMatch(asking("--allowedTools") ?? "", /Bash|Write/)
  })

  test("reaches tools and live objects while it runs, and nothing listens after it", async () => {
    await using bench = await createTerminalMachine("claude")
    const terminal = bench.start({ live: true })
    await terminal.sees("ready")
    terminal.type("s")
    await terminal.sees(/served \S+ 200 .*"describe"/)
    terminal.type("c")
    await terminal.sees(/said \S+ 200 /)
    const [, url = ""] = /served (\S+) 200/.exec(terminal.shown) ?? []
    terminal.type("q")
    const { result } = await terminal.ended()
    assert.equal(result?.exitCode, 0)
    assert.match(terminal.shown, /total 2/)
    await assert.rejects(fetch(url), TypeError)
    assert.deepEqual(foldersLeft(await bench.launched()), [])
  })

  test("shows everything and keeps the last of it", async () => {
    await using bench = await createTerminalMachine("claude")
    const terminal = bench.start({ options: { maxCaptureBytes: 1000 } })
    await terminal.sees("ready")
    terminal.type("f")
    await terminal.sees("full")
    terminal.type("q")
    const { result } = await terminal.ended()
    assert.ok(terminal.shown.includes("f".repeat(100_000)))
    // The result has the length instead of the text: a thousand, plus the line about dropped bytes.
    const length = Number(result?.output)
    assert.ok(length > 1000 && length < 1100, String(length))
    assert.ok(result?.sessionId)
  })

  test("needs a package that is named where it is missing, and the terminal is untouched", async () => {
    await using bench = await createTerminalMachine("claude")
    const hook = `import { registerHooks } from "node:module"
      registerHooks({ resolve(name, context, next) {
        if (name !== "node-pty") return next(name, context)
        throw Object.assign(new Error("Cannot find package 'node-pty'"), { code: "ERR_MODULE_NOT_FOUND" })
      } })`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hook)}`
    const { threw, restored } = await bench.start({}, { NODE_OPTIONS }).ended()
    assert.match(threw ?? "", /MissingPackageError: .*"node-pty" is needed for .* Install it: npm install node-pty/)
    assert.equal(restored, true)
  })

  test("goes on after Ctrl-Z, for there is no shell to go back to", async () => {
    await using bench = await createTerminalMachine("claude")
    const terminal = bench.start({})
    await terminal.sees("ready")
    terminal.type("\x1a")
    await terminal.sees("awake")
    terminal.type("q")
    assert.equal((await terminal.ended()).result?.exitCode, 0)
  })
})

describe("the terminal is as before, and nothing is left running", {
  skip: requires("node-pty"),
  concurrency: 2,
}, () => {
  const gone: [how: string, task: Task, keys: string, code: RegExp][] = [
    ["when the CLI leaves it changed", {}, "bx", /"exitCode":3.*raw false[\s\S]*code 0/],
    ["when the CLI is killed", {}, "bk", /"exitCode":137.*raw false[\s\S]*code 0/],
    ["when the signal fires", { when: { shown: 'key "w"', does: "abort" } }, "bw", /THREW AbortError[\s\S]*code 0/],
    [
      "when the program throws elsewhere",
      { when: { shown: 'key "w"', does: "throw" } },
      "bw",
      /thrown elsewhere[\s\S]*code 1/,
    ],
    ["when the program exits", { when: { shown: 'key "w"', does: "exit" } }, "bw", /code 7/],
  ]
  for (const [how, task, keys, code] of gone) {
    test(how, async () => {
      await using bench = await createTerminalMachine("claude")
      const terminal = bench.start(task)
      await terminal.sees("ready")
      for (const key of keys) {
        terminal.type(key)
        await terminal.sees(`key "${key}"`)
        if (key === "b") await terminal.sees("left two")
      }
      const { restored } = await terminal.ended()
      assert.equal(restored, true)
      assert.match(terminal.shown, code)
      for (const sequence of undone) assert.ok(terminal.shown.includes(sequence), JSON.stringify(sequence))
      await waitUntil("nothing is left", async () => (await bench.processes()).length === 0)
      assert.deepEqual(foldersLeft(await bench.launched()), [])
    })
  }

  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    test(`when the program is told to end by ${signal}`, async () => {
      await using bench = await createTerminalMachine("claude")
      const terminal = bench.start({})
      await terminal.sees("ready")
      process.kill(await ownerOf(bench), signal)
      const { restored } = await terminal.ended()
      assert.equal(restored, true)
      for (const sequence of undone) assert.ok(terminal.shown.includes(sequence), JSON.stringify(sequence))
      assert.match(terminal.shown, /code (143|129)/)
      await waitUntil("nothing is left", async () => (await bench.processes()).length === 0)
    })
  }

  test("of the CLI when the program is killed outright", async () => {
    await using bench = await createTerminalMachine("claude")
    const terminal = bench.start({})
    await terminal.sees("ready")
    terminal.type("b")
    await terminal.sees("left two")
    process.kill(await ownerOf(bench), "SIGKILL")
    await terminal.ended()
    await waitUntil("nothing is left", async () => (await bench.processes()).length === 0)
    await waitUntil("nor a folder", async () => foldersLeft(await bench.launched()).length === 0)
  })
})

// Some CLIs may be installed for all users, outside of PATH.
const forEverybody = installedProviders({ env: { PATH: "", HOME: "/nowhere" } }).length > 0
const elsewhere = forEverybody ? "by design: a coding CLI is installed for every user of this machine" : undefined

describe("the menu of coding CLIs", { skip: requires("node-pty"), concurrency: 2 }, () => {
  test("has those that are installed, once, the agent's own first, and the choice counts", {
    skip: elsewhere,
  }, async () => {
    await using bench = await createTerminalMachine("claude", "codex")
    const terminal = bench.start({ provider: "codex", options: { selectProvider: true, model: "gpt-5.2" } })
    await terminal.sees("Which coding CLI?")
    await terminal.sees("Claude Code")
    assert.deepEqual(terminal.shown.match(/Claude Code|Codex|opencode|Gemini CLI/g), ["Codex", "Claude Code"])
    terminal.type("\x1b[B\r")
    await terminal.sees("ready")
    terminal.type("x")
    const { result, restored } = await terminal.ended()
    assert.deepEqual([result?.provider, result?.exitCode, restored], ["claude", 3, true])
    assert.ok(!(await bench.launched()).args.includes("gpt-5.2"), "the model of another CLI is left out")
  })

  for (const [name, key] of [
    ["Escape", "\x1b"],
    ["q", "q"],
    ["Ctrl-C", "\x03"],
  ] as const) {
    test(`is left by ${name}: nothing is started, and the exit code is 130`, async () => {
      await using bench = await createTerminalMachine("claude")
      const terminal = bench.start({ options: { selectProvider: true } })
      await terminal.sees("Which coding CLI?")
      terminal.type(key)
      const { result, restored } = await terminal.ended()
      assert.deepEqual([result?.provider, result?.exitCode, restored], [undefined, 130, true])
      await assert.rejects(bench.launched(), /ENOENT/)
    })
  }

  test("says what to install where there is nothing to choose", { skip: elsewhere }, async () => {
    await using bench = await createTerminalMachine()
    // None that is installed on this computer.
    const options = { selectProvider: true, env: { PATH: bench.home, HOME: bench.home } }
    const { threw } = await bench.start({ options }).ended()
    assert.match(threw ?? "", /no coding CLI to choose.*npm install -g @anthropic-ai\/claude-code/)
  })
})

test("a CLI cannot be started where there is no terminal, and the message says what can be done", async () => {
  await using bench = await createTerminalMachine("claude")
  const { stdout } = spawnSync("sh", ["-c", taskCommand({ options: { cwd: bench.cwd } })], { encoding: "utf8" })
  assert.match(
    stdout,
    /THREW ConfigError: claude\.interactive\(\) needs a terminal, and standard input is none\. .*agent\.run\(\)/,
  )
})

/** The process that started the CLI. */
async function ownerOf(bench: TerminalMachine): Promise<number> {
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    const read = (file: string) => readFile(`/proc/${name}/${file}`, "latin1").catch(() => "")
    if (!(await read("environ")).split("\0").includes(`HOME=${bench.home}`)) continue
    const command = (await read("cmdline")).split("\0")
    if (command[0] === process.execPath && command.some((word) => word.endsWith("interactive-child.ts")))
      return Number(name)
  }
  throw new Error("The program is not there.")
}

/** The private folders named in the CLI's arguments that still exist. */
function foldersLeft({ args }: { args: string[] }): string[] {
  const told = args.flatMap((word) => /karst-cli-\w+/.exec(word) ?? [])
  return readdirSync(tmpdir()).filter((name) => told.includes(name))
}
