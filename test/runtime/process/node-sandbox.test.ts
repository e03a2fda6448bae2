// test lane: runtimes
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { sandboxProblem } from "../../../src/core/child/bubblewrap.ts"
import { nodeSandboxCommand } from "../../../src/runtime/process/node-sandbox.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import { requires } from "../../system.ts"
import { cellValue, errorOf } from "../cell-results.ts"

test("a process alone is what confines cells by default", async () => {
  await using runtime = processRuntime()
  assert.equal(runtime.isolation, "process")
  assert.deepEqual(runtime.warnings, [])
})

describe("OS isolation", { skip: requires("bwrap") }, () => {
  class Light {
    brightness = 1
    dim(to: number) {
      this.brightness = to
    }
  }

  test("is there for os and for auto", async () => {
    await using os = processRuntime({}, { isolation: "os" })
    await using auto = processRuntime({}, { isolation: "auto" })
    assert.deepEqual([os.isolation, auto.isolation, auto.warnings], ["os", "os", []])
  })

  test("has the same cells, calls and handles as without", async () => {
    const light = new Light()
    await using runtime = processRuntime(
      { light, add: (a: number, b: number) => a + b, rows: [{ a: 1 }] },
      { isolation: "os" },
    )
    const code =
      "enum E { A = 4 }\nawait light.dim(await add(E.A, rows[0].a)); console.log('out'); await light.brightness"
    const execution = await runtime.execute(code)
    assert.ok(execution.ok, JSON.stringify(execution))
    assert.equal(execution.value, 5)
    assert.equal(execution.stdout, "out\n")
    assert.equal(light.brightness, 5)
  })

  test("survives crashes and endless loops the same way", async () => {
    await using runtime = processRuntime(
      { rows: [1] },
      { isolation: "os", limits: { heapBytes: 100 * 2 ** 20, memoryBytes: 300 * 2 ** 20 } },
    )
    const exit = "(await import('node:module')).createRequire('/')('process').exit(3)"
    assert.match(errorOf(await runtime.execute(exit)).message, /exited with code 3/)
    const segv = "const p = (await import('node:module')).createRequire('/')('process'); p.kill(p.pid, 'SIGSEGV')"
    assert.match(errorOf(await runtime.execute(segv)).message, /it was ended by SIGSEGV\.$/)
    assert.equal(
      errorOf(await runtime.execute("/(a+)+$/.test('a'.repeat(40) + 'b')", { timeoutMs: 50 })).kind,
      "timeout",
    )
    assert.equal(
      errorOf(await runtime.execute("const all = []; for (;;) all.push(new Array(1e5).fill(0.5))")).kind,
      "memory",
    )
    const buffers =
      "const all = []; for (;;) { all.push(Buffer.alloc(2e7, 1)); await new Promise((go) => setTimeout(go, 5)) }"
    assert.equal(errorOf(await runtime.execute(buffers)).kind, "memory")
    assert.deepEqual(await cellValue(runtime, "rows"), [1])
  })

  test("lets cells write in their folder and nowhere else", async () => {
    await using runtime = processRuntime({}, { isolation: "os" })
    const code =
      "const fs = await import('node:fs'); fs.writeFileSync('a.txt', 'mine'); fs.readFileSync('a.txt', 'utf8')"
    assert.equal(await cellValue(runtime, code), "mine")
    assert.match(
      errorOf(await runtime.execute("fs.writeFileSync('/tmp/outside', 'x')")).message,
      /ERR_ACCESS_DENIED|EROFS|restricted/,
    )
  })

  test("opens the paths that are on its lists", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "karst-lists-")))
    mkdirSync(join(folder, "in"))
    mkdirSync(join(folder, "out"))
    writeFileSync(join(folder, "in", "data.json"), "[1, 2]")
    writeFileSync(join(folder, "beside.txt"), "hidden")
    const options = { isolation: "os", read: [join(folder, "in")], write: [join(folder, "out")] } as const
    await using runtime = processRuntime({ folder }, options)
    const read = "const fs = await import('node:fs'); fs.readFileSync(folder + '/in/data.json', 'utf8')"
    assert.equal(await cellValue(runtime, read), "[1, 2]")
    await cellValue(runtime, "fs.writeFileSync(folder + '/out/made.txt', 'x')")
    assert.equal(readFileSync(join(folder, "out", "made.txt"), "utf8"), "x")
    for (const code of [
      "fs.writeFileSync(folder + '/in/data.json', 'x')",
      "fs.readFileSync(folder + '/beside.txt', 'utf8')",
    ]) {
      assert.equal(errorOf(await runtime.execute(code)).kind, "throw")
    }
    rmSync(folder, { recursive: true })
  })

  test("nobody can write through /proc or /dev, also without Node's own permissions", () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "karst-proc-")))
    const nowhere = { scratchMb: 1, read: [], write: [], network: "none", env: {}, cache: undefined } as const
    const command = nodeSandboxCommand({ node: [process.execPath], entry: "", cwd, ...nowhere })
    // Open the files without writing, so that the machine is unchanged if the sandbox fails.
    const code = `
      const fs = require("node:fs")
      const attempts = ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/oom_score_adj", "/dev/made"]
      const tried = attempts.map((path) => { try { fs.closeSync(fs.openSync(path, path === "/dev/made" ? "w" : "r+")); return "open" } catch (error) { return error.code } })
      console.log(JSON.stringify(tried))`
    const [program = "", ...args] = [...command.slice(0, command.indexOf("--") + 2), "-e", code]
    const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8" })
    rmSync(cwd, { recursive: true })
    assert.notEqual(stdout, "", stderr)
    for (const problem of JSON.parse(stdout)) assert.match(problem, /^(EROFS|EACCES|ENOENT)$/)
    assert.equal(JSON.parse(stdout)[0], "EROFS")
  })

  test("tells that the files of a temporary folder are gone with the process that had them", async () => {
    await using runtime = processRuntime({}, { isolation: "os" })
    await cellValue(runtime, "const fs = await import('node:fs'); fs.writeFileSync('a.txt', 'mine')")
    const exit = "(await import('node:module')).createRequire('/')('process').exit(3)"
    const { lost = [] } = await runtime.execute(exit)
    const files = lost.find(({ reason }) => reason.includes("files"))
    assert.match(files?.reason ?? "", /files there ended with the process; give the runtime a `cwd`/)
    assert.equal(await cellValue(runtime, "(await import('node:fs')).existsSync('a.txt')"), false)
  })

  test("says nothing of files that stay: those of a folder it was given", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "karst-kept-"))
    await using runtime = processRuntime({}, { isolation: "os", cwd })
    await cellValue(runtime, "(await import('node:fs')).writeFileSync('a.txt', 'mine')")
    const exit = "(await import('node:module')).createRequire('/')('process').exit(3)"
    assert.equal((await runtime.execute(exit)).lost, undefined)
    assert.equal(await cellValue(runtime, "(await import('node:fs')).readFileSync('a.txt', 'utf8')"), "mine")
    rmSync(cwd, { recursive: true })
  })

  test("has the host's network only when it is given", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = typeof address === "object" ? address?.port : undefined
    await using open = processRuntime({ port }, { isolation: "os", network: "all" })
    const code = "await (await fetch('http://127.0.0.1:' + port)).text()"
    assert.equal(await cellValue(open, code), "hi")
    await using shut = processRuntime({ port }, { isolation: "os" })
    assert.equal(errorOf(await shut.execute(code)).kind, "throw")
    server.close()
  })
})

