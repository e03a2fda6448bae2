import { AsyncLocalStorage } from "node:async_hooks"
import { thrownText } from "../../core/errors.ts"
import type { ActionErrorKind } from "../../core/event.ts"
import type { ImagePart } from "../../core/message.ts"
import { cellAborted } from "../abort-text.ts"
import { startDeadline } from "../deadline.ts"
import type { Caller } from "../handles/caller.ts"
import type { ExecuteOptions, Execution, Lost, OutputChunk } from "../runtime.ts"
import { sentEnv, takeEnvNews } from "../sent-env.ts"
import { displayedData, imageIn, type JupyterMessage } from "./jupyter.ts"
import { keepAlive } from "./keep-alive.ts"
import type { LateOutput } from "./late.ts"
import type { LiveKernel } from "./live.ts"
import { PythonError, type Report, type ReportedError } from "./told.ts"
import { watchUse } from "./watch.ts"

/** The cell whose calls the host is making, also after awaits. */
export const runningCell = new AsyncLocalStorage<PythonCell>()

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
  readonly over: boolean
  write(chunk: OutputChunk): void
  report(report: Report): void
  /** Takes the clock values that it read, and how it reached outside. */
  heard(reads: readonly number[], effects: readonly string[]): void
  /** Remembers the error of a host function, and returns its number. */
  thrown(error: unknown): number
  /** Stops it: Ctrl-C, and the end of its kernel when that does not help. */
  stop(kind: StopKind, message: string, graceMs?: number): void
  run(code: string): Promise<Execution>
}

type StopKind = Extract<ActionErrorKind, "timeout" | "aborted" | "memory">

export interface CellPlace {
  runtime: object
  number: number
  live: LiveKernel
  limits: CellLimits
  options: ExecuteOptions
  /** What was printed while no cell ran. */
  late: LateOutput
  /** What is gone when the kernel is. */
  lost(reason: string): Lost[]
  nameOf: Caller["nameOf"]
}

export function createCell({ runtime, number, live, limits, options, late, lost, nameOf }: CellPlace): PythonCell {
  const controller = new AbortController()
  const printed = { stdout: "", stderr: "", output: "" }
  let images: ImagePart[] = []
  const errors = new Map<number, unknown>()
  const calls = new Set<Promise<unknown>>()
  const { promise: reported, resolve: onReport } = Promise.withResolvers<Report>()
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
    check: () => controller.signal.throwIfAborted(),
    // As the code that asked for the cell, and within all that led there.
    within(work) {
      inside ??= outside(() => runningCell.run(cell, () => AsyncLocalStorage.snapshot()))
      const result = inside(work)
      if (result instanceof Promise && !over) caller.track(result)
      return result
    },
    track(work) {
      calls.add(work)
      const leave = () => calls.delete(work)
      work.then(leave, leave)
    },
    fail(error) {
      if (over) late.add({ stream: "stderr", text: `${failureText(error)}\n` })
      failure ??= { error }
    },
    hint(text) {
      if (hints.size < mostHints) hints.add(text)
    },
  }

  const write = ({ stream, text: given }: OutputChunk) => {
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
  const onMessage = ({ type, content, leftOut }: JupyterMessage) => {
    if (type === "stream" && typeof content.text === "string") {
      write({ stream: content.name === "stderr" ? "stderr" : "stdout", text: content.text })
    }
    if (type !== "display_data" && type !== "execute_result") return
    if (leftOut !== undefined) {
      write({ stream: "stderr", text: `What was shown here is too large: ${Math.round(leftOut / 2 ** 20)} MB.\n` })
    }
    const data = displayedData(content)
    const text = data["text/plain"]
    const image = imageIn(data)
    if (image) show(image)
    if (type === "execute_result") preview = typeof text === "string" ? shortened(text) : undefined
    else if (!image && typeof text === "string") write({ stream: "stdout", text: `${text}\n` })
  }

  const begin = async (code: string) => {
    const { times = null, seed = null, tellsEffects: tells = false } = sentEnv(options.env) ?? {}
    // The end of the kernel is reported otherwise.
    await live.bridge.begin(caller, { times, seed, tells }).catch((error) => ifAlive(error))
    await live.kernel.execute(code, onMessage)
  }

  const ifAlive = async (error: unknown) => {
    if (live.death === undefined) throw error
    await live.exited
  }

  const perform = async (code: string): Promise<Report | { death: string }> => {
    const died = live.exited.then((death) => ({ death }))
    let answered = false
    let waits = true
    const done = begin(code).then(async () => {
      answered = true
      void patience().then(() => waits && live.kill("it no longer told how its cells end"))
      const report = await reported
      waits = false
      if (!stopped) await settled(calls)
      return report
    })
    // Answer and report come together; a cell that did away with one of them has broken its kernel.
    void reported.then(patience).then(() => answered || live.kill("it no longer answered"))
    return Promise.race([done, died])
  }

  const result = (outcome: Report | { death: string }, startedAt: number): Execution => {
    const ran = { ...printed, durationMs: performance.now() - startedAt, ...(images.length > 0 && { images }) }
    if ("death" in outcome) {
      const gone = lost(stopped ? "the kernel had to be stopped" : `the kernel died: ${outcome.death}`)
      const message = `The Python kernel died: ${outcome.death}. It starts again with the next cell.`
      const error = stopped ?? { kind: "crash" as const, message }
      return { ok: false, error, ...ran, changes: unchanged(), ...(gone.length > 0 && { lost: gone }) }
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
    get over() {
      return over
    },
    write,
    report: onReport,
    heard: (reads, effects) => takeEnvNews(options.env ?? {}, reads, effects),
    thrown(error) {
      errors.set(++thrown, error)
      // The last ones are enough: a cell may catch as many as it likes.
      errors.delete(thrown - mostErrors)
      return thrown
    },
    stop,
    async run(code) {
      const startedAt = performance.now()
      for (const chunk of late.take()) write(chunk)
      const { signal, timeoutMs } = options
      const abort = () => stop("aborted", cellAborted(signal?.reason))
      const expire = () => stop("timeout", `The cell was stopped: it ran longer than ${timeoutMs} ms.`)
      const deadline = timeoutMs === undefined ? undefined : startDeadline(timeoutMs, options.pauses, expire)
      signal?.addEventListener("abort", abort)
      const unwatch = watchUse({ pid: live.pid, ...limits }, (kind, why) => {
        // Without grace for memory: it might take all there is in the meantime.
        stop(kind, `The cell was stopped: ${why}.`, kind === "memory" ? 0 : limits.graceMs)
      })
      try {
        return result(await keepAlive(perform(code)), startedAt)
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

export function unchanged(): Report["changes"] {
  return { created: [], reassigned: [], removed: [] }
}

/** In two steps: a host that was busy all the time has not listened. */
async function patience(): Promise<void> {
  for (let step = 0; step < 2; step++) await new Promise((resolve) => setTimeout(resolve, 1000).unref())
}

async function settled(calls: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (calls.size > 0) await Promise.allSettled(calls)
}

function failureText(error: unknown): string {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : thrownText(error)
  return shortened(`${message} (in a callback that the host called and did not await)`)
}

function lineOf(error: ReportedError | undefined): { line?: number } {
  return error?.line === undefined ? {} : { line: error.line }
}

function shortened(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}… ${text.length - longest} more characters` : text
}

const longest = 100_000
const mostErrors = 100
const mostHints = 20
