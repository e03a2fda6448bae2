// test lane: runtimes
import assert from "node:assert/strict"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { after, describe, test } from "node:test"
import { processRuntime } from "../../src/runtime/process.ts"
import { pythonRuntime } from "../../src/runtime/python.ts"
import { requires } from "../system.ts"
import { cellValue } from "./cell-results.ts"

// docs/security.md says that these are not confined. If a test fails, the isolation is better than documented: update
// the page.

const onLinux = process.platform === "linux" ? undefined : "by design: only Linux has /proc"

describe("with isolation by a process alone, a cell", () => {
  const heard = async (signalling: () => Promise<unknown>) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    process.once("SIGWINCH", resolve)
    after(() => process.off("SIGWINCH", resolve))
    await signalling()
    return promise
  }

  test("of TypeScript can read the host's environment, signal the host and start programs", {
    skip: onLinux,
  }, async () => {
    await using runtime = processRuntime()
    const code = `const { readFileSync } = await import("node:fs")\nconst { ppid } = process\nreadFileSync(\`/proc/\${ppid}/environ\`).length > 0`
    assert.equal(await cellValue(runtime, code), true)
    const signal = 'new Function("return process")().kill(ppid, "SIGWINCH")'
    assert.equal(await heard(() => cellValue(runtime, signal)), "SIGWINCH")
    const start = 'const { execSync } = await import("node:child_process")\nexecSync("echo started").toString()'
    assert.equal(await cellValue(runtime, start), "started\n")
  })

  test("of Python can do the same", { skip: onLinux ?? requires("python") }, async () => {
    await using runtime = pythonRuntime()
    const code = "import os, signal, subprocess\nlen(open(f'/proc/{os.getppid()}/environ').read()) > 0"
    assert.equal(await cellValue(runtime, code), true)
    assert.equal(await heard(() => cellValue(runtime, "os.kill(os.getppid(), signal.SIGWINCH)")), "SIGWINCH")
    assert.equal(await cellValue(runtime, "subprocess.run(['echo', 'x'], capture_output=True).returncode"), 0)
  })
})

describe("with isolation by the operating system, a cell", { skip: requires("bwrap") }, () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-outside-"))
  after(() => rmSync(folder, { recursive: true }))

  test("acts through a live handle with the rights of the host", async () => {
    const db = new DatabaseSync(":memory:")
    const path = join(folder, "outside.db")
    await using runtime = processRuntime({ db, path }, { isolation: "os" })
    await cellValue(runtime, "await db.exec(`attach '${path}' as outside; create table outside.t (x)`)")
    assert.ok(existsSync(path))
    db.close()
  })

  test("of TypeScript has no programs, threads, addons or WASI", async () => {
    await using runtime = processRuntime({}, { isolation: "os" })
    for (const code of [
      'const { execSync } = await import("node:child_process")\nexecSync("true")',
      'const { Worker } = await import("node:worker_threads")\nnew Worker("1", { eval: true })',
      'new Function("return process")().dlopen({}, "/x.node")',
      'const { WASI } = await import("node:wasi")\nnew WASI({ version: "preview1" })',
    ]) {
      const execution = await runtime.execute(code)
      assert.ok(!execution.ok, code)
      assert.match(execution.error.message, /has been restricted|is disabled/)
    }
  })

  test("of Python has programs and threads, inside", { skip: requires("python") }, async () => {
    await using runtime = pythonRuntime({}, { isolation: "os" })
    const code =
      "import subprocess, threading\nthread = threading.Thread(target=int)\nthread.start()\nthread.join()\n" +
      "subprocess.run(['hostname'], capture_output=True, text=True).stdout"
    assert.equal(await cellValue(runtime, code), "karst\n")
  })
})
