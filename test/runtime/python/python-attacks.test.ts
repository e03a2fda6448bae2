// test lane: runtimes, long
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { createSocket } from "node:dgram"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { fn } from "../../../src/runtime/bindings.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import type { CallGate, Runtime } from "../../../src/runtime/runtime.ts"
import { python, requires } from "../../system.ts"
import { until } from "../../waiting.ts"
import { cellValue } from "../cell-results.ts"
import { type Attack, attacks } from "./python-attacks.ts"

class Vault {
  #key = "the key"
  opened = 0
  note: unknown = ""
  open() {
    this.opened++
    return this.#key.length
  }
  guarded() {
    return "escaped"
  }
}

class Fresh {}

describe("with OS isolation, no cell of Python", { skip: requires("python", "bwrap") }, () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-attacks-"))
  const sibling = mkdtempSync(join(tmpdir(), "karst-"))
  const secret = join(folder, "secret.txt")
  const socketPath = join(folder, "socket")
  const abstractPath = `karst-python-${process.pid}`
  const library = fileURLToPath(new URL("../../../src/runtime/python/assets/kernel.py", import.meta.url))
  const libraryText = readFileSync(library, "utf8")
  const visitors: string[] = []
  const signals: string[] = []
  const kept: unknown[] = []
  const dangers: unknown[] = []
  const vault = new Vault()
  const datagrams = createSocket("udp4")
  const servers: Server[] = []
  const onSignal = (signal: string) => signals.push(signal)
  const listening = (where: string | number) => {
    const server = createServer((socket) => {
      visitors.push(String(where))
      socket.on("error", () => {})
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nescaped")
    })
    servers.push(server)
    return new Promise<void>((resolve) => {
      if (typeof where === "number") server.listen(where, "127.0.0.1", resolve)
      else server.listen(where, resolve)
    })
  }

  const bindings = {
    echo: (value: unknown) => value,
    keep: (value: unknown) => kept.push(value),
    fresh: () => Array.from({ length: 100 }, () => new Fresh()),
    dump: (value: unknown) => JSON.stringify(value) ?? "nothing",
    spell: (value: unknown) => `${value}`,
    ring: async (callback: () => unknown) => await callback(),
    configure: fn((settings: object) => merged({}, settings), { input: { type: "object" } }),
    danger: fn(() => dangers.push("called"), { approve: true }),
    tools: new Proxy(new Vault(), {}),
    vault,
  }
  // Three runtimes in parallel, because attacks mostly wait: for their end, or for the next kernel.
  const runtimes = [0, 1, 2].map(() =>
    pythonRuntime(bindings, { isolation: "os", limits: { processes: 100, graceMs: 300 } }),
  )
  const open = pythonRuntime(bindings, { isolation: "process", cwd: folder })
  // Refuses the calls that need approval.
  const call: CallGate = async ({ approve, method }, next) => {
    if (approve || method === "guarded") throw new Error("not approved")
    return next()
  }
  let given = ""

  before(async () => {
    writeFileSync(secret, "karst")
    writeFileSync(join(sibling, "connection.json"), "{}")
    process.env.KARST_SECRET = "escaped"
    await Promise.all([listening(0), listening(socketPath), listening(`\0${abstractPath}`)])
    datagrams.on("message", () => visitors.push("udp"))
    await new Promise<void>((resolve) => datagrams.bind(0, "127.0.0.1", resolve))
    process.on("SIGTERM", onSignal)
    const address = servers[0]?.address()
    const port = typeof address === "object" ? address?.port : undefined
    const places = { secret, home: homedir(), sibling, library, socket_path: socketPath, abstract_path: abstractPath }
    const numbers = { port, udp_port: datagrams.address().port, host_pid: process.pid, keyring: keyring() }
    given = `globals().update(${JSON.stringify({ ...places, ...numbers })})`
  })

  after(async () => {
    await Promise.all([...runtimes, open].map((runtime) => runtime.close()))
    process.off("SIGTERM", onSignal)
    delete process.env.KARST_SECRET
    for (const server of servers) server.close()
    datagrams.close()
    for (const left of [folder, sibling]) rmSync(left, { recursive: true, force: true })
  })

  test("the way that attacks speak to the host is the one it understands", async () => {
    const [runtime = open] = runtimes
    await cellValue(runtime, attackerTools)
    assert.equal(await cellValue(runtime, "ask('call', vault._karst_id, 'open', [[], {}])"), 7)
    assert.equal((await runtime.execute("publish('stream', {'name': 'stdout', 'text': 'heard'})")).stdout, "heard")
  })

  for (const { title, code } of attacks.filter(({ control }) => control)) {
    test(`control: without isolation, it ${title}`, async () => {
      visitors.length = 0
      await cellValue(open, `${attackerTools}\n${given}`)
      const execution = await open.execute(code, { timeoutMs: 20_000, callGate: call })
      const left = ["link", "hard", "secret.txt.written"].filter((name) => existsSync(join(folder, name)))
      assert.match(JSON.stringify([execution, visitors, left]), /escaped|udp|written/)
      for (const name of left) rmSync(join(folder, name))
    })
  }

  describe("gets out:", { concurrency: runtimes.length }, () => {
    const free = [...runtimes]
    before(() => visitors.splice(0))
    for (const attack of attacks) {
      test(attack.title, async () => {
        const runtime = free.pop()
        assert.ok(runtime)
        try {
          await perform(attack, runtime)
        } finally {
          free.push(runtime)
        }
      })
    }
  })

  const perform = async ({ code, fatal = false, leaves = false, waits = false }: Attack, runtime: Runtime) => {
    await cellValue(runtime, `${attackerTools}\n${given}`)
    // Attacks that end by themselves get enough time, also on a slow machine.
    const execution = await runtime.execute(code, { timeoutMs: waits ? 500 : fatal ? 3000 : 40_000, callGate: call })
    const result = JSON.stringify([execution.ok ? execution.value : execution.error, execution.output])
    assert.doesNotMatch(result, /escaped/)
    if (!fatal && !execution.ok) assert.equal(execution.error.kind, "throw", result)
    assert.deepEqual([visitors, signals, kept, dangers], [[], [], [], []], "no trace on the host")
    assert.equal(Reflect.get({}, "escaped"), undefined)
    assert.equal(existsSync(`${secret}.written`), false)
    assert.equal(readFileSync(library, "utf8"), libraryText)
    assert.equal(vault.open(), 7)
    // The kernel answers or refuses these requests, and the next cells run, in this kernel or a new one.
    await Promise.allSettled([runtime.names(), runtime.describe(), runtime.snapshot?.(), runtime.retrieve("code")])
    if (leaves) {
      await runtime.reset()
      // Another attack that leaves a process may be under way.
      await until(() => !commands().includes(`sleep\0${10_000_000 + process.pid}\0`))
    }
    for (let turn = 0; turn < 2; turn++) {
      const next = await runtime.execute("echo(1) + 1", { timeoutMs: 20_000 })
      if (next.ok) return assert.equal(next.value, 2)
      assert.ok(fatal, next.error.message)
    }
    assert.equal(await cellValue(runtime, "echo(1) + 1"), 2)
  }
})

