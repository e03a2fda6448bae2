// Starts a kernel and connects both channels to it: the host's own socket (bridge) and Jupyter's.
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { AgentError } from "../../../core/errors.ts"
import { removeFolder } from "../../../core/remove-folder.ts"
import type { HostAccess } from "../../handles/operations.ts"
import { listenForKernel } from "./bridge-socket.ts"
import { connectJupyter, type JupyterClient, loadZeroMq } from "./jupyter-client.ts"
import { keepProgramAlive } from "./keep-alive.ts"
import { createKernelBridge, type KernelBridge, type KernelBridgeEvents } from "./kernel-bridge.ts"
import { createKernelFolder } from "./kernel-folder.ts"
import { type KernelProcess, type LaunchOptions, launchKernel } from "./kernel-launch.ts"

export interface RunningKernel {
  readonly pid: number
  /** Its temporary folder. Cells work there unless `cwd` is set. */
  readonly folder: string
  readonly jupyter: JupyterClient
  readonly bridge: KernelBridge
  /** Resolves with the reason when the kernel has ended. */
  readonly exited: Promise<string>
  /** Why the kernel ended; undefined while it runs. */
  readonly exitReason: string | undefined
  /** Interrupts the running cell (Ctrl-C). */
  interrupt(): void
  /** Kills the kernel; `reason` becomes its exit reason. */
  kill(reason: string): void
  /** Kills the kernel and removes its folder. */
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
  let createdBridge: KernelBridge | undefined
  let death: string | undefined
  let launched: KernelProcess | undefined
  const kill = (reason: string) => {
    death ??= reason
    launched?.kill()
  }
  const socket = join(folder, "host")
  const onViolation = (reason: string) => kill(`it sent ${reason} to its host`)
  const listener = await listenForKernel(socket, token, (link) => {
    createdBridge = createKernelBridge(link, access, { ...events, onProtocolViolation: onViolation }, folder)
    onBridge(createdBridge)
  })
  const timer = setTimeout(kill, maxStartMs, "it took longer than a minute to start")
  try {
    const process = await launchKernel(folder, socket, token, options)
    launched = process
    const exited = process.exited.then((how) => {
      death ??= how
      listener.close()
      createdBridge?.close(death)
      return death
    })
    const failedStart = exited.then((how): never => {
      throw new AgentError(`The Python kernel did not start: ${how}.`, { code: "kernel" })
    })
    // The races below handle the rejection.
    failedStart.catch(() => undefined)
    const bridge = await Promise.race([connected, failedStart])
    await Promise.race([bridge.ready, failedStart])
    const onFlood = () => kill("it sent too much over its Jupyter channels")
    const kernel = await Promise.race([connectJupyter(process, zeroMq, onFlood), failedStart])
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
        listener.close()
      },
    }
  } catch (error) {
    listener.close()
    await launched?.end()
    await removeFolder(folder)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

const maxStartMs = 60_000
