// test lane: runtimes
import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import { localWorkspace } from "../../src/workspaces/local.ts"
import { call, calls, finish, resultsIn } from "../agent/tool-call-helpers.ts"
import { until } from "../waiting.ts"
import { alive, shellCase } from "./shell-case.ts"

const untilGo = "while [ ! -e go ]; do sleep 0.01; done"

describe("a command in the background", () => {
  test("gives an id at once, then what is new at each check, then its exit code for good", async (t) => {
    const { run, checkUp, root } = shellCase(t)
    const started = await run({ command: `echo one; touch ready; ${untilGo}; echo two; exit 4`, background: true })
    assert.match(started.text, /^Started in the background: command "c1"\./)
    assert.equal(started.report.status, "running")
    await until(() => existsSync(join(root, "ready")))
    let seen = started.report.output
    await until(async () => {
      const { text, report } = await checkUp({ id: "c1" })
      assert.match(text, /^Running\./)
      seen += report.output
      return seen === "one\n"
    })
    writeFileSync(join(root, "go"), "")
    const ended = await checkUp({ id: "c1", waitMs: 60_000 })
    assert.deepEqual([ended.code, ended.text], ["command-failed", "Exit code 4.\ntwo\n"])
    const again = await checkUp({ id: "c1" })
    assert.deepEqual([again.code, again.text], ["command-failed", "Exit code 4.\n(no output)"])
  })

  test("has an id that no earlier command of the conversation had, also after a resume", async (t) => {
    const root = mkdtempSync(join(tmpdir(), "karst-test-shell-"))
    t.after(() => rmSync(root, { recursive: true, force: true }))
    const archive = memoryStore()
    const agent = createAgent({
      noTool: "continue",
      model: scriptedModel(() => calls(call("shell", { command: "true", background: true }), finish())),
      workspace: localWorkspace(root),
      shell: { approve: false },
    })
    const first = await agent.session({ archive })
    await first.send("One")
    await first.send("Two")
    await first.close()
    await using second = await agent.session({ archive, resume: first.id })
    const { messages } = await second.send("Three")
    assert.deepEqual(
      resultsIn(messages).flatMap(({ text }) => /command "(\w+)"/.exec(text)?.[1] ?? []),
      ["c1", "c2", "c3"],
    )
  })

  test("that writes much neither blocks nor loses a line", async (t) => {
    const { run, checkUp, workspace } = shellCase(t)
    await run({ command: "seq 1 200000", background: true })
    const { text, report } = await checkUp({ id: "c1", waitMs: 60_000 })
    assert.match(text, /\n200000\n$/)
    assert.ok(report.log)
    const whole = Buffer.from(await workspace.read(report.log)).toString()
    assert.equal(whole, Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join(""))
  })

  test("does not split a character between two checks", async (t) => {
    const { run, checkUp, root } = shellCase(t)
    const half = `printf 'a\\xc3'; touch ready; ${untilGo}; printf '\\xbcb'`
    let seen = (await run({ command: half, background: true })).report.output
    await until(() => existsSync(join(root, "ready")))
    await until(async () => {
      seen += (await checkUp({ id: "c1" })).report.output
      return seen !== ""
    })
    writeFileSync(join(root, "go"), "")
    seen += (await checkUp({ id: "c1", waitMs: 60_000 })).report.output
    assert.equal(seen, "aüb")
  })

  test("can be killed, with what it started", async (t) => {
    const { run, checkUp, mark } = shellCase(t)
    await run({ command: "sleep 1000 & sleep 1000", background: true })
    const { ok, text, report } = await checkUp({ id: "c1", kill: true })
    assert.deepEqual([ok, text, report.status], [true, "Killed.\n(no output)", "stopped"])
    assert.deepEqual(alive(mark), [])
  })

  test("may end by itself when it is killed, and is made to when it does not", async (t) => {
    const { run, checkUp, root, mark } = shellCase(t, { graceMs: 500 })
    await run({ command: `trap 'echo bye; exit' TERM; touch ready; while :; do sleep 0.01; done`, background: true })
    await until(() => existsSync(join(root, "ready")))
    assert.match((await checkUp({ id: "c1", kill: true })).text, /^Killed\.\n(Terminated\n)?bye\n$/)
    await run({ command: `trap '' TERM; touch deaf; while :; do sleep 0.01; done`, background: true })
    await until(() => existsSync(join(root, "deaf")))
    const { report } = await checkUp({ id: "c2", kill: true })
    assert.equal(report.signal, "SIGKILL")
    assert.deepEqual(alive(mark), [])
  })

  test("that nobody knows is a failure that names those there are", async (t) => {
    const { run, checkUp } = shellCase(t)
    await run({ command: "sleep 1000", background: true })
    const { code, text } = await checkUp({ id: "c7" })
    assert.equal(code, "unknown-command")
    assert.match(text, /no command "c7"\. Running: c1\./)
  })

  test("is waited for only as long as the run goes on", async (t) => {
    const { run, checkUp, mark } = shellCase(t)
    await run({ command: "sleep 1000", background: true })
    const controller = new AbortController()
    const waiting = checkUp({ id: "c1", waitMs: 600_000 }, { signal: controller.signal })
    controller.abort()
    await assert.rejects(waiting, { name: "AbortError" })
    assert.notDeepEqual(alive(mark), [], "it was started by another call, which was not aborted")
  })
})

