// The execution of one cell: its output, calls, deadline and abort signal, and the state that the cells of a runtime
// share.
import { AsyncLocalStorage } from "node:async_hooks"
import { onAbort } from "../../core/abort.ts"
import type { ActionErrorKind } from "../../core/event.ts"
import { abortedCellMessage } from "../abort-message.ts"
import { type Deadline, monotonicNow, startDeadline } from "../deadline.ts"
import type { CallGate, CellOptions, CellOutput, PauseSignal, RuntimeCall } from "../runtime.ts"
import type { CellEnv } from "./ambient/cell-env.ts"

/** The cell that the running code belongs to, also after awaits, in timers and in host functions that it called. */
export const cellStorage = new AsyncLocalStorage<RunningCell>()

/** Thrown inside a cell that must stop. */
export class CellStopped extends Error {
  override name = "CellStopped"
  readonly kind: StopKind
  readonly #mark = true

  constructor(kind: StopKind, message: string) {
    super(message)
    this.kind = kind
  }

  /** Unlike `instanceof`, this runs no code of the thrown value. */
  static is(thrown: unknown): thrown is CellStopped {
    return typeof thrown === "object" && thrown !== null && #mark in thrown
  }
}

export type StopKind = Extract<ActionErrorKind, "timeout" | "aborted" | "memory">

/** Converts values between host and cells if they lead to guarded objects. */
export interface GuardedValues {
  toCell(value: unknown): unknown
  toHost(value: unknown): unknown
}

/** State that the cells of one runtime share. */
export interface SharedCellState {
  /** Running cells, the newest last. */
  readonly cells: Set<RunningCell>
  /** The gate of the newest cell that had one, for calls outside of every cell. */
  gate: CallGate | undefined
  /** The owner of the gates so far; with several owners, a call outside of every cell is refused. */
  owner?: object | "several" | undefined
  /** Output that was printed while no cell ran; it is added to the next cell's output. */
  readonly lateOutput: CellOutput[]
  lateOutputLength: number
  /** The path of an injected object, for calls. */
  pathOf?: RuntimeCall["nameOf"]
  /** Set once the runtime has guarded objects in this process. */
  guardedValues?: GuardedValues | undefined
  /** Increases when the namespace is reset or closed: code of earlier cells must stop. */
  epoch: number
  /** Called for each stopped cell, parts of which may still wait somewhere. */
  onCellStopped(cell: RunningCell): void
  /** Called with the function that cells get for a function binding. */
  onFunctionBound?: ((call: object, cellFunction: object) => void) | undefined
  /** Replaces the promise that a cell gets for a call. */
  wrapCallResult?: ((promise: Promise<unknown>, name: string) => Promise<unknown>) | undefined
}

export function createSharedCellState(more: Partial<SharedCellState> = {}): SharedCellState {
  const cells = new Set<RunningCell>()
  return { cells, gate: undefined, lateOutput: [], lateOutputLength: 0, epoch: 0, onCellStopped() {}, ...more }
}

/** One execution of a cell. */
export class RunningCell {
  readonly shared: SharedCellState
  readonly parent: RunningCell | undefined
  readonly env: Partial<CellEnv>
  readonly gate: CallGate | undefined
  readonly owner: object
  readonly pauses: PauseSignal | undefined
  /** Whether the cell may end its run. */
  readonly allowsFinish: boolean
  readonly previewOptions: Pick<CellOptions, "maxPreviewChars" | "keepCutValue">
  /** Whether this cell or one of its parents has a deadline. */
  readonly hasDeadline: boolean
  /** Running cells that this one started. */
  readonly children = new Set<RunningCell>()
  /** Calls of bindings that have not settled. */
  readonly openCalls = new Set<Promise<unknown>>()
  /** Whether a call failed. */
  hasFailedCall = false
  /** How often each binding was called; only counted for transactions. */
  callCounts: Map<string, number> | undefined
  /** Run after the code has ended and its calls have settled. A check that throws fails the cell. */
  readonly endChecks: (() => void)[] = []
  /** Run after the code has ended or thrown. They may add `hints`. */
  readonly endReports: (() => void)[] = []
  /** Hints for the author of the cell. */
  readonly hints: string[] = []
  /** The text that the cell passed to `finish`. */
  finishText: string | undefined
  stdout = ""
  stderr = ""
  output = ""
  /** Indentation by `console.group`. */
  groupIndent = ""
  /** Whether the execution has its result. Code of the cell that still runs is a leftover. */
  hasEnded = false
  stopped: CellStopped | undefined
  readonly #options: CellOptions
  readonly #epoch: number
  #controller: AbortController | undefined
  #deadline: Deadline | undefined
  #unlisten: (() => void) | undefined
  #whenStopped: ((reason: CellStopped) => void) | undefined

  constructor(shared: SharedCellState, parent: RunningCell | undefined, options: CellOptions) {
    this.shared = shared
    this.parent = nearestActiveCell(parent)
    this.env = options.env ?? parent?.env ?? {}
    this.gate = options.callGate ?? parent?.gate
    this.owner = options.owner ?? (options.callGate ? hostOwner : (parent?.owner ?? hostOwner))
    this.pauses = options.subscribeToPauses ?? parent?.pauses
    this.allowsFinish = options.allowFinish ?? false
    this.previewOptions = options
    this.hasDeadline = options.timeoutMs !== undefined || (parent?.hasDeadline ?? false)
    this.#options = options
    this.#epoch = shared.epoch
  }

