// Executes one Python cell: sends it to the kernel, collects its output, enforces its limits, and builds its result.
import { AsyncLocalStorage } from "node:async_hooks"
import type { ImagePart } from "../../core/message.ts"
import { timerMs } from "../../core/time-limit.ts"
import { abortedCellMessage } from "../abort-message.ts"
import { startDeadline } from "../deadline.ts"
import type { Caller } from "../handles/caller.ts"
import type { StopKind } from "../js/running-cell.ts"
import { applyEnvUpdate, toRemoteEnv } from "../remote-env.ts"
import type { CellExecution, CellOptions, CellOutput, RuntimeLoss } from "../runtime.ts"
import { type CellReport, type CellReportError, PythonError } from "./cell-report.ts"
import { failureText, shortened } from "./cell-texts.ts"
import { displayedData, findImage, type JupyterMessage } from "./kernel/jupyter-messages.ts"
import { keepProgramAlive } from "./kernel/keep-alive.ts"
import { watchResourceUse } from "./kernel/resource-watch.ts"
import type { RunningKernel } from "./kernel/running-kernel.ts"
import type { LateOutput } from "./late-output.ts"

/** The cell on whose behalf the host code runs, also after awaits. */
export const currentCell = new AsyncLocalStorage<PythonCell>()

export interface CellLimits {
  memoryMb: number
  processes: number
  cpuMs?: number | undefined
  /** Counted in characters; images in base64 characters. */
  outputBytes: number
  graceMs: number
}

export interface PythonCell {
  /** The supervisor that runs the cell; only compared. */
  readonly owner: object
  readonly number: number
  /** The cell as the caller of host functions. */
  readonly caller: Caller
  /** True when the cell has its result. */
  readonly isOver: boolean
  write(chunk: CellOutput): void
  receiveReport(report: CellReport): void
  /** Records the clock values that the cell read, and its effects outside the kernel. */
  recordEnvUpdate(reads: readonly number[], effects: readonly string[]): void
  /** Stores an error that a host function threw, and returns its number. */
  registerHostError(error: unknown): number
  /** Interrupts the cell (Ctrl-C). If it does not stop in `graceMs`, ends the kernel. */
  stop(kind: StopKind, message: string, graceMs?: number): void
  run(code: string): Promise<CellExecution>
}

export interface CellSetup {
  owner: PythonCell["owner"]
  number: number
  kernel: RunningKernel
  limits: CellLimits
  options: CellOptions
  /** Output printed while no cell ran. */
  lateOutput: LateOutput
  /** Forgets the names of a kernel that has ended, and returns the lost ones. */
  forgetNames(reason: string): RuntimeLoss[]
  nameOf: Caller["nameOf"]
  /** The name under which the value is kept if it is shown in part. */
  keepName?: string | undefined
}