describe("a command that takes too long", () => {
  test("goes on in the background, with its output so far", async (t) => {
    const { run, checkUp, root } = shellCase(t)
    const { ok, text, report } = await run({ command: `echo one; ${untilGo}; echo two`, timeoutMs: 200 })
    assert.deepEqual([ok, report.status], [true, "running"])
    assert.ok(text.startsWith('Still running after 200 ms: command "c1". See it with check_command.\n'))
    writeFileSync(join(root, "go"), "")
    const last = await checkUp({ id: "c1", waitMs: 60_000 })
    assert.deepEqual([last.ok, report.output + last.report.output], [true, "one\ntwo\n"])
    assert.match(last.text, /^two\n/)
  })

  test("is killed where that is asked for, with all it started and its output kept", async (t) => {
    const { run, mark } = shellCase(t, { onTimeout: "kill" })
    const command = "echo one; (sleep 1000; echo never) & sleep 1000; echo two"
    // On a busy machine the command may not have written yet.
    await until(async () => {
      const { code, text } = await run({ command, timeoutMs: 200 })
      assert.equal(code, "timeout")
      assert.deepEqual(alive(mark), [])
      return text === "Killed: it was out of time.\none\n"
    })
  })
})

describe("what a command leaves running", () => {
  test("does not hold its result back, and what it writes later is not lost", async (t) => {
    const { run, checkUp, root } = shellCase(t)
    const { ok, text } = await run({ command: `(${untilGo}; echo late) & echo early` })
    assert.equal(ok, true)
    assert.match(text, /^early\nWhat it started goes on; its output comes with check_command "c1"\.$/)
    writeFileSync(join(root, "go"), "")
    let seen = ""
    await until(async () => {
      seen += (await checkUp({ id: "c1" })).report.output
      return seen === "late\n"
    })
  })

  test("does not hold its result back even when it never stops writing", async (t) => {
    const { run, checkUp, mark } = shellCase(t)
    const { report, text } = await run({ command: "yes & echo started" })
    assert.deepEqual([report.status, report.exitCode], ["exited", 0])
    assert.match(text, /goes on/)
    await checkUp({ id: "c1", kill: true })
    assert.deepEqual(alive(mark), [])
  })

  test("ends when the shell is closed, whatever group or session it has made for itself", async (t) => {
    const { run, tools, mark, root } = shellCase(t)
    const command = [
      "sleep 1000 &",
      "setsid sleep 1000 &",
      "(setsid sh -c 'sleep 1000 & sleep 1000 & touch ready; wait' &)",
      "nohup sleep 1000 >/dev/null 2>&1 &",
      "set -m; sleep 1000 & disown",
    ].join("\n")
    await run({ command: `${command}\ntrue` })
    await until(() => existsSync(join(root, "ready")))
    assert.ok(alive(mark).length >= 6)
    await tools.close()
    assert.deepEqual(alive(mark), [])
  })

  test("is found without its environment by its session or its parents", async (t) => {
    const { run, tools, root } = shellCase(t)
    const hidden = "env -i /bin/sh -c"
    await run({ command: `${hidden} 'echo $$ > one; exec sleep 1000' & true` })
    const alone = "echo $$ > two; exec sleep 1000"
    await run({ command: `setsid ${hidden} '${alone}' & sleep 1000`, background: true })
    await until(() => existsSync(join(root, "two")) && existsSync(join(root, "one")))
    await until(() => readFileSync(join(root, "two"), "utf8") && readFileSync(join(root, "one"), "utf8"))
    const pids = ["one", "two"].map((name) => readFileSync(join(root, name), "utf8").trim())
    await tools.close()
    for (const pid of pids) assert.equal(isRunning(pid), false, pid)
  })
})

