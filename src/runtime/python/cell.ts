import { AsyncLocalStorage } from "node:async_hooks"
import type { ActionErrorKind } from "../../core/event.ts"
import type { Json } from "../../core/json.ts"
import type { ImagePart } from "../../core/message.ts"
import type { CallGate, ExecuteOptions, Execution, Lost, OutputChunk } from "../runtime.ts"
import type { Report, ReportedError } from "./bridge.ts"
import type { JupyterMessage } from "./jupyter.ts"
import type { LiveKernel } from "./live.ts"
import { watchUse } from "./watch.ts"

/** The cell whose calls the host is making, also after awaits. */
export const runningCell = new AsyncLocalStorage<PythonCell>()

export interface CellLimits {
  memoryMb: number
  cpuMs?: number | undefined
  outputBytes: number
  graceMs: number
}

/** One execution, as everything that happens because of it sees it. */
export interface PythonCell {
  readonly runtime: object
  readonly number: number
  readonly gate: CallGate | undefined
  readonly signal: AbortSignal
  /** Whether it has its result. */
  readonly over: boolean
  write(chunk: OutputChunk): void
  report(report: Report): void
  /** Remembers what a function of the host threw, and gives its number. */
  thrown(error: unknown): number
  /** Counts a call among those the cell waits for at its end. */
  track(call: Promise<unknown>): void
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
  late: OutputChunk[]
  /** What is gone when the kernel is. */
  lost(reason: string): Lost[]
}

export function createCell({ runtime, number, live, limits, options, late, lost }: CellPlace): PythonCell {
  const controller = new AbortController()
  const printed = { stdout: "", stderr: "", output: "" }
  const images: ImagePart[] = []
  const errors: unknown[] = []
  const calls = new Set<Promise<unknown>>()
  const { promise: reported, resolve: onReport } = Promise.withResolvers<Report>()
  let preview: string | undefined
  let stopped: { kind: StopKind; message: string } | undefined
  let escalation: NodeJS.Timeout | undefined
  let over = false

  const write = ({ stream, text }: OutputChunk) => {
    if (text === "" || over || printed.output.length > limits.outputBytes) return
    printed[stream] += text
    printed.output += text
    options.output?.({ stream, text })
    if (printed.output.length > limits.outputBytes) {
      stop("memory", `The cell was stopped: it printed more than ${limits.outputBytes} characters.`)
    }
  }

  const stop = (kind: StopKind, message: string, graceMs = limits.graceMs) => {
    if (stopped || over) return
    stopped = { kind, message }
    controller.abort(new Error(message))
    live.interrupt()
    // Once more, for a cell that had not quite begun, before its kernel is ended.
    escalation = setTimeout(() => {
      live.interrupt()
      escalation = setTimeout(() => live.kill("it did not stop when it was interrupted"), graceMs / 2)
    }, graceMs / 2)
  }

  const onMessage = ({ type, content }: JupyterMessage) => {
    if (type === "stream")
      write({ stream: content.name === "stderr" ? "stderr" : "stdout", text: String(content.text) })
    if (type !== "display_data" && type !== "execute_result") return
    const data = dataOf(content)
    const text = data["text/plain"]
    const image = imageOf(data)
    if (image) images.push(image)
    if (type === "execute_result") preview = typeof text === "string" ? shortened(text) : undefined
    else if (!image && typeof text === "string") write({ stream: "stdout", text: `${text}\n` })
  }

  const perform = async (code: string): Promise<Report | { death: string }> => {
    const died = live.exited.then((death) => ({ death }))
    const done = live.kernel.execute(code, onMessage).then(async () => {
      const report = await Promise.race([reported, silence()])
      if (!stopped) await settled(calls)
      return report
    })
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
    if (stopped) return { ok: false, error: { ...stopped, ...lineOf(error) }, ...ran, changes }
    if (!error) return { ok: true, value: value?.value, ...(preview !== undefined && { preview }), ...ran, changes }
    const { thrown, ...shown } = error
    const found = thrown === undefined ? undefined : errors[thrown]
    return { ok: false, error: shown, ...(found !== undefined && { thrown: found }), ...ran, changes }
  }

  return {
    runtime,
    number,
    gate: options.call,
    signal: controller.signal,
    get over() {
      return over
    },
    write,
    report: onReport,
    thrown: (error) => errors.push(error) - 1,
    track(call) {
      calls.add(call)
      const leave = () => calls.delete(call)
      call.then(leave, leave)
    },
    stop,
    async run(code) {
      const startedAt = performance.now()
      for (const chunk of late.splice(0)) write(chunk)
      const { signal, timeoutMs } = options
      const abort = () => stop("aborted", `The cell was aborted${why(signal?.reason)}.`)
      const expire = () => stop("timeout", `The cell was stopped: it ran longer than ${timeoutMs} ms.`)
      // Node fires a timer at once that is longer than this.
      const timer = timeoutMs === undefined ? undefined : setTimeout(expire, Math.min(timeoutMs, 2 ** 31 - 1))
      signal?.addEventListener("abort", abort)
      const unwatch = watchUse(
        { pid: live.pid, memoryMb: limits.memoryMb, cpuMs: limits.cpuMs },
        // Without grace: it might take all there is in the meantime.
        (mb) =>
          stop("memory", `The cell was stopped: its kernel took ${mb} MB, and may take ${limits.memoryMb} MB.`, 0),
        (ms) => stop("timeout", `The cell was stopped: it used more than ${ms} ms of processor time.`),
      )
      try {
        return result(await perform(code), startedAt)
      } finally {
        over = true
        unwatch()
        clearTimeout(timer)
        clearTimeout(escalation)
        signal?.removeEventListener("abort", abort)
      }
    },
  }
}

export function unchanged(): Report["changes"] {
  return { created: [], reassigned: [], removed: [] }
}

// A cell may have done away with what makes the report; it must not hang for that.
async function silence(): Promise<Report> {
  await new Promise((resolve) => setTimeout(resolve, 2000).unref())
  return { changes: unchanged() }
}

async function settled(calls: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (calls.size > 0) await Promise.allSettled(calls)
}

// Code in the kernel may send messages of its own making.
function dataOf({ data }: JupyterMessage["content"]): { [key: string]: Json } {
  return typeof data === "object" && data !== null && !Array.isArray(data) ? data : {}
}

function imageOf(data: { [key: string]: Json }): ImagePart | undefined {
  for (const mediaType of ["image/png", "image/jpeg"]) {
    const found = data[mediaType]
    if (typeof found === "string") return { type: "image", mediaType, data: found.replaceAll("\n", "") }
  }
  return undefined
}

function lineOf(error: ReportedError | undefined): { line?: number } {
  return error?.line === undefined ? {} : { line: error.line }
}

function why(reason: unknown): string {
  return reason instanceof Error && reason.name !== "AbortError" ? `: ${reason.message}` : ""
}

function shortened(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}… ${text.length - longest} more characters` : text
}

const longest = 100_000
