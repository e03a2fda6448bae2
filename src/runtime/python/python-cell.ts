import { AsyncLocalStorage } from "node:async_hooks"
import { thrownText } from "../../core/errors.ts"
import type { ActionErrorKind } from "../../core/event.ts"
import type { ImagePart } from "../../core/message.ts"
import { abortedCellMessage } from "../abort-message.ts"
import { startDeadline } from "../deadline.ts"
import type { Caller } from "../handles/caller.ts"
import { applyEnvUpdate, toRemoteEnv } from "../remote-env.ts"
import type { CellExecution, CellOptions, CellOutput, RuntimeLoss } from "../runtime.ts"
import { type CellReport, type CellReportError, PythonError } from "./cell-report.ts"
import { displayedData, findImage, type JupyterMessage } from "./kernel/jupyter-messages.ts"
import { keepProgramAlive } from "./kernel/keep-alive.ts"
import { watchResourceUse } from "./kernel/resource-watch.ts"
import type { RunningKernel } from "./kernel/running-kernel.ts"
import type { LateOutput } from "./late-output.ts"

/** The cell whose calls the host is making, also after awaits. */
export const currentCell = new AsyncLocalStorage<PythonCell>()

export interface CellLimits {
  memoryMb: number
  processes: number
  cpuMs?: number | undefined
  outputBytes: number
  graceMs: number
}

/** One execution, as everything that happens because of it sees it. */
export interface PythonCell {
  readonly runtime: object
  readonly number: number
  /** The cell as the caller of host functions. */
  readonly caller: Caller
  /** Whether it has its result. */
  readonly isOver: boolean
  write(chunk: CellOutput): void
  receiveReport(report: CellReport): void
  /** Takes the clock values that it read, and how it reached outside. */
  takeEnvUpdate(reads: readonly number[], effects: readonly string[]): void
  /** Remembers the error of a host function, and returns its number. */
  registerHostError(error: unknown): number
  /** Stops it: Ctrl-C, and the end of its kernel when that does not help. */
  stop(kind: StopKind, message: string, graceMs?: number): void
  run(code: string): Promise<CellExecution>
}

type StopKind = Extract<ActionErrorKind, "timeout" | "aborted" | "memory">

export interface CellSetup {
  runtime: object
  number: number
  kernel: RunningKernel
  limits: CellLimits
  options: CellOptions
  /** What was printed while no cell ran. */
  lateOutput: LateOutput
  /** What is gone when the kernel is. */
  forgetNames(reason: string): RuntimeLoss[]
  nameOf: Caller["nameOf"]
}