/** Tools of an attacker who knows the sockets to the host and their protocols. */
const attackerTools = `
import ctypes, gc, glob, json, os, pickle, signal, socket, stat, struct, subprocess, threading, time
libc = ctypes.CDLL(None, use_errno=True)
numbers = {'x86_64': {'pivot_root': 155, 'rt_sigqueueinfo': 129, 'pidfd_open': 434, 'bpf': 321, 'keyctl': 250},
           'aarch64': {'pivot_root': 41, 'rt_sigqueueinfo': 138, 'pidfd_open': 434, 'bpf': 280, 'keyctl': 219}}
def system(name, *given):
    return libc.syscall(numbers[os.uname().machine][name], *given)
kernel = get_ipython().kernel
channel = kernel.shell.user_ns['echo']._karst_channel
import sys
x = sys.modules['karst_kernel.executions'].current
def ask(op, target=0, member=None, value=None, buffers=(), **more):
    message = {'k': 'op', 'op': op, 'x': x(), 't': target, 'p': [] if member is None else [member], 'v': value, **more}
    return channel.request(message, buffers, True)['v']
def say(message):
    channel.send(message, (), False)
def raw(text):
    channel.socket.sendall(struct.pack('<IBII', 9 + len(text), 0, len(text), 0)); channel.socket.sendall(text)
def publish(kind, content, parent=None):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent() if parent is None else parent)
def answer(kind, content):
    kernel.session.send(kernel.shell_stream, kind, content, parent=kernel.get_parent(), ident=kernel._parent_ident['shell'])
`

/** A careless deep merge, which follows every key. */
function merged(target: Record<string, unknown>, source: object): object {
  for (const [key, value] of Object.entries(source)) {
    const known = Object.hasOwn(target, key) ? target[key] : undefined
    const isObject = typeof value === "object" && value !== null && typeof known === "object" && known !== null
    target[key] = isObject ? merged(known as Record<string, unknown>, value) : value
  }
  return target
}

/** The command lines of all processes on this machine. */
function commands(): string {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return pids.map(commandOf).join("\n")
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1")
  } catch {
    return ""
  }
}

function keyring(): number {
  const code =
    "import ctypes, os; print(ctypes.CDLL(None).syscall({'x86_64': 250}.get(os.uname().machine, 219), 0, -3, 0))"
  return Number(spawnSync(python() ?? "python3", ["-c", code], { encoding: "utf8" }).stdout)
}
