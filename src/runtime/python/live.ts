import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { AgentError } from "../../core/errors.ts"
import { type Bridge, type BridgeEvents, createBridge } from "./bridge.ts"
import { type Channel, listen } from "./channel.ts"
import { makeFolder, removeFolder } from "./folder.ts"
import type { HostObjects } from "./host-objects.ts"
import { keepAlive } from "./keep-alive.ts"
import { connectKernel, type Kernel, loadZeroMq } from "./kernel.ts"
import { type Launched, type LaunchOptions, launch } from "./launch.ts"

/** A kernel that runs, and both ways to it. */
export interface LiveKernel {
  readonly pid: number
  /** Its own folder, where cells work when they were given no other. */
  readonly folder: string
  readonly kernel: Kernel
  readonly bridge: Bridge
  /** Resolves when it is gone, with the reason. */
  readonly exited: Promise<string>
  /** Why it is gone; undefined while it lives. */
  readonly death: string | undefined
  /** Ctrl-C for what runs now. */
  interrupt(): void
  /** Ends it at once; `reason` is what is told. */
  kill(reason: string): void
  /** Ends it and leaves nothing of it. */
  end(): Promise<void>
}

export function startKernel(options: LaunchOptions, objects: HostObjects, events: BridgeEvents): Promise<LiveKernel> {
  return keepAlive(start(options, objects, events))
}

async function start(options: LaunchOptions, objects: HostObjects, events: BridgeEvents): Promise<LiveKernel> {
  const zeroMq = await loadZeroMq()
  const folder = await makeFolder()
  const token = randomBytes(32).toString("hex")
  let channel: Channel | undefined
  let death: string | undefined
  let launched: Launched | undefined
  const kill = (reason: string) => {
    death ??= reason
    launched?.kill()
  }
  const bridge = createBridge(() => channel ?? nowhere, objects, events, folder)
  const socket = join(folder, "host")
  const listening = await listen(socket, token, {
    onFrame: bridge.onFrame,
    onViolation: (reason) => kill(`it sent ${reason} to its host`),
  })
  const timer = setTimeout(kill, longestStart, "it took longer than a minute to start")
  try {
    const process = await launch(folder, socket, token, options)
    launched = process
    const exited = process.exited.then((how) => {
      death ??= how
      listening.close()
      bridge.end(death)
      return death
    })
    const early = exited.then((how): never => {
      throw new AgentError(`The Python kernel did not start: ${how}.`, { code: "kernel" })
    })
    // Whoever still waits is told by the race; nobody else needs to hear of it.
    early.catch(() => undefined)
    channel = await Promise.race([listening.connected, early])
    await Promise.race([bridge.ready, early])
    const flood = () => kill("it sent too much over its Jupyter channels")
    const kernel = await Promise.race([connectKernel(process, zeroMq, flood), early])
    void exited.then(kernel.close)
    return {
      pid: process.pid,
      folder,
      kernel,
      bridge,
      exited,
      get death() {
        return death
      },
      interrupt: process.interrupt,
      kill,
      async end() {
        kill("it was closed")
        kernel.close()
        await keepAlive(process.end())
        listening.close()
      },
    }
  } catch (error) {
    listening.close()
    await launched?.end()
    await removeFolder(folder)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

const longestStart = 60_000
const nowhere: Channel = { send: () => undefined }
