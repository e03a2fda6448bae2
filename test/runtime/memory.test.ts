// test lane: unit, long
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { processTree } from "../../src/core/child/process-tree.ts"
import { processRuntime } from "../../src/runtime/process.ts"
import { pythonRuntime } from "../../src/runtime/python.ts"
import { requires } from "../system.ts"
import { until } from "../waiting.ts"

/** Starts a process that leaves its parent, its group and its session, and runs the lines in it. */
const detached = (...lines: string[]) =>
  [
    "import os, time",
    "if os.fork() == 0:",
    "    os.setsid()",
    "    if os.fork() == 0:",
    ...lines.map((line) => `        ${line}`),
    "        os._exit(0)",
    "    os._exit(0)",
  ].join("\n")

const tooMuch = [
  {
    title: "a file in memory that is not mapped",
    code: "import os, time\nfd = os.memfd_create('x')\nfor _ in range(40): os.write(fd, b'x' * 10_000_000)\ntime.sleep(20)",
  },
  {
    title: "a file in memory of a process that it started",
    code: "import subprocess\nsubprocess.run(['python3', '-c', \"import os, time\\nfd = os.memfd_create('x')\\nfor _ in range(40): os.write(fd, b'x' * 10_000_000)\\ntime.sleep(20)\"])",
  },
  {
    title: "shared memory without a name",
    code: "import mmap, time\nm = mmap.mmap(-1, 400_000_000)\nfor at in range(0, 400_000_000, 4096): m[at] = 1\ntime.sleep(20)",
  },
]

for (const isolation of ["process", "os"] as const) {
  describe(`the memory of Python with isolation ${isolation}`, {
    skip: requires("python", ...(isolation === "os" ? (["bwrap"] as const) : [])),
  }, () => {
    for (const { title, code } of tooMuch) {
      test(`includes ${title}`, async () => {
        await using runtime = pythonRuntime({}, { isolation, limits: { memoryBytes: 300 * 2 ** 20 } })
        const result = await runtime.execute(code, { timeoutMs: 60_000 })
        assert.equal(result.ok, false)
        assert.equal(result.ok ? "" : result.error.kind, "memory")
        assert.equal((await runtime.execute("1 + 1")).ok, true)
      })
    }

    test("counts a file in memory once that is open and mapped in several processes", async () => {
      await using runtime = pythonRuntime({}, { isolation, limits: { memoryBytes: 400 * 2 ** 20 } })
      const code = `import os, mmap, time
fd = os.memfd_create('x')
os.ftruncate(fd, 150_000_000)
m = mmap.mmap(fd, 150_000_000)
for at in range(0, 150_000_000, 4096): m[at] = 1
for _ in range(3):
    if os.fork() == 0:
        sum(m[at] for at in range(0, 150_000_000, 4096))
        time.sleep(1)
        os._exit(0)
time.sleep(1)
'fits'`
      const result = await runtime.execute(code, { timeoutMs: 60_000 })
      assert.equal(result.ok ? result.value : JSON.stringify(result.error), "fits")
    })
  })
}

describe("a process that leaves its kernel, in a sandbox", { skip: requires("python", "bwrap") }, () => {
  test("counts for the limit of memory", async () => {
    await using runtime = pythonRuntime({}, { isolation: "os", limits: { memoryBytes: 300 * 2 ** 20 } })
    const result = await runtime.execute(
      `${detached("held = bytearray(400_000_000)", "time.sleep(60)")}\ntime.sleep(20)`,
      { timeoutMs: 60_000 },
    )
    assert.equal(result.ok, false)
    assert.equal(result.ok ? "" : result.error.kind, "memory")
  })

  test("counts with the file systems in memory that it mounts in a sandbox of its own, where it can", async () => {
    await using runtime = pythonRuntime({}, { isolation: "os", limits: { memoryBytes: 300 * 2 ** 20 } })
    const inner =
      "mkdir -p /tmp/m && mount -t tmpfs none /tmp/m && echo mounted && head -c 400000000 /dev/zero > /tmp/m/x; sleep 20"
    const code = `import subprocess\nran = subprocess.run(['unshare', '-Urm', 'sh', '-c', '${inner}'], capture_output=True, text=True)\nran.stdout`
    const result = await runtime.execute(code, { timeoutMs: 60_000 })
    assert.equal(result.ok ? `mounted: ${result.value}` : result.error.kind, result.ok ? "mounted: " : "memory")
  })

  test("has ended when the runtime has closed", async (context) => {
    const cwd = await mkdtemp(join(tmpdir(), "karst-detached-"))
    context.after(() => rm(cwd, { recursive: true, force: true }))
    const runtime = pythonRuntime({}, { isolation: "os", cwd })
    const beating = detached("while True:", "    open('beat', 'a').write('.')", "    time.sleep(0.01)")
    const before = new Set(processTree(process.pid, 10_000))
    await runtime.execute(`${beating}\nwhile not os.path.exists('beat'): time.sleep(0.01)`)
    const started = processTree(process.pid, 10_000).filter((pid) => !before.has(pid))
    assert.notDeepEqual(started.filter(isAlive), [])
    await runtime.close()
    // The system ends the processes of a sandbox after the process that holds it.
    await until(() => !started.some(isAlive))
  })
})

describe("the memory of a process with a sandbox", { skip: requires("bwrap") }, () => {
  test("includes its temporary files, which are memory", async () => {
    await using runtime = processRuntime(
      {},
      { isolation: "os", limits: { memoryBytes: 300 * 2 ** 20, diskBytes: 512 * 2 ** 20 } },
    )
    const result = await runtime.execute(
      `const fs = await import("node:fs")
       for (let at = 0; at < 40; at++) fs.appendFileSync("large", Buffer.alloc(10_000_000, 1))
       await new Promise((resolve) => setTimeout(resolve, 20_000))`,
      { timeoutMs: 60_000 },
    )
    assert.equal(result.ok, false)
    assert.equal(result.ok ? "" : result.error.kind, "memory")
  })
})

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}
