// The limits of a process runtime and the watcher that measures memory and processor time.
import { mustBe, mustBeLimit } from "../../core/checks/check-options.ts"
import { processTree } from "../../core/child/process-tree.ts"
import { cpuMsOf, findExcess, megabyte } from "../../core/child/process-usage.ts"
import { maxOutputLength } from "../js/running-cell.ts"

export interface ProcessLimits {
  /** JavaScript heap of the child. Default 512 MiB. */
  heapBytes?: number | undefined
  /** All memory of the child and its children, buffers and files in memory included. Default 1 GiB. */
  memoryBytes?: number | undefined
  /** How much cells may write. With isolation `os`, the limit of a temporary working directory, which is in memory;
   *  otherwise the limit of each file. Default 512 MiB. */
  diskBytes?: number | undefined
  /** Processor time of one cell. Default: none. */
  cpuMs?: number | undefined
  /** How much one cell may print. Default and maximum 16,000,000. */
  outputBytes?: number | undefined
  /** The maximum size of one message from child to host, from 100,000. Default 256 MiB. */
  messageBytes?: number | undefined
  /** How many host objects a child may hold at once. Default 10,000. */
  handles?: number | undefined
}

export interface ResolvedLimits {
  heapMb: number
  memoryMb: number
  diskMb: number
  cpuMs: number
  outputBytes: number
  messageBytes: number
  handles: number
}

/** The limits that may be any whole number from 1, or Infinity. */
export const processLimitNames = ["heapBytes", "memoryBytes", "diskBytes", "cpuMs", "handles"] as const

const isOutputLimit = (value: unknown) =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) <= maxOutputLength

export const processLimitChecks = {
  outputBytes: mustBe(isOutputLimit, `a whole number from 1 to ${maxOutputLength}`),
  // The messages that start a child and its printed output, in pieces, must be shorter than this.
  messageBytes: mustBeLimit(100_000),
}

export function resolveLimits(limits: ProcessLimits = {}): ResolvedLimits {
  const { heapBytes = 512 * megabyte, memoryBytes = 1024 * megabyte, diskBytes = 512 * megabyte } = limits
  const { cpuMs = Infinity, outputBytes = maxOutputLength, messageBytes = 256 * megabyte, handles = 10_000 } = limits
  return {
    heapMb: wholeMegabytes(heapBytes),
    memoryMb: wholeMegabytes(memoryBytes),
    diskMb: wholeMegabytes(diskBytes),
    cpuMs,
    outputBytes,
    // The head of a message has 32 bits for its length.
    messageBytes: Math.min(messageBytes, 2 ** 32 - 1),
    handles,
  }
}

/** Replaces Infinity, which Node's flags and the shell do not accept. */
function wholeMegabytes(bytes: number): number {
  return Math.min(Math.ceil(bytes / megabyte), 2 ** 24)
}

/** Measures the memory and processor time of a process and its descendants. Without `/proc` nothing is measured, and
 *  only the heap limit applies. */
export function watchUsage(
  pid: number,
  bounds: ResolvedLimits,
  onExceeded: (kind: "memory" | "timeout", why: string) => void,
) {
  let cpuMsAtStart = 0
  let isBusy = true
  let everyMs = 0
  let timer: NodeJS.Timeout | undefined

  const measure = () => {
    const excess = findExcess(processTree(pid, maxProcesses), { ...bounds, cpuMsAtStart })
    if (excess?.kind === "memory") onExceeded("memory", `it used more than ${bounds.memoryMb} MB of memory`)
    if (excess?.kind === "cpu") onExceeded("timeout", `it used more than ${bounds.cpuMs} ms of processor time`)
    if (!isBusy) measureEvery(idleMs)
  }
  const measureEvery = (ms: number) => {
    if (ms === everyMs) return
    everyMs = ms
    clearInterval(timer)
    timer = setInterval(measure, ms).unref()
  }
  measureEvery(busyMs)

  return {
    /** Restarts the measurement of processor time. */
    startCell(): void {
      if (Number.isFinite(bounds.cpuMs)) cpuMsAtStart = cpuMsOf(processTree(pid, maxProcesses))
    },
    /** Usage is measured often while a cell is running, and seldom otherwise. */
    setBusy(busy: boolean): void {
      isBusy = busy
      // The next measurement slows the timer down, so that a cell that follows immediately sets no new timer.
      if (busy) measureEvery(busyMs)
    },
    stop: (): void => clearInterval(timer),
  }
}

const busyMs = 50
const idleMs = 1_000
// Measuring more processes would take too long.
const maxProcesses = 1_000