test("os fails closed where it cannot be had, and auto goes on with a warning", { skip: requires("bwrap") }, () => {
  // Simulates a machine whose bubblewrap always fails, by running under bubblewrap with another `bwrap` mounted.
  const source = new URL("../../../src/runtime/process.ts", import.meta.url).href
  const code = `
    import { processRuntime } from ${JSON.stringify(source)}
    let refused; try { processRuntime({}, { isolation: "os" }) } catch (error) { refused = error }
    const heard = []
    const runtime = processRuntime({}, { isolation: "auto", onWarning: (message) => heard.push(message) })
    const { value } = await runtime.execute("1 + 1")
    console.log(JSON.stringify([refused.name, refused.message, runtime.isolation, runtime.warnings, heard, value]))
    await runtime.close()`
  const view = ["--dev-bind", "/", "/", "--ro-bind", "/bin/false", "/usr/bin/bwrap"]
  const command = [...view, process.execPath, "--input-type=module", "-e", code]
  const { stdout, stderr } = spawnSync("bwrap", command, { encoding: "utf8" })
  assert.notEqual(stdout, "", stderr)
  const [name, message, isolation, warnings, heard, value] = JSON.parse(stdout)
  assert.equal(name, "UnsupportedError")
  assert.match(message, /isolation "os" cannot be had: bubblewrap does not work here/)
  assert.equal(isolation, "process")
  assert.match(warnings[0], /only a process confines the cells/)
  assert.deepEqual(heard, warnings)
  assert.equal(value, 2)
})

test("an agent whose runtime got less isolation than it asked for tells it", { skip: requires("bwrap") }, () => {
  const from = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)
  const code = `
    import { createAgent } from ${from("agent/create-agent.ts")}
    import { scriptedModel } from ${from("models/scripted.ts")}
    import { processRuntime } from ${from("runtime/process.ts")}
    const runtime = () => processRuntime({}, { isolation: "auto" })
    const fence = "\u0060".repeat(3)
    const model = scriptedModel([fence + "ts\\n1 + 1\\n" + fence, "two"])
    const events = await Array.fromAsync(createAgent({ model, runtime }).run("add"))
    console.log(JSON.stringify(events.filter(({ type }) => type === "warning-raised" || type === "run-end")))`
  const view = ["--dev-bind", "/", "/", "--ro-bind", "/bin/false", "/usr/bin/bwrap"]
  const run = [process.execPath, "--conditions=karst-source", "--input-type=module", "-e", code]
  const { stdout, stderr } = spawnSync("bwrap", [...view, ...run], { encoding: "utf8" })
  assert.notEqual(stdout, "", stderr)
  const [warning, end] = JSON.parse(stdout)
  assert.deepEqual([warning.type, warning.code], ["warning-raised", "runtime"])
  assert.match(warning.message, /only a process confines the cells.*bubblewrap does not work here/)
  assert.equal(end.status, "done")
})

test("a machine without bubblewrap is told how to get it", () => {
  assert.match(sandboxProblem("/nowhere/bwrap") ?? "", /not installed.*apt-get install bubblewrap|needs Linux/)
})

test("a working directory that is not there is refused at once", () => {
  assert.throws(() => processRuntime({}, { cwd: "/nowhere/at/all" }), /there is no folder "\/nowhere\/at\/all"/)
})
