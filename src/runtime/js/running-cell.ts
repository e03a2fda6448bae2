import { AsyncLocalStorage } from "node:async_hooks"
import { onAbort } from "../../core/abort.ts"
import type { ActionErrorKind } from "../../core/event.ts"
import { abortedCellMessage } from "../abort-message.ts"
import { type Deadline, monotonicNow, startDeadline } from "../deadline.ts"
import type { CallGate, CellOptions, CellOutput, PauseSignal, RuntimeCall } from "../runtime.ts"
import type { CellEnv } from "./ambient/cell-env.ts"

/** The cell that the code running now belongs to, also after awaits, in timers and in host functions it called. */
export const cellStorage = new AsyncLocalStorage<RunningCell>()

/** What is thrown inside a cell that must not go on. */
export class CellStopped extends Error {
  override name = "CellStopped"
  readonly kind: StopKind
  readonly #mark = true

  constructor(kind: StopKind, message: string) {
    super(message)
    this.kind = kind
  }

  /** Unlike `instanceof`, this runs nothing of what a program threw. */
  static is(thrown: unknown): thrown is CellStopped {
    return typeof thrown === "object" && thrown !== null && #mark in thrown
  }
}

export type StopKind = Extract<ActionErrorKind, "timeout" | "aborted" | "memory">

/** Turns values of the host into what cells may get, where they lead to guarded objects, and back. */
export interface GuardedValues {
  toCell(value: unknown): unknown
  toHost(value: unknown): unknown
}

/** What the cells of one runtime share. */
export interface SharedCellState {
  /** Cells under way, the newest last. */
  readonly cells: Set<RunningCell>
  /** The gate of the newest cell that had one, for calls that nobody can tell which cell they belong to. */
  gate: CallGate | undefined
  /** Whose gates there were, where there was one; with several such a call is refused. */
  owner?: object | "several" | undefined
  /** What was printed while no cell was under way; the next cell begins with it. */
  readonly lateOutput: CellOutput[]
  lateOutputLength: number
  /** The names of injected objects, as calls tell them. */
  pathOf?: RuntimeCall["nameOf"]
  /** Set once a runtime has guarded objects in this process. */
  guardedValues?: GuardedValues | undefined
  /** Goes up when the namespace is emptied or closed: code of cells from before must not go on. */
  epoch: number
  /** Told of each cell that was stopped, as parts of it may still be waiting somewhere. */
  onCellStopped(cell: RunningCell): void
  /** Told which function cells know a function binding by. */
  onFunctionBound?: ((call: object, cellFunction: object) => void) | undefined
  /** Replaces the promise that a cell gets for a call of a function binding. */
  wrapCallResult?: ((promise: Promise<unknown>, name: string) => Promise<unknown>) | undefined
}

/** One execution of a cell, as everything that runs because of it sees it. */
export class RunningCell {
  readonly shared: SharedCellState
  readonly parent: RunningCell | undefined
  readonly env: Partial<CellEnv>
  readonly gate: CallGate | undefined
  readonly owner: object
  readonly pauses: PauseSignal | undefined
  /** Whether it, or a cell it belongs to, has a deadline. */
  readonly hasDeadline: boolean
  /** Cells under way that this one started. */
  readonly children = new Set<RunningCell>()
  /** Calls of function bindings that have not settled. */
  readonly openCalls = new Set<Promise<unknown>>()
  /** Whether one of them failed. */
  hasFailedCall = false
  /** How often function bindings were called, where somebody wants to know. */
  callCounts: Map<string, number> | undefined
  /** Run when its code has ended and its calls have settled: what one of them throws fails the cell. */
  readonly endChecks: (() => void)[] = []
  /** Run when its code has ended, however it ended: they may add to `hints`. */
  readonly endReports: (() => void)[] = []
  /** Sentences for the result. */
  readonly hints: string[] = []
  stdout = ""
  stderr = ""
  output = ""
  /** What `console.group` puts before each line. */
  groupIndent = ""
  /** Whether its execution has a result; what still runs of it is a leftover. */
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
    this.gate = options.call ?? parent?.gate
    this.owner = options.owner ?? (options.call ? hostOwner : (parent?.owner ?? hostOwner))
    this.pauses = options.pauses ?? parent?.pauses
    this.hasDeadline = options.timeoutMs !== undefined || (parent?.hasDeadline ?? false)
    this.#options = options
    this.#epoch = shared.epoch
  }

  /** Takes part in the life of its runtime, its parent and its signal, until `end`. */
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

  /** Gives the execution its result at once; the code itself stops at its next guard. */
  stop(reason: CellStopped): void {
    if (this.stopped) return
    this.stopped = reason
    this.shared.onCellStopped(this)
    // Whoever still holds a function of this cell must not call on in its name.
    if (this.gate && this.shared.gate === this.gate && this.parent?.gate !== this.gate) {
      this.shared.gate = () => Promise.reject(reason)
    }
    for (const child of this.children) child.stop(new CellStopped("aborted", reason.message))
    this.#whenStopped?.(reason)
    this.#controller?.abort(reason)
  }

  /** Throws when the code of this cell must not go on. */
  throwIfStopped(): void {
    if (this.stopped) throw this.stopped
    if (this.#epoch !== this.shared.epoch) throw new CellStopped("aborted", "The runtime was reset or closed.")
  }

  /** The same for code that keeps the event loop, and so its timers, from running. */
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
    this.#options.output?.({ stream, text })
  }

  /** Takes note of a call of a function binding, for itself and the cells it belongs to. */
  countCall(name: string): void {
    this.callCounts?.set(name, (this.callCounts.get(name) ?? 0) + 1)
    this.parent?.countCall(name)
  }

  /** Whether it is a cell of that runtime, or was started by one: under way, or a leftover that a cell may wait for. */
  belongsToRuntime(shared: SharedCellState): boolean {
    return this.shared === shared || (this.parent?.belongsToRuntime(shared) ?? false)
  }

  // What leftovers printed while no cell was under way.
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

/** Prints for the cell that is running now; what a leftover of an ended cell prints goes to the cell under way, or waits
 *  for the next. */
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

/** Who a new cell belongs to: leftovers of a cell that has ended act for the one it belonged to itself. */
function nearestActiveCell(cell: RunningCell | undefined): RunningCell | undefined {
  return cell?.hasEnded && !cell.stopped ? nearestActiveCell(cell.parent) : cell
}

// Whose cells those are that the host runs without saying whose.
const hostOwner = {}

const maxOutputLength = 16_000_000
const maxLateOutputLength = 100_000
