// test lane: runtimes, long
import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { table } from "../../../src/runtime/python/tables/table.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { requires } from "../../system.ts"
import { cellsOf, sharedRuntime } from "./shared-kernel.ts"

describe("pythonRuntime under bubblewrap", { skip: requires("python", "bwrap", "pandas") }, () => {
  const outside = mkdtempSync(join(tmpdir(), "karst-outside-"))
  after(() => rmSync(outside, { recursive: true, force: true }))
  for (const name of ["secret.txt", "shown.txt"]) writeFileSync(join(outside, name), name)
  const shown = join(outside, "shown.txt")
  const runtime = sharedRuntime(
    { add: (n: number) => n + 1, df: table([{ n: 1 }, { n: 2 }]), shown, outside },
    { isolation: "os", read: [shown], limits: { graceMs: 500 } },
  )

  test("says what it is, and works as ever", async () => {
    assert.equal(runtime.isolation, "os")
    assert.equal(await runtime.value("add(int(df['n'].sum()))"), 4)
    assert.equal((await runtime.ran("print('hello')")).stdout, "hello\n")
    assert.deepEqual(await runtime.retrieve("df"), [{ n: 1 }, { n: 2 }])
  })

  test("is found by its own path, whatever PATH the kernel is given", async () => {
    await using elsewhere = pythonRuntime({}, { isolation: "os", env: { PATH: "/nowhere" } })
    const { value } = cellsOf(elsewhere)
    assert.equal(await value("import os\nos.environ['PATH']"), "/nowhere")
  })

  test("interrupts, and starts again after a crash", async () => {
    await runtime.ran("kept = 1")
    const { error, lost } = await runtime.failed("while True: pass", { timeoutMs: 200 })
    assert.deepEqual([error.kind, lost], ["timeout", undefined])
    assert.equal((await runtime.failed("import os; os._exit(1)")).error.kind, "crash")
    assert.equal(await runtime.value("add(1)"), 2)
  })

  test("reads what it may and writes in its own folder only", async () => {
    assert.equal(await runtime.value("open(shown).read()"), "shown.txt")
    assert.equal(await runtime.value("open('mine.txt', 'w').write('abc')"), 3)
    for (const attempt of [
      "open(outside + '/secret.txt').read()",
      "open(shown, 'w')",
      "open('/planted', 'w')",
      "open('/usr/lib/planted', 'w')",
      "open('/etc/shadow').read()",
      "open('/etc/passwd').read()",
      "__import__('os').listdir('/home')",
      "__import__('os').mkdir('/var/planted')",
      "__import__('os').symlink('/etc/shadow', 's') or open('s').read()",
    ]) {
      assert.equal((await runtime.failed(attempt)).error.kind, "throw", attempt)
    }
    // A file that the cell writes next to a readable file exists only in the sandbox.
    await runtime.execute("open(outside + '/new.txt', 'w').write('x')")
    assert.deepEqual(readdirSync(outside).toSorted(), ["secret.txt", "shown.txt"])
  })

  test("has no network, no other processes, no environment of the host and no privileges", async () => {
    const server = createServer().listen(0, "127.0.0.1")
    after(() => server.close())
    await new Promise((resolve) => server.once("listening", resolve))
    const { port } = server.address() as { port: number }
    for (const attempt of [
      `__import__('socket').create_connection(('127.0.0.1', ${port}), 2)`,
      `__import__('os').kill(${process.pid}, 9)`,
      `open('/proc/${process.pid}/environ').read()`,
      // The cell sees only its own user, and has no capabilities of root.
      "__import__('os').setuid(__import__('os').getuid() + 1)",
      "__import__('os').setgroups([0])",
      "__import__('os').chroot('.')",
      "__import__('socket').sethostname('planted')",
      "__import__('ctypes').CDLL(None, use_errno=True).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0 or 1/0",
    ]) {
      assert.equal((await runtime.failed(attempt)).error.kind, "throw", attempt)
    }
    const environment = await runtime.value("import os\ndict(os.environ)")
    for (const name of ["USER", "SHELL", "npm_config_cache"])
      assert.equal((environment as Record<string, string>)[name], undefined)
    assert.ok(Number(await runtime.value("os.getpid()")) < 100)
    const capabilities = await runtime.value("[l.split()[1] for l in open('/proc/self/status') if l.startswith('Cap')]")
    assert.deepEqual(new Set(capabilities as string[]), new Set(["0000000000000000"]))
  })
})