  /** Registers the cell with its runtime, its parent and its signal, until `end`. */
  begin(whenStopped: (reason: CellStopped) => void): void {
    if (this.shared.lateOutput.length > 0) this.#takeLate()
    this.#whenStopped = whenStopped
    if (this.gate) {
      this.shared.gate = this.gate
      this.shared.owner ??= this.owner
      if (this.shared.owner !== this.owner) this.shared.owner = "several"
    }
    this.shared.cells.add(this)
    this.parent?.children.add(this)
    const { signal, timeoutMs } = this.#options
    if (timeoutMs !== undefined) this.#deadline = startDeadline(timeoutMs, this.pauses, this.#expire)
    if (signal) this.#unlisten = onAbort(signal, this.#abort)
    if (this.#epoch !== this.shared.epoch) {
      this.stop(new CellStopped("aborted", "The cell was aborted: its runtime was closed."))
    }
    if (this.parent?.stopped) this.stop(new CellStopped("aborted", this.parent.stopped.message))
  }

  end(): void {
    this.hasEnded = true
    this.#whenStopped = undefined
    this.shared.cells.delete(this)
    this.parent?.children.delete(this)
    this.#unlisten?.()
    this.#deadline?.clear()
  }

  /** Fires when the cell is stopped. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.stopped) this.#controller.abort(this.stopped)
    return this.#controller.signal
  }

  /** Ends the execution at once; the code itself stops at its next guard. */
  stop(reason: CellStopped): void {
    if (this.stopped) return
    this.stopped = reason
    this.shared.onCellStopped(this)
    // Functions of this cell that the host still has must not call through its gate.
    if (this.gate && this.shared.gate === this.gate && this.parent?.gate !== this.gate) {
      this.shared.gate = () => Promise.reject(reason)
    }
    for (const child of this.children) child.stop(new CellStopped("aborted", reason.message))
    this.#whenStopped?.(reason)
    this.#controller?.abort(reason)
  }

  /** Throws if the cell was stopped, or its runtime was reset or closed. */
  throwIfStopped(): void {
    if (this.stopped) throw this.stopped
    if (this.#epoch !== this.shared.epoch) throw new CellStopped("aborted", "The runtime was reset or closed.")
  }

  /** Also checks the deadline, for code that blocks the event loop and so its timers. */
  throwIfStoppedOrLate(): void {
    if (!this.hasDeadline) return this.throwIfStopped()
    this.throwIfPastDeadline(monotonicNow())
  }

  throwIfPastDeadline(time: number): void {
    for (let cell: RunningCell | undefined = this; cell; cell = cell.parent) {
      if (cell.#deadline && time > cell.#deadline.at && !cell.hasEnded) cell.#expire()
    }
    this.throwIfStopped()
  }

  write(stream: CellOutput["stream"], text: string): void {
    if (text === "") return
    this.throwIfStopped()
    this[stream] += text
    this.output += text
    if (this.output.length > maxOutputLength) {
      this.stop(
        new CellStopped(
          "memory",
          `The cell was stopped: it printed more than ${maxOutputLength / 1e6} million characters.`,
        ),
      )
    }
    this.#options.onOutput?.({ stream, text })
  }

  /** Counts a call of a binding, for this cell and its parents. */
  countCall(name: string): void {
    this.callCounts?.set(name, (this.callCounts.get(name) ?? 0) + 1)
    this.parent?.countCall(name)
  }

  /** Returns true if this cell, or one of its parents, belongs to that runtime. */
  belongsToRuntime(shared: SharedCellState): boolean {
    return this.shared === shared || (this.parent?.belongsToRuntime(shared) ?? false)
  }

  #takeLate(): void {
    this.shared.lateOutputLength = 0
    for (const { stream, text } of this.shared.lateOutput.splice(0)) this.write(stream, text)
  }

  #expire = (): void => {
    this.stop(new CellStopped("timeout", `The cell was stopped: it ran longer than ${this.#options.timeoutMs} ms.`))
  }

  #abort = (): void => {
    this.stop(new CellStopped("aborted", abortedCellMessage(this.#options.signal?.reason)))
  }
}

/** Prints for the running cell. Output of a leftover of an ended cell goes to the newest running cell, or waits for the
 *  next one. */
export function printForCell(shared: SharedCellState, stream: CellOutput["stream"], text: string): void {
  const cell = cellStorage.getStore()
  if (cell && !cell.hasEnded) return cell.write(stream, text)
  cell?.throwIfStopped()
  const owner = cell?.shared ?? shared
  const newest = [...owner.cells].at(-1)
  if (newest) return newest.write(stream, text)
  if (owner.lateOutputLength > maxLateOutputLength) return
  owner.lateOutputLength += text.length
  owner.lateOutput.push({
    stream,
    text: owner.lateOutputLength > maxLateOutputLength ? `${text}[more was printed later, and is left out]\n` : text,
  })
}

/** The parent of a new cell: a leftover of an ended cell acts for that cell's parent. */
function nearestActiveCell(cell: RunningCell | undefined): RunningCell | undefined {
  return cell?.hasEnded && !cell.stopped ? nearestActiveCell(cell.parent) : cell
}

// The owner of cells that the host runs without an `owner`.
const hostOwner = {}

export const maxOutputLength = 16_000_000
const maxLateOutputLength = 100_000