describe("an aborted run", () => {
  test("takes its command with it, and what that started", async (t) => {
    const { run, mark, root } = shellCase(t)
    const controller = new AbortController()
    const running = run({ command: "sleep 1000 & touch ready; sleep 1000" }, { signal: controller.signal })
    await until(() => existsSync(join(root, "ready")))
    controller.abort()
    await assert.rejects(running, { name: "AbortError" })
    await until(() => alive(mark).length === 0)
  })

  test("takes its background commands with it, and not those of another", async (t) => {
    const { run, checkUp } = shellCase(t)
    const controller = new AbortController()
    await run({ command: "sleep 1000", background: true }, { signal: controller.signal })
    await run({ command: "sleep 1000", background: true })
    controller.abort()
    const first = await checkUp({ id: "c1", waitMs: 60_000 })
    assert.deepEqual([first.report.status, first.code], ["stopped", "aborted"])
    assert.equal((await checkUp({ id: "c2" })).report.status, "running")
  })
})

describe("the end of the program", () => {
  // Starts commands that would keep running, reports that, and then waits or ends.
  const program = (end: string) => `
    import { shellTools } from "${new URL("../../src/tools/shell.ts", import.meta.url)}"
    import { localWorkspace } from "${new URL("../../src/workspaces/local.ts", import.meta.url)}"
    const [root, mark] = process.argv.slice(1)
    const { tools: [shell] } = shellTools({ env: { KARST_TEST: mark } })
    const state = { get() {}, set() {} }
    const context = { call: "1", signal: new AbortController().signal, workspace: localWorkspace(root), state, progress() {} }
    const command = "sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 &); touch ready; sleep 1000"
    await shell.run({ command, background: true }, context)
    await shell.run({ command: "sleep 1000 & while [ ! -e ready ]; do sleep 0.01; done" }, context)
    console.log("ready")
    ${end}`

  async function startProgram(
    end: string,
  ): Promise<{ child: ChildProcess; mark: string; temporary: string; clean(): void }> {
    const root = mkdtempSync(join(tmpdir(), "karst-test-shell-"))
    const value = root
    const args = ["--input-type=module-typescript", "--conditions=karst-source", "-e", program(end), root, value]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, TMPDIR: root },
      stdio: ["pipe", "pipe", "inherit"],
    })
    const [line] = await once(child.stdout, "data")
    assert.equal(String(line), "ready\n")
    const clean = () => {
      child.kill("SIGKILL")
      rmSync(root, { recursive: true, force: true })
    }
    return { child, mark: `KARST_TEST=${value}`, temporary: root, clean }
  }

  test("by kill -9 leaves no command running and no file behind", async (t) => {
    const { child, mark, temporary, clean } = await startProgram("setInterval(() => {}, 1000)")
    t.after(clean)
    assert.ok(alive(mark).length >= 5)
    child.kill("SIGKILL")
    await once(child, "exit")
    await until(() => alive(mark).length === 0)
    await until(() => !readdirSync(temporary).some((name) => name.startsWith("karst-shell-")))
  })

  test("comes though background commands run, which end with it", async (t) => {
    const { child, mark, clean } = await startProgram("")
    t.after(clean)
    await once(child, "exit")
    await until(() => alive(mark).length === 0)
  })
})

function isRunning(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
}
