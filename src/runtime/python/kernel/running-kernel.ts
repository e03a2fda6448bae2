// Starts a kernel and connects both channels to it: the host's own socket (bridge) and Jupyter's.
import { randomBytes } from "node:crypto"
import { mkdir, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AgentError } from "../../../core/errors.ts"
import { namedIfFull } from "../../../core/full-disk.ts"
import { removeFolder } from "../../../core/remove-folder.ts"
import type { HostAccess } from "../../handles/operations.ts"
import { listenForKernel } from "./bridge-socket.ts"
import { connectJupyter, type JupyterClient, loadZeroMq } from "./jupyter-client.ts"
import { keepProgramAlive } from "./keep-alive.ts"
import { createKernelBridge, type KernelBridge, type KernelBridgeEvents } from "./kernel-bridge.ts"
import { type KernelProcess, type LaunchOptions, launchKernel } from "./kernel-launch.ts"

export interface RunningKernel extends Pick<KernelProcess, "pid" | "folder" | "exited" | "interrupt" | "end"> {
  readonly jupyter: JupyterClient
  readonly bridge: KernelBridge
  /** Why the kernel ended; undefined while it runs. */
  readonly exitReason: string | undefined
  /** Kills the kernel; `reason` becomes its exit reason. */
  kill(reason: string): void
}

export type KernelEvents = Omit<KernelBridgeEvents, "onProtocolViolation">

export function startKernel(options: LaunchOptions, access: HostAccess, events: KernelEvents): Promise<RunningKernel> {
  return keepProgramAlive(launch(options, access, events))
}

async function launch(options: LaunchOptions, access: HostAccess, events: KernelEvents): Promise<RunningKernel> {
  const zeroMq = await loadZeroMq()
  const folder = await createKernelFolder()
  const token = randomBytes(32).toString("hex")
  const { promise: connected, resolve: onBridge } = Promise.withResolvers<KernelBridge>()
  let openBridge: KernelBridge | undefined
  let exitReason: string | undefined
  let launched: KernelProcess | undefined
  const kill = (reason: string) => {
    exitReason ??= reason
    launched?.kill()
  }
  const socket = join(folder, "host")
  const onProtocolViolation = (reason: string) => kill(`it sent ${reason} to its host`)
  const listener = await listenForKernel(socket, token, (link) => {
    openBridge = createKernelBridge(link, access, { ...events, onProtocolViolation }, folder)
    onBridge(openBridge)
  })
  const timer = setTimeout(kill, maxStartMs, "it took longer than a minute to start")
  try {
    const kernelProcess = await launchKernel(folder, socket, token, options)
    launched = kernelProcess
    const exited = kernelProcess.exited.then((reason) => {
      exitReason ??= reason
      listener.close()
      openBridge?.close(exitReason)
      return exitReason
    })
    const failedStart = exited.then((reason): never => {
      throw new AgentError(`The Python kernel did not start: ${reason}.`, { code: "kernel" })
    })
    // The races below handle the rejection.
    failedStart.catch(() => undefined)
    const bridge = await Promise.race([connected, failedStart])
    await Promise.race([bridge.ready, failedStart])
    const onFlood = () => kill("it sent too much over its Jupyter channels")
    const jupyter = await Promise.race([connectJupyter(kernelProcess, zeroMq, onFlood), failedStart])
    void exited.then(jupyter.close)
    return {
      pid: kernelProcess.pid,
      folder,
      jupyter,
      bridge,
      exited,
      get exitReason() {
        return exitReason
      },
      interrupt: kernelProcess.interrupt,
      kill,
      async end() {
        kill("it was closed")
        jupyter.close()
        await keepProgramAlive(kernelProcess.end())
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

/** The folder holds the sockets, the working folder and temporary files. Only this user can read it. */
async function createKernelFolder(): Promise<string> {
  // The path of a Unix socket has at most about a hundred characters.
  const parent = tmpdir().length > 60 ? "/tmp" : tmpdir()
  let folder: string | undefined
  try {
    folder = await mkdtemp(join(parent, "karst-"))
    for (const part of ["work", "tmp", "shm"]) await mkdir(join(folder, part))
    return folder
  } catch (error) {
    if (folder !== undefined) await removeFolder(folder)
    throw namedIfFull(error, folder ?? parent)
  }
}
