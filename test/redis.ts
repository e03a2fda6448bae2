import { type ChildProcess, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** A real Redis of a test's own, on a free port and in a temporary folder. Every write is on the disk before its
 *  answer. */
export interface RedisServer extends AsyncDisposable {
  url: string
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
  /** Starts it again after that, with what it had. */
  start(): Promise<void>
}

export async function startRedis(...settings: string[]): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "karst-redis-"))
  const port = await freePort()
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const place = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder]
    const keeping = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"]
    const server = spawn("redis-server", [...place, ...keeping, ...settings], { stdio: ["ignore", "pipe", "ignore"] })
    child = server
    for await (const line of createInterface(server.stdout)) if (line.includes("Ready to accept connections")) break
    server.stdout.resume()
    if (server.exitCode !== null) throw new Error(`redis-server ended with code ${server.exitCode}.`)
  }

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, "exit")
    child.kill("SIGKILL")
    await exit
  }

  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    async [Symbol.asyncDispose]() {
      await kill()
      rmSync(folder, { recursive: true })
    },
  }
}

/** A port that is free, and outside the range from which systems choose ports for others. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000)
    const server = createServer().listen(port, "127.0.0.1")
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, "close")
    return port
  }
}
