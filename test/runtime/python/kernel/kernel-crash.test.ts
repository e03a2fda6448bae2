// test lane: runtimes, long
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readlinkSync, rmSync } from "node:fs"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { py } from "../../../../src/runtime/python/py-reference.ts"
import { pythonRuntime } from "../../../../src/runtime/python.ts"
import { retrieveAny } from "../../../retrieve-any.ts"
import { requires } from "../../../system.ts"
import { until } from "../../../waiting.ts"
import { cellsOf, sharedRuntime } from "../shared-kernel.ts"

describe("a cell of Python that misbehaves", { skip: requires("python") }, () => {
  const runtime = sharedRuntime(
    { given: 41, add: (n: number) => n + 1, stuck: () => new Promise(() => {}) },
    { limits: { memoryBytes: 400 * 2 ** 20, graceMs: 300, outputBytes: 200_000, cpuMs: 1500 } },
  )
  const alive = async () => assert.equal(await runtime.value("add(given)"), 42)

  for (const [name, code] of [
    ["os._exit", "import os\nos._exit(3)"],
    ["a segmentation fault", "import ctypes\nctypes.string_at(0)"],
    ["an abort", "import os\nos.abort()"],
    ["a kill of itself", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"],
  ] as const) {
    test(`dies of ${name}: the host lives, the next cell starts anew and tells what is lost`, async () => {
      await runtime.ran("mine = 1\ngiven = 5")
      const { error, lost = [] } = await runtime.failed(code)
      assert.equal(error.kind, "crash")
      assert.match(error.message, /kernel died/)
      assert.deepEqual(
        lost.map((each) => each.name),
        ["mine", "given"],
      )
      await alive()
      await assert.rejects(retrieveAny(runtime, "mine"))
    })
  }

  test("dies: what cells can change in place is as it was injected again, and that is told, once", async () => {
    const setup = "state = {}\nfixed = (1, 'a')\ndef helper(): pass"
    const given = {
      sales: { a: 1 },
      list: [1, 2],
      limit: 5,
      when: new Date(0),
      light: new (class Light {})(),
      add: Number,
    }
    await using own = pythonRuntime({ ...given, counts: py("collections:Counter"), pi: py("math:pi") }, { setup })
    const { failed, ran } = cellsOf(own)
    const crash = "import os\nos._exit(1)"
    const told = async (code: string) => {
      const { lost = [] } = await failed(code)
      return lost.map(({ name, asInjected = false }) => `${name}${asInjected ? " again" : ""}`)
    }
    assert.deepEqual(await told(crash), ["state again", "sales again", "list again"])
    assert.equal((await ran("sales['b'] = 5; list.append(3); mine = 1; limit = 6; del helper")).lost, undefined)
    assert.deepEqual(await told(crash), [
      "mine",
      "limit again",
      "helper again",
      "state again",
      "sales again",
      "list again",
    ])
    assert.deepEqual(
      [await own.retrieve("sales"), await own.retrieve("list"), await own.retrieve("limit")],
      [{ a: 1 }, [1, 2], 5],
    )
    await own.inject({ more: new Map([["a", 1]]) })
    await own.update({ list: "text" })
    assert.deepEqual(await told(crash), ["state again", "sales again", "more again"])
  })

  test("loops for ever: it is interrupted and loses nothing", async () => {
    await runtime.ran("kept = 1")
    const { error, lost } = await runtime.failed("started = True\nwhile True: pass", { timeoutMs: 200 })
    assert.deepEqual([error.kind, lost], ["timeout", undefined])
    assert.equal(error.line, 2)
    assert.equal(await runtime.value("kept + started"), 2)
  })

  test("sleeps, matches a terrible expression or waits for the host: it is interrupted too", async () => {
    for (const code of [
      "import time; time.sleep(60)",
      "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
      "stuck()",
      "import asyncio; await asyncio.sleep(60)",
      "await stuck()",
    ]) {
      const { error, lost } = await runtime.failed(code, { timeoutMs: 200 })
      assert.deepEqual([code, error.kind, lost], [code, "timeout", undefined])
    }
    assert.equal(await runtime.value("kept"), 1)
  })

  test("will not be interrupted: its kernel is ended, and that is told", async () => {
    const code = "import time\nwhile True:\n    try:\n        time.sleep(1)\n    except BaseException: pass"
    const { error, lost = [] } = await runtime.failed(code, { timeoutMs: 100 })
    assert.equal(error.kind, "timeout")
    assert.ok(lost.some(({ name }) => name === "kept"))
    await alive()
  })

  test("takes too much memory at once or little by little", async () => {
    assert.equal((await runtime.failed("x = bytearray(10 ** 11)")).error.kind, "memory")
    const { error } = await runtime.failed("x = []\nwhile True: x.append(bytearray(10 ** 7))")
    assert.equal(error.kind, "memory")
    assert.match(error.message, /400 MB/)
    await alive()
  })

  test("prints without end", async () => {
    const { error, output } = await runtime.failed("while True: print('x' * 1000)")
    assert.equal(error.kind, "memory")
    assert.ok(output.length < 300_000)
    await alive()
  })

  test("uses more processor time than it may", async () => {
    const { error } = await runtime.failed("while True: pass")
    assert.equal(error.kind, "timeout")
    assert.match(error.message, /processor time/)
    await alive()
  })

  test("breaks the channel to its host: only its own kernel suffers", { timeout: 180_000 }, async () => {
    const reach = "import gc\nchannel = next(o for o in gc.get_objects() if type(o).__name__ == 'Channel')\n"
    for (const attack of [
      "channel.socket.sendall(b'\\xff' * 64)",
      "channel.socket.sendall(b'\\x0c\\0\\0\\0' + b'\\0' * 12)",
      "channel.send({'k': 'cell', 'changes': 5, 'error': 7})",
      "channel.send({'k': 'reply', 'i': 10 ** 9, 'v': {'$': 'zzz'}}, (), True)",
      "channel.send({'k': 'release', 'ids': 'all'})",
      "channel.send({'k': 'call', 'i': 'x', 't': {}, 'm': [], 'v': {}})",
      "channel.send({'k': 'unheard of'})",
      "channel.socket.close()",
    ]) {
      await runtime.execute(reach + attack, { timeoutMs: 3000 })
      await alive()
    }
  })

  test("ends between two cells: the next one tells", async () => {
    process.kill(Number(await runtime.value("import os\nmine = 1\nos.getpid()")), "SIGKILL")
    let lost: unknown
    await until(async () => {
      lost = (await runtime.execute("1")).lost
      return lost
    })
    assert.ok(JSON.stringify(lost).includes('"mine"'))
  })
})

describe("a kernel", { skip: requires("python") }, () => {
  test("ends with its host, however that ends, also in the middle of a cell", async () => {
    const program = fileURLToPath(new URL("./orphaned-kernel.ts", import.meta.url))
    for (const code of ["1", "import time\nwhile True: time.sleep(0.01)"]) {
      const child = spawn(process.execPath, [program, code], { stdio: ["ignore", "pipe", "inherit"] })
      const [chunk] = await once(child.stdout, "data")
      const [, pid = 0, folder = ""] = /^(\d+) (.*)$/m.exec(String(chunk)) ?? []
      assert.ok(isRunning(Number(pid)))
      child.kill("SIGKILL")
      await once(child, "exit")
      await until(() => !isRunning(Number(pid)))
      // A host that is killed cannot clean up after itself.
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test("takes the programs it started along when it is closed", async () => {
    await using runtime = pythonRuntime()
    const { value } = cellsOf(runtime)
    const pid = Number(await value("import subprocess\nsubprocess.Popen(['sleep', '600']).pid"))
    assert.ok(isRunning(pid))
    await runtime.close()
    await until(() => !isRunning(pid))
  })

  test("takes them along when it ends by itself, too", async () => {
    await using runtime = pythonRuntime()
    const { value, failed } = cellsOf(runtime)
    const pid = Number(await value("import os, subprocess\nsubprocess.Popen(['sleep', '600']).pid"))
    assert.equal((await failed("os._exit(1)")).error.kind, "crash")
    await until(() => !isRunning(pid))
  })

  for (const isolation of ["process", "os"] as const) {
    const skip = isolation === "os" ? requires("bwrap") : undefined
    test(`that nobody closes keeps no program alive, and leaves nothing behind (${isolation})`, { skip }, async () => {
      const program = fileURLToPath(new URL("./unclosed-kernel.ts", import.meta.url))
      const child = spawn(process.execPath, [program, isolation], { stdio: ["ignore", "pipe", "inherit"] })
      const [[chunk], [code]] = await Promise.all([once(child.stdout, "data"), once(child, "exit")])
      const folder = String(chunk).trim()
      assert.match(folder, /karst-/)
      assert.deepEqual([code, existsSync(folder)], [0, false])
      const left = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && workingFolderOf(pid).startsWith(folder))
      await until(() => !left.some((pid) => isRunning(Number(pid))))
    })
  }

  test("that is closed before it has started does not start any more", async () => {
    const runtime = pythonRuntime({ told: () => assert.fail("a cell ran") })
    const execution = runtime.execute("told()")
    await runtime.close()
    await assert.rejects(execution, /closed/)
  })

  test("is ended for the memory that a thread takes while no cell runs", async () => {
    await using runtime = pythonRuntime({}, { limits: { memoryBytes: 300 * 2 ** 20 } })
    const { ran } = cellsOf(runtime)
    const work = "time.sleep(0.05), hoard.append(bytearray(b'x' * 400_000_000)), time.sleep(600)"
    await ran(`import threading, time\nhoard = []\nthreading.Thread(target=lambda: (${work}), daemon=True).start()`)
    let told = ""
    await until(async () => {
      const { lost = [] } = await runtime.execute("1")
      told = lost.map(({ name, reason }) => `${name}: ${reason}`).join()
      return told
    })
    assert.match(told, /hoard: the kernel (died: it took \d+ MB|had to be stopped)/)
  })

  test("meets its host in a folder that nobody else can read", async () => {
    await using runtime = pythonRuntime()
    const { value } = cellsOf(runtime)
    const code =
      "import gc, os, socket, stat\npath = next(o for o in gc.get_objects() if type(o).__name__ == 'Channel').socket.getpeername()\n" +
      "mode = stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)\nmode & 0o777"
    assert.equal(await value(code), 0o700)
  })
})

function workingFolderOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ""
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