export function createPythonCell(setup: CellSetup): PythonCell {
  const { owner, number, kernel, limits, options, lateOutput, forgetNames, nameOf, keepName } = setup
  const controller = new AbortController()
  const printed = { stdout: "", stderr: "", output: "" }
  let images: ImagePart[] = []
  const hostErrors = new Map<number, unknown>()
  const calls = new Set<Promise<unknown>>()
  const { promise: reportReceived, resolve: onReport } = Promise.withResolvers<CellReport>()
  let preview: string | undefined
  let stopped: { kind: StopKind; message: string } | undefined
  let escalation: NodeJS.Timeout | undefined
  let isOver = false
  // How many characters the cell may still print and show.
  let outputLeft = limits.outputBytes
  let errorCount = 0
  // The first failure of a callback that the host did not await.
  let unawaitedFailure: { error: unknown } | undefined
  const hints = new Set<string>()
  const startContext = AsyncLocalStorage.snapshot()
  let cellContext: typeof startContext | undefined

  const caller: Caller = {
    gate: options.callGate,
    nameOf,
    signal: controller.signal,
    throwIfStopped: () => controller.signal.throwIfAborted(),
    // Runs in the async context of the code that started the cell, with this cell as the current one.
    runInContext(work) {
      cellContext ??= startContext(() => currentCell.run(cell, () => AsyncLocalStorage.snapshot()))
      const result = cellContext(work)
      if (result instanceof Promise && !isOver) caller.waitFor(result)
      return result
    },
    waitFor(work) {
      calls.add(work)
      const leave = () => calls.delete(work)
      work.then(leave, leave)
    },
    fail(error) {
      if (isOver) lateOutput.add({ stream: "stderr", text: `${failureText(error)}\n` })
      unawaitedFailure ??= { error }
    },
    hint(text) {
      if (hints.size < maxHints) hints.add(text)
    },
  }

  const write = ({ stream, text: all }: CellOutput) => {
    const text = all.slice(0, Math.max(0, outputLeft))
    useOutput(all.length)
    if (text === "" || isOver) return
    printed[stream] += text
    printed.output += text
    options.onOutput?.({ stream, text })
  }

  const show = (image: ImagePart) => {
    if (image.data.length <= outputLeft) images.push(image)
    useOutput(image.data.length)
  }

  const useOutput = (length: number) => {
    outputLeft -= length
    if (outputLeft < 0)
      stop("memory", `The cell was stopped: it printed and showed more than ${limits.outputBytes} characters.`)
  }

  const stop = (kind: StopKind, message: string, graceMs = limits.graceMs) => {
    if (stopped || isOver) return
    stopped = { kind, message }
    controller.abort(new Error(message))
    if (graceMs === 0) return kernel.kill("it was stopped")
    kernel.interrupt()
    // Interrupt once more, in case the cell had not started yet, then end the kernel.
    const end = () => kernel.kill("it did not stop when it was interrupted")
    const interruptAgain = () => {
      kernel.interrupt()
      escalation = setTimeout(end, timerMs(graceMs / 2))
    }
    escalation = setTimeout(interruptAgain, timerMs(graceMs / 2))
  }

  // Cells can forge these messages, so their content is checked.
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
    const { times = null, seed = null, reportsEffects = false } = toRemoteEnv(options.env) ?? {}
    // If the kernel dies, the race in `perform` reports it.
    const { maxPreviewChars = null, allowFinish = false } = options
    const shown = { show: maxPreviewChars, keep: keepName ?? null, finish: allowFinish }
    await kernel.bridge.announceCell(caller, { times, seed, tells: reportsEffects }, shown).catch(rethrowUnlessDead)
    await kernel.jupyter.execute(code, onMessage)
  }

  const rethrowUnlessDead = async (error: unknown) => {
    if (kernel.exitReason === undefined) throw error
    await kernel.exited
  }

  const perform = async (code: string): Promise<CellReport | { death: string }> => {
    const died = kernel.exited.then((death) => ({ death }))
    let hasReply = false
    let isWaitingForReport = true
    const done = begin(code).then(async () => {
      hasReply = true
      void waitGracePeriod().then(() => isWaitingForReport && kernel.kill("it no longer reported the end of its cells"))
      const report = await reportReceived
      isWaitingForReport = false
      if (!stopped) await waitForCalls(calls)
      return report
    })
    // Jupyter's reply and the report come together. If one is missing, the cell has broken its kernel.
    void reportReceived.then(waitGracePeriod).then(() => hasReply || kernel.kill("it no longer answered"))
    return Promise.race([done, died])
  }

  const createExecution = (outcome: CellReport | { death: string }, startedAt: number): CellExecution => {
    const common = { ...printed, durationMs: performance.now() - startedAt, ...(images.length > 0 && { images }) }
    if ("death" in outcome) {
      const lostNames = forgetNames(stopped ? "the kernel had to be stopped" : `the kernel died: ${outcome.death}`)
      const message = `The Python kernel died: ${outcome.death}. It starts again with the next cell.`
      const error = stopped ?? { kind: "crash" as const, message }
      return { ok: false, error, ...common, changes: noChanges(), ...(lostNames.length > 0 && { lost: lostNames }) }
    }
    const { changes, types, error, value, isCut, kept } = outcome
    const allHints = [...outcome.hints, ...hints]
    const rest = { ...common, changes, types, ...(allHints.length > 0 && { hints: allHints }) }
    if (stopped) return { ok: false, error: { ...stopped, ...lineOf(error) }, ...rest }
    if (error) {
      const { thrown, ...shownError } = error
      const hostError = thrown === undefined ? undefined : hostErrors.get(thrown)
      return { ok: false, error: shownError, ...(hostError !== undefined && { thrown: hostError }), ...rest }
    }
    if (unawaitedFailure) {
      const { error: thrown } = unawaitedFailure
      const { traceback: stack } = thrown instanceof PythonError ? thrown : {}
      const shownError = { kind: "throw" as const, message: failureText(thrown), ...(stack && { stack }) }
      return { ok: false, error: shownError, thrown, ...rest }
    }
    // A forged report may name any variable.
    const keptName = kept !== undefined && kept === keepName ? { kept } : {}
    const shown =
      preview === undefined
        ? outcome.endsInUndefined && { endsInUndefined: true }
        : { preview, ...(isCut && { truncated: true, ...keptName }) }
    const { finishText } = outcome
    const finished = options.allowFinish && finishText !== undefined ? { finishText } : {}
    return { ok: true, value: value?.value, ...shown, ...finished, ...rest }
  }

  const cell: PythonCell = {
    owner,
    number,
    caller,
    get isOver() {
      return isOver
    },
    write,
    receiveReport: onReport,
    recordEnvUpdate: (reads, effects) => applyEnvUpdate(options.env ?? {}, reads, effects),
    registerHostError(error) {
      hostErrors.set(++errorCount, error)
      // Keep only the last ones: a cell may catch any number of errors.
      hostErrors.delete(errorCount - maxErrors)
      return errorCount
    },
    stop,
    async run(code) {
      const startedAt = performance.now()
      for (const chunk of lateOutput.drain()) write(chunk)
      const { signal, timeoutMs } = options
      const abort = () => stop("aborted", abortedCellMessage(signal?.reason))
      const onTimeout = () => stop("timeout", `The cell was stopped: it ran longer than ${timeoutMs} ms.`)
      const deadline =
        timeoutMs === undefined ? undefined : startDeadline(timeoutMs, options.subscribeToPauses, onTimeout)
      signal?.addEventListener("abort", abort)
      const unwatch = watchResourceUse({ pid: kernel.pid, ...limits }, (kind, why) => {
        // No grace period for memory: the cell could use up all of it in the meantime.
        stop(kind, `The cell was stopped: ${why}.`, kind === "memory" ? 0 : limits.graceMs)
      })
      try {
        return createExecution(await keepProgramAlive(perform(code)), startedAt)
      } finally {
        isOver = true
        // Free the memory: threads of the cell may hold references to it for a long time.
        Object.assign(printed, { stdout: "", stderr: "", output: "" })
        images = []
        hostErrors.clear()
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

/** Waits two seconds for a missing message. In two steps, so that a busy host reads its messages in between. */
async function waitGracePeriod(): Promise<void> {
  for (let step = 0; step < 2; step++) await new Promise((resolve) => setTimeout(resolve, 1000).unref())
}

async function waitForCalls(calls: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (calls.size > 0) await Promise.allSettled(calls)
}

function lineOf(error: CellReportError | undefined): { line?: number } {
  return error?.line === undefined ? {} : { line: error.line }
}

const maxErrors = 100
const maxHints = 20
