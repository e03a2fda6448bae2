// test lane: runtimes
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { shellTools } from "../../src/tools/shell.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { alive, shellCase } from "./shell-case.ts"
import { failure, textOf } from "./use.ts"

const here = realpathSync(".")

describe("a command", () => {
  test("gives what it writes, both streams in the order of writing", async (t) => {
    const { run } = shellCase(t)
    const result = await run({ command: "for i in $(seq 200); do echo out $i; echo err $i >&2; done" })
    const lines = Array.from({ length: 200 }, (_, index) => `out ${index + 1}\nerr ${index + 1}\n`)
    assert.equal(result.text, lines.join(""))
    assert.equal(result.ok, true)
    const { durationMs, ...report } = result.report
    assert.ok(durationMs >= 0)
    assert.deepEqual(report, { id: "c1", status: "exited", exitCode: 0, output: lines.join("") })
  })

  test("always has its exit code and its duration in the first line", async (t) => {
    const { shell, check, workspace } = shellCase(t)
    assert.match(await textOf(shell, { command: "echo hi" }, workspace), /^Exit code 0 after \d+\.\d\d s\.\nhi\n$/)
    assert.match(await textOf(shell, { command: "true" }, workspace), /^Exit code 0 after [\d.]+ s\.\n\(no output\)$/)
    const failed = await failure(shell, { command: "exit 2" }, workspace)
    assert.match(failed, /^command-failed: Exit code 2 after [\d.]+ s\.\n/)
    await textOf(shell, { command: "sleep 1000", background: true }, workspace)
    assert.match(await textOf(check, { id: "c4" }, workspace), /^Running for [\d.]+ s\.\n/)
    assert.match(await textOf(check, { id: "c4", kill: true }, workspace), /^Killed after [\d.]+ s\.\n/)
  })

  test("can open its streams by name", async (t) => {
    const { run } = shellCase(t)
    const command = "echo one > /dev/stderr; echo two | tee /dev/stderr; cat /dev/stdin"
    assert.equal((await run({ command, stdin: "three" })).text, "one\ntwo\ntwo\nthree")
  })

  test("that fails is a failure with its exit code and its output", async (t) => {
    const { run } = shellCase(t)
    const { ok, code, text, report } = await run({ command: "echo before; exit 3" })
    assert.deepEqual([ok, code, text], [false, "command-failed", "Exit code 3.\nbefore\n"])
    assert.equal(report.exitCode, 3)
    assert.match((await run({ command: "no-such-program" })).text, /^Exit code 127\.\n.*not found/)
  })

  test("that is ended by a signal says which", async (t) => {
    const { run } = shellCase(t)
    const { code, text, report } = await run({ command: "kill -SEGV $$" })
    assert.deepEqual([code, text, report.signal], ["command-failed", "Ended by SIGSEGV.\n(no output)", "SIGSEGV"])
  })

  test("runs in the workspace's folder, made if need be, or in one inside", async (t) => {
    const { run, root } = shellCase(t)
    execFileSync("rmdir", [root])
    assert.equal((await run({ command: "pwd; mkdir -p a/b" })).text, `${root}\n`)
    assert.equal((await run({ command: "pwd", cwd: "./a//b" })).text, `${root}/a/b\n`)
  })

  test("runs nowhere else: not above, not elsewhere, not behind a link, not in a file", async (t) => {
    const { run, root } = shellCase(t)
    symlinkSync("/", join(root, "out"))
    mkdirSync(join(root, "inside"))
    symlinkSync("inside", join(root, "in"))
    writeFileSync(join(root, "file"), "")
    for (const [cwd, code] of [
      ["..", "invalid-path"],
      ["/tmp", "invalid-path"],
      ["out/etc", "invalid-path"],
      ["a\0b", "invalid-path"],
      ["missing", "not-found"],
      ["file", "not-found"],
    ]) {
      const result = await run({ command: "touch ran", cwd })
      assert.deepEqual([cwd, result.ok, result.code], [cwd, false, code])
      assert.match(result.text, /"/, "the message names the folder")
    }
    assert.equal((await run({ command: "pwd", cwd: "in" })).text, `${root}/inside\n`)
    assert.equal(existsSync(join(root, "ran")), false)
  })

  test("that is empty, has a NUL or is far too long is refused before anything is started", async (t) => {
    const { run } = shellCase(t)
    assert.equal((await run({ command: " \n" })).code, "empty-command")
    assert.equal((await run({ command: "echo a\0b" })).code, "invalid-command")
    const { code, text } = await run({ command: `echo ${"x".repeat(200_000)}` })
    assert.equal(code, "command-too-long")
    assert.match(text, /200005 bytes.*Write it to a file/)
    assert.equal((await run({ command: `: ${"ü".repeat(49_000)}; echo done` })).text, "done\n")
  })

  test("reads nothing, or the text it is given, also one it does not read", async (t) => {
    const { run } = shellCase(t)
    assert.equal((await run({ command: "cat; echo end" })).text, "end\n")
    assert.equal((await run({ command: "wc -c", stdin: "ü".repeat(500_000) })).text.trim(), "1000000")
    assert.equal((await run({ command: "true", stdin: "x".repeat(1_000_000) })).ok, true)
  })

  test("does not run in a login shell, and loads nobody's settings", async (t) => {
    const { run, root } = shellCase(t, { env: { HOME: "." } })
    for (const file of [".bashrc", ".profile", ".bash_profile"]) writeFileSync(join(root, file), "echo loaded")
    assert.equal((await run({ command: "shopt -q login_shell; echo $?; echo $-", stdin: "" })).text, "1\nhBc\n")
  })

  test("sees of the host's environment only what it needs, and what it is given", async (t) => {
    process.env.SECRET_API_KEY = "sk-secret"
    t.after(() => delete process.env.SECRET_API_KEY)
    const { run } = shellCase(t, { env: { GREETING: "hello", LANG: undefined } })
    const { text } = await run({ command: "env" })
    const names = text.split("\n").map((line) => line.split("=")[0])
    assert.doesNotMatch(text, /SECRET|sk-secret/)
    assert.ok(names.includes("PATH") && names.includes("GREETING"))
    assert.equal(names.includes("LANG"), false)
    const known = /^(PATH|HOME|USER|LOGNAME|LC_\w+|TZ|TERM|TMPDIR|LANGUAGE|PWD|OLDPWD|SHLVL|_|GREETING|KARST_\w+|)$/
    assert.deepEqual(
      names.filter((name) => !known.test(name ?? "")),
      [],
    )
  })

  test("is reported as progress while the command runs, and never after", async (t) => {
    const { run, progressTexts, root } = shellCase(t)
    const seen: string[] = []
    const progress = (text: string) => {
      seen.push(text)
      writeFileSync(join(root, "go"), "")
    }
    // The command continues after its first output was reported.
    const command = "echo first; while [ ! -e go ]; do sleep 0.01; done; echo last; (sleep 0.3; echo late) &"
    await run({ command }, { progress })
    assert.equal(seen.join(""), "first\nlast\n")
    assert.deepEqual(progressTexts, [])
  })

  test("runs with a hundred others at once, each with its own output", async (t) => {
    const { run, mark } = shellCase(t)
    const numbers = Array.from({ length: 100 }, (_, index) => index)
    const results = await Promise.all(numbers.map((n) => run({ command: `cat; echo ${n}`, stdin: `in ${n}\n` })))
    assert.deepEqual(
      results.map(({ text }) => text),
      numbers.map((n) => `in ${n}\n${n}\n`),
    )
    assert.equal(new Set(results.map(({ report }) => report.id)).size, 100)
    assert.deepEqual(alive(mark), [])
  })

  test("is refused when too many run, naming them", async (t) => {
    const { run, checkUp } = shellCase(t, { maxRunning: 2 })
    await run({ command: "sleep 1000", background: true })
    await run({ command: "sleep 1000", background: true })
    const refused = await run({ command: "echo third" })
    assert.equal(refused.code, "too-many-commands")
    assert.match(refused.text, /c1, c2/)
    await checkUp({ id: "c1", kill: true })
    assert.equal((await run({ command: "echo third" })).text, "third\n")
  })

  test("is not started for a run that was aborted meanwhile", async (t) => {
    const { run, root } = shellCase(t)
    await assert.rejects(run({ command: "touch ran" }, { signal: AbortSignal.abort() }), { name: "AbortError" })
    const controller = new AbortController()
    const starting = run({ command: "touch ran" }, { signal: controller.signal })
    controller.abort()
    await assert.rejects(starting, { name: "AbortError" })
    assert.equal(existsSync(join(root, "ran")), false)
  })

  test("leaves no zombie behind", async (t) => {
    const { run } = shellCase(t)
    for (let n = 0; n < 5; n++) await run({ command: "true | true; exit 1" })
    const { text } = await run({ command: `ps -o stat= --ppid ${process.pid}` })
    assert.doesNotMatch(text, /Z/)
  })
})

describe("the shell", () => {
  test("asks before each command unless told otherwise", () => {
    assert.equal(shellTools().tools[0]?.options.approve, true)
    assert.equal(shellTools({ approve: false }).tools[0]?.options.approve, false)
    const approve = () => false
    assert.equal(shellTools({ approve }).tools[0]?.options.approve, approve)
    assert.equal(shellTools().tools[1]?.options.approve, undefined)
  })

  test("has no list of forbidden words: what mentions one is an ordinary command", async (t) => {
    const { run } = shellCase(t)
    const { ok, text } = await run({ command: "mkdir tmp; rm  -rf ./tmp; echo 'shutdown, reboot, mkfs, rm -rf /'" })
    assert.deepEqual([ok, text], [true, "shutdown, reboot, mkfs, rm -rf /\n"])
  })

  test("says so where the workspace is not a folder", async (t) => {
    const { run } = shellCase(t)
    const { code, text } = await run({ command: "echo hi" }, { workspace: memoryWorkspace() })
    assert.equal(code, "no-folder")
    assert.match(text, /file tools/)
  })

  test("is bash where there is one, or the one it is given, or an error that names it", async (t) => {
    assert.equal((await shellCase(t).run({ command: "echo ${BASH_VERSION:+bash}" })).text, "bash\n")
    const sh = shellCase(t, { shell: "/bin/sh" })
    assert.equal((await sh.run({ command: "echo $0" })).text, "/bin/sh\n")
    assert.throws(() => shellTools({ shell: "/no/such/bash" }), /there is no "\/no\/such\/bash"/)
  })

  test("tells what cannot be started, and goes on", async (t) => {
    const { run, root } = shellCase(t, { shell: join(here, "package.json") })
    const { code, text } = await run({ command: "echo hi" })
    assert.equal(code, "not-started")
    assert.match(text, /could not be started: .*EACCES/)
    assert.equal(existsSync(join(root, "ran")), false)
  })

  test("refuses input that is out of bounds before anything runs", async (t) => {
    const { shell, check } = shellCase(t, { maxTimeoutMs: 1000 })
    for (const input of [{}, { command: 1 }, { command: "x", timeoutMs: 0 }, { command: "x", timeoutMs: 2000 }]) {
      assert.equal((await shell.accept(input)).ok, false)
    }
    assert.equal((await check.accept({ id: "c1", waitMs: -1 })).ok, false)
  })

  test("costs few words in each request", (t) => {
    const { shell, check } = shellCase(t)
    // A token has about four characters.
    for (const { name, description, input } of [shell, check]) {
      const length = JSON.stringify({ name, description, input }).length
      assert.ok(length < 120 * 5, `${name}: ${length} characters`)
    }
  })

  test("starts nothing once it is closed, and can be closed twice", async (t) => {
    const { run, tools } = shellCase(t)
    const starting = run({ command: "sleep 1000" })
    await tools.close()
    await tools.close()
    assert.equal((await starting).code, "closed")
    assert.equal((await run({ command: "echo hi" })).code, "closed")
  })
})
