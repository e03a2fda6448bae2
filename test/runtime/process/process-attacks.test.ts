// test lane: runtimes, long
import assert from "node:assert/strict"
import { createSocket } from "node:dgram"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { CellNotExecuted } from "../../../src/runtime/runtime.ts"
import { requires } from "../../system.ts"
import { cellValue } from "../cell-results.ts"
import { attacks } from "./process-attacks.ts"
import { rawChannel } from "./raw-channel.ts"

class Vault {
  #key = "the key"
  opened = 0
  open() {
    this.opened++
    return this.#key.length
  }
}

class Fresh {}

/** Returns what the host sees when it reads the thrown value. */
function readAll({ thrown }: CellNotExecuted): unknown[] {
  return thrown instanceof Error ? [thrown.name, thrown.message, thrown.stack, `${thrown}`] : [thrown]
}

describe("with OS isolation, no cell", { skip: requires("bwrap") }, () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-attacks-"))
  const secret = join(folder, "secret.json")
  const socketPath = join(folder, "socket")
  const abstractPath = `\0karst-${process.pid}`
  const library = fileURLToPath(new URL("../../../src/runtime/process/child.ts", import.meta.url))
  const libraryText = readFileSync(library, "utf8")
  const visitors: string[] = []
  const signals: string[] = []
  const kept: unknown[] = []
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

  before(async () => {
    writeFileSync(secret, '{"secret": "karst"}')
    process.env.KARST_SECRET = "escaped"
    await Promise.all([listening(0), listening(socketPath), listening(abstractPath)])
    datagrams.on("message", () => visitors.push("udp"))
    await new Promise<void>((resolve) => datagrams.bind(0, "127.0.0.1", resolve))
    process.on("SIGTERM", onSignal)
    const address = servers[0]?.address()
    const port = typeof address === "object" ? address?.port : undefined
    Object.assign(given, { secret, socketPath, abstractPath, library, port, udpPort: datagrams.address().port })
    await cellValue(runtime, "1")
  })

  after(async () => {
    await runtime.close()
    process.off("SIGTERM", onSignal)
    delete process.env.KARST_SECRET
    for (const server of servers) server.close()
    datagrams.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const given: { [name: string]: unknown } = { hostPid: process.pid }
  const runtime = processRuntime(
    {
      echo: (value: unknown) => value,
      keep: (value: unknown) => kept.push(value),
      fresh: () => new Fresh(),
      use: async (value: unknown) => {
        const awaited = await value
        return [JSON.stringify(awaited), `${awaited}`, awaited === 1].length
      },
      vault,
    },
    { isolation: "os", limits: { handles: 1000 } },
  )

  test("the way that attacks speak to the host is the one it understands", async () => {
    await cellValue(runtime, rawChannel)
    const opened = await cellValue(runtime, "await ask({ t: await idOf(vault), p: ['open'], op: 'call', v: [[], {}] })")
    assert.equal(opened, 7)
  })

  for (const { title, code } of attacks.filter(({ control }) => control)) {
    test(`control: without isolation, it ${title}`, async () => {
      await using open = processRuntime(given, { cwd: folder })
      const execution = await open.execute(code, { timeoutMs: 30_000 })
      assert.match(JSON.stringify(execution), /escaped/)
      visitors.length = 0
      for (const left of ["link", "hard", "copy", "secret.json.written", "secret.json.db", "secret.json.db2"]) {
        rmSync(join(folder, left), { force: true })
      }
    })
  }

  for (const { title, code, fatal = false } of attacks) {
    test(title, async () => {
      const visitorsBefore = visitors.length
      await cellValue(runtime, rawChannel)
      await runtime.execute(`Object.assign(globalThis, ${JSON.stringify(given)})`)
      // Attacks that end by themselves get enough time, also on a slow machine.
      const execution = await runtime.execute(code, { timeoutMs: fatal ? 5000 : 30_000 })
      const { output } = execution
      const told = JSON.stringify(
        execution.ok ? [execution.value, output] : [execution.error, readAll(execution), output],
      )
      assert.doesNotMatch(told, /escaped/, told)
      if (!fatal && !execution.ok) assert.equal(execution.error.kind, "throw", told)
      assert.equal(visitors.length, visitorsBefore, "nobody came from inside")
      assert.deepEqual(signals, [])
      assert.equal(Reflect.get({}, "escaped"), undefined)
      assert.ok(!["written", "db", "db2"].some((kind) => existsSync(`${secret}.${kind}`)))
      assert.equal(readFileSync(library, "utf8"), libraryText)
      assert.equal(vault.open(), 7)
      vault.opened = 0
      assert.deepEqual(kept, [])
      // The host still works, with this child or a new one.
      assert.equal(await cellValue(runtime, "await echo(1) + 1"), 2)
    })
  }
})
