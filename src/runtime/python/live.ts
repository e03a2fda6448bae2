import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { AgentError } from "../../core/errors.ts"
import type { HostAccess } from "../handles/operations.ts"
import { type Bridge, type BridgeEvents, createBridge } from "./bridge.ts"
import { listen } from "./channel.ts"
import { makeFolder, removeFolder } from "./folder.ts"
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

export type KernelEvents = Omit<BridgeEvents, "onViolation">

export function startKernel(options: LaunchOptions, access: HostAccess, events: KernelEvents): Promise<LiveKernel> {
  return keepAlive(start(options, access, events))
}

async function start(options: LaunchOptions, access: HostAccess, events: KernelEvents): Promise<LiveKernel> {
  const zeroMq = await loadZeroMq()
  const folder = await makeFolder()
  const token = randomBytes(32).toString("hex")
  const { promise: connected, resolve: onBridge } = Promise.withResolvers<Bridge>()
  let made: Bridge | undefined
  let death: string | undefined
  let launched: Launched | undefined
  const kill = (reason: string) => {
    death ??= reason
    launched?.kill()
  }
  const socket = join(folder, "host")
  const onViolation = (reason: string) => kill(`it sent ${reason} to its host`)
  const listening = await listen(socket, token, (link) => {
    made = createBridge(link, access, { ...events, onViolation }, folder)
    onBridge(made)
  })
  const timer = setTimeout(kill, longestStart, "it took longer than a minute to start")
  try {
    const process = await launch(folder, socket, token, options)
    launched = process
    const exited = process.exited.then((how) => {
      death ??= how
      listening.close()
      made?.end(death)
      return death
    })
    const early = exited.then((how): never => {
      throw new AgentError(`The Python kernel did not start: ${how}.`, { code: "kernel" })
    })
    // The races below handle it.
    early.catch(() => undefined)
    const bridge = await Promise.race([connected, early])
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