export function createPythonCell({
  runtime,
  number,
  kernel: live,
  limits,
  options,
  lateOutput: late,
  forgetNames: lost,
  nameOf,
}: CellSetup): PythonCell {
  const controller = new AbortController()
  const printed = { stdout: "", stderr: "", output: "" }
  let images: ImagePart[] = []
  const errors = new Map<number, unknown>()
  const calls = new Set<Promise<unknown>>()
  const { promise: reported, resolve: onReport } = Promise.withResolvers<CellReport>()
  let preview: string | undefined
  let stopped: { kind: StopKind; message: string } | undefined
  let escalation: NodeJS.Timeout | undefined
  let over = false
  // What it may still print and show.
  let room = limits.outputBytes
  let thrown = 0
  // The first callback that failed and that the host did not await.
  let failure: { error: unknown } | undefined
  const hints = new Set<string>()
  const outside = AsyncLocalStorage.snapshot()
  let inside: typeof outside | undefined

  const caller: Caller = {
    gate: options.call,
    nameOf,
    signal: controller.signal,
    throwIfStopped: () => controller.signal.throwIfAborted(),
    // As the code that asked for the cell, and within all that led there.
    runInContext(work) {
      inside ??= outside(() => currentCell.run(cell, () => AsyncLocalStorage.snapshot()))
      const result = inside(work)
      if (result instanceof Promise && !over) caller.waitFor(result)
      return result
    },
    waitFor(work) {
      calls.add(work)
      const leave = () => calls.delete(work)
      work.then(leave, leave)
    },
    fail(error) {
      if (over) late.add({ stream: "stderr", text: `${failureText(error)}\n` })
      failure ??= { error }
    },
    hint(text) {
      if (hints.size < maxHints) hints.add(text)
    },
  }

  const write = ({ stream, text: given }: CellOutput) => {
    const text = given.slice(0, Math.max(0, room))
    spend(given.length)
    if (text === "" || over) return
    printed[stream] += text
    printed.output += text
    options.output?.({ stream, text })
  }

  const show = (image: ImagePart) => {
    if (image.data.length <= room) images.push(image)
    spend(image.data.length)
  }

  const spend = (length: number) => {
    room -= length
    if (room < 0)
      stop("memory", `The cell was stopped: it printed and showed more than ${limits.outputBytes} characters.`)
  }

  const stop = (kind: StopKind, message: string, graceMs = limits.graceMs) => {
    if (stopped || over) return
    stopped = { kind, message }
    controller.abort(new Error(message))
    if (graceMs === 0) return live.kill("it was stopped")
    live.interrupt()
    // Once more, for a cell that had not quite begun, before its kernel is ended.
    escalation = setTimeout(() => {
      live.interrupt()
      escalation = setTimeout(() => live.kill("it did not stop when it was interrupted"), graceMs / 2)
    }, graceMs / 2)
  }

  // Code in the kernel may send messages of its own making.
  const onMessage = ({ type, content, omittedBytes: leftOut }: JupyterMessage) => {
    if (type === "stream" && typeof content.text === "string") {
      write({ stream: content.name === "stderr" ? "stderr" : "stdout", text: content.text })
    }
    if (type !== "display_data" && type !== "execute_result") return
    if (leftOut !== undefined) {
      write({ stream: "stderr", text: `What was shown here is too large: ${Math.round(leftOut / 2 ** 20)} MB.\n` })
    }
    const data = displayedData(content)
    const text = data["text/plain"]
    const image = findImage(data)
    if (image) show(image)
    if (type === "execute_result") preview = typeof text === "string" ? shortened(text) : undefined
    else if (!image && typeof text === "string") write({ stream: "stdout", text: `${text}\n` })
  }

  const begin = async (code: string) => {
    const { times = null, seed = null, tellsEffects: tells = false } = toRemoteEnv(options.env) ?? {}
    // The end of the kernel is reported otherwise.
    await live.bridge.announceCell(caller, { times, seed, tells }).catch((error) => ifAlive(error))
    await live.jupyter.execute(code, onMessage)
  }

  const ifAlive = async (error: unknown) => {
    if (live.exitReason === undefined) throw error
    await live.exited
  }

  const perform = async (code: string): Promise<CellReport | { death: string }> => {
    const died = live.exited.then((death) => ({ death }))
    let answered = false
    let waits = true
    const done = begin(code).then(async () => {
      answered = true
      void waitForLateMessages().then(() => waits && live.kill("it no longer told how its cells end"))
      const report = await reported
      waits = false
      if (!stopped) await waitForCalls(calls)
      return report
    })
    // Answer and report come together; a cell that did away with one of them has broken its kernel.
    void reported.then(waitForLateMessages).then(() => answered || live.kill("it no longer answered"))
    return Promise.race([done, died])
  }

  const result = (outcome: CellReport | { death: string }, startedAt: number): CellExecution => {
    const ran = { ...printed, durationMs: performance.now() - startedAt, ...(images.length > 0 && { images }) }
    if ("death" in outcome) {
      const gone = lost(stopped ? "the kernel had to be stopped" : `the kernel died: ${outcome.death}`)
      const message = `The Python kernel died: ${outcome.death}. It starts again with the next cell.`
      const error = stopped ?? { kind: "crash" as const, message }
      return { ok: false, error, ...ran, changes: noChanges(), ...(gone.length > 0 && { lost: gone }) }
    }
    const { changes, error, value } = outcome
    const told = [...outcome.hints, ...hints]
    const rest = { ...ran, changes, ...(told.length > 0 && { hints: told }) }
    if (stopped) return { ok: false, error: { ...stopped, ...lineOf(error) }, ...rest }
    if (error) {
      const { thrown, ...shown } = error
      const found = thrown === undefined ? undefined : errors.get(thrown)
      return { ok: false, error: shown, ...(found !== undefined && { thrown: found }), ...rest }
    }
    if (failure) {
      const { traceback: stack } = failure.error instanceof PythonError ? failure.error : {}
      const shown = { kind: "throw" as const, message: failureText(failure.error), ...(stack && { stack }) }
      return { ok: false, error: shown, thrown: failure.error, ...rest }
    }
    return { ok: true, value: value?.value, ...(preview !== undefined && { preview }), ...rest }
  }

  const cell: PythonCell = {
    runtime,
    number,
    caller,
    get isOver() {
      return over
    },
    write,
    receiveReport: onReport,
    takeEnvUpdate: (reads, effects) => applyEnvUpdate(options.env ?? {}, reads, effects),
    registerHostError(error) {
      errors.set(++thrown, error)
      // The last ones are enough: a cell may catch as many as it likes.
      errors.delete(thrown - maxErrors)
      return thrown
    },
    stop,
    async run(code) {
      const startedAt = performance.now()
      for (const chunk of late.drain()) write(chunk)
      const { signal, timeoutMs } = options
      const abort = () => stop("aborted", abortedCellMessage(signal?.reason))
      const expire = () => stop("timeout", `The cell was stopped: it ran longer than ${timeoutMs} ms.`)
      const deadline = timeoutMs === undefined ? undefined : startDeadline(timeoutMs, options.pauses, expire)
      signal?.addEventListener("abort", abort)
      const unwatch = watchResourceUse({ pid: live.pid, ...limits }, (kind, why) => {
        // Without grace for memory: it might take all there is in the meantime.
        stop(kind, `The cell was stopped: ${why}.`, kind === "memory" ? 0 : limits.graceMs)
      })
      try {
        return result(await keepProgramAlive(perform(code)), startedAt)
      } finally {
        over = true
        // Threads that the cell left behind may hold it for long.
        Object.assign(printed, { stdout: "", stderr: "", output: "" })
        images = []
        errors.clear()
        unwatch()
        deadline?.clear()
        clearTimeout(escalation)
        signal?.removeEventListener("abort", abort)
      }
    },
  }
  return cell
}

export function noChanges(): CellReport["changes"] {
  return { created: [], reassigned: [], removed: [] }
}

/** In two steps: a host that was busy all the time has not listened. */
async function waitForLateMessages(): Promise<void> {
  for (let step = 0; step < 2; step++) await new Promise((resolve) => setTimeout(resolve, 1000).unref())
}

async function waitForCalls(calls: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (calls.size > 0) await Promise.allSettled(calls)
}

function failureText(error: unknown): string {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : thrownText(error)
  return shortened(`${message} (in a callback that the host called and did not await)`)
}

function lineOf(error: CellReportError | undefined): { line?: number } {
  return error?.line === undefined ? {} : { line: error.line }
}

function shortened(text: string): string {
  return text.length > maxTextLength
    ? `${text.slice(0, maxTextLength)}… ${text.length - maxTextLength} more characters`
    : text
}

const maxTextLength = 100_000
const maxErrors = 100
const maxHints = 20
