import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { AgentError } from "../../../core/errors.ts"
import type { HostAccess } from "../../handles/operations.ts"
import { listenForKernel } from "./bridge-socket.ts"
import { connectJupyter, type JupyterClient, loadZeroMq } from "./jupyter-client.ts"
import { keepProgramAlive } from "./keep-alive.ts"
import { createKernelBridge, type KernelBridge, type KernelBridgeEvents } from "./kernel-bridge.ts"
import { createKernelFolder, removeFolder } from "./kernel-folder.ts"
import { type KernelProcess, type LaunchOptions, launchKernel } from "./kernel-launch.ts"

/** A kernel that runs, and both ways to it. */
export interface RunningKernel {
  readonly pid: number
  /** Its own folder, where cells work when they were given no other. */
  readonly folder: string
  readonly jupyter: JupyterClient
  readonly bridge: KernelBridge
  /** Resolves when it is gone, with the reason. */
  readonly exited: Promise<string>
  /** Why it is gone; undefined while it lives. */
  readonly exitReason: string | undefined
  /** Ctrl-C for what runs now. */
  interrupt(): void
  /** Ends it at once; `reason` is what is told. */
  kill(reason: string): void
  /** Ends it and leaves nothing of it. */
  end(): Promise<void>
}

export type KernelEvents = Omit<KernelBridgeEvents, "onProtocolViolation">

export function startKernel(options: LaunchOptions, access: HostAccess, events: KernelEvents): Promise<RunningKernel> {
  return keepProgramAlive(launchAndConnect(options, access, events))
}

async function launchAndConnect(
  options: LaunchOptions,
  access: HostAccess,
  events: KernelEvents,
): Promise<RunningKernel> {
  const zeroMq = await loadZeroMq()
  const folder = await createKernelFolder()
  const token = randomBytes(32).toString("hex")
  const { promise: connected, resolve: onBridge } = Promise.withResolvers<KernelBridge>()
  let made: KernelBridge | undefined
  let death: string | undefined
  let launched: KernelProcess | undefined
  const kill = (reason: string) => {
    death ??= reason
    launched?.kill()
  }
  const socket = join(folder, "host")
  const onViolation = (reason: string) => kill(`it sent ${reason} to its host`)
  const listening = await listenForKernel(socket, token, (link) => {
    made = createKernelBridge(link, access, { ...events, onProtocolViolation: onViolation }, folder)
    onBridge(made)
  })
  const timer = setTimeout(kill, maxStartMs, "it took longer than a minute to start")
  try {
    const process = await launchKernel(folder, socket, token, options)
    launched = process
    const exited = process.exited.then((how) => {
      death ??= how
      listening.close()
      made?.close(death)
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
    const kernel = await Promise.race([connectJupyter(process, zeroMq, flood), early])
    void exited.then(kernel.close)
    return {
      pid: process.pid,
      folder,
      jupyter: kernel,
      bridge,
      exited,
      get exitReason() {
        return death
      },
      interrupt: process.interrupt,
      kill,
      async end() {
        kill("it was closed")
        kernel.close()
        await keepProgramAlive(process.end())
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

const maxStartMs = 60_000
