// Errors of cells as the model sees them: message, position in the cell's source, and a stack without frames of
// the host.
import { types } from "node:util"
import { attempt } from "../../core/attempt.ts"
import type { ActionError } from "../../core/event.ts"
import type { Position } from "../compiler/text-positions.ts"
import { inspectShort } from "../preview.ts"
import { CellStopped, printForCell, type SharedCellState } from "./running-cell.ts"

/** Describes a thrown value: message, position in this cell, and the relevant frames. */
export function describeThrown(thrown: unknown, filename: string): ActionError & { stack?: string | undefined } {
  const message = formatThrown(thrown)
  const frames = usefulFrames(stackOf(thrown))
  return {
    kind: "throw",
    message,
    ...positionInCell(filename, thrown),
    ...(frames.length > 0 && { stack: cleanStackText([message, ...frames].join("\n")) }),
  }
}

/** An uncaught error as Node would print it. */
export function formatUncaught(thrown: unknown): string {
  const message = formatThrown(thrown)
  const title = isError(thrown) ? `Uncaught ${message}` : message
  return cleanStackText([title, ...usefulFrames(stackOf(thrown))].join("\n"))
}

/** Prints an uncaught error of a callback or promise of a cell, unless it only says that the cell was stopped. */
export function printUncaught(shared: SharedCellState, error: unknown): void {
  if (CellStopped.is(error)) return
  try {
    printForCell(shared, "stderr", `${formatUncaught(error)}\n`)
  } catch (stopped) {
    if (!CellStopped.is(stopped)) throw stopped
  }
}

/** The position in a cell where an error was created or passed through. */
export function positionInCell(filename: string, error: unknown): Position | undefined {
  for (const line of stackOf(error)) {
    const frame = cellFrame.exec(line)
    if (frame?.[1] === filename) return locators.get(filename)?.({ line: Number(frame[3]), column: Number(frame[4]) })
  }
  return undefined
}

/** Records which cell made the call that failed, for errors whose stack has no frame of it. The error itself stays
 *  unchanged. */
export function recordCallingCell(error: unknown, calledAt: Error): unknown {
  const frames = cellFrames(calledAt)
  if (isError(error) && frames.length > 0) callerFrames.set(error, frames)
  return error
}

export function cellFrames(error: Error): string[] {
  return framesOf(error).filter((frame) => frame.includes(cellFilePrefix))
}

/** Lets stacks show positions in a cell's source. Only the newest cells are stored: for older ones a stack shows the
 *  line, which is right anyway, without the column. */
export function registerCellLocator(filename: string, locate: (at: Position) => Position): void {
  const oldest = recentCells[nextRecentSlot]
  if (oldest !== undefined) locators.delete(oldest)
  locators.set(filename, locate)
  recentCells[nextRecentSlot] = filename
  nextRecentSlot = (nextRecentSlot + 1) % maxRecentCells
}

/** `Name: message`, with causes and sub-errors; a thrown value that is not an error as the console shows it. */
export function formatThrown(thrown: unknown): string {
  if (!isError(thrown)) return `Uncaught ${inspectShort(thrown)}`
  return errorLines(thrown, 0).join("\n").slice(0, maxMessageLength)
}

/** Removes frames of the host, and shows cells as `cell-n.ts` with positions in their source. */
export function cleanStackText(text: string): string {
  if (!text.includes(" at ") && !text.includes(cellFilePrefix)) return text
  return text
    .split("\n")
    .filter((line) => !isInternalFrame(line))
    .join("\n")
    .replaceAll(namelessFrames, "$1")
    .replaceAll(scopeFrames, "")
    .replaceAll(cellFramePositions, (_, filename: string, name: string, line: string, column: string) => {
      const at = locators.get(filename)?.({ line: Number(line), column: Number(column) })
      return at ? `${name}:${at.line}:${at.column}` : `${name}:${line}`
    })
    .replaceAll(cellNames, "$1")
}

/** The file name of a cell in stacks: unique in the process; people only see `cell-n.ts`. */
export function cellFilename(runtime: number, cell: number): string {
  return `${cellFilePrefix}${runtime}/cell-${cell}.ts`
}

const locators = new Map<string, (at: Position) => Position>()
// The newest cells, as a ring buffer.
const recentCells: string[] = []
let nextRecentSlot = 0
const callerFrames = new WeakMap<Error, string[]>()
const maxRecentCells = 64
const cellFilePrefix = "karst:"
const cellFramePositions = /(karst:\d+\/(cell-\d+\.ts)):(\d+):(\d+)/g
// Code that a cell evaluates has no position in the cell.
const cellNames = /karst:\d+\/(cell-\d+\.ts)/g
// Names of the cell are properties of `$$scope` for the engine.
const scopeFrames = /(?<=\bat (?:async )?)\$\$scope\./g
// The engine shows an unnamed function of a cell as `eval`.
const namelessFrames = /\beval \((karst:\d+\/cell-\d+\.ts:\d+:\d+)\)/g
const cellFrame = new RegExp(cellFramePositions, "")
const frameStart = /^\s+at /
const nodeFrame = /node:internal\/|node:diagnostics_channel|at new Promise \(<anonymous>\)$/
// A frame names its file by a URL or a path.
const hostFileFrame = /(?:\(|\bat (?:async )?)(?:file:\/\/|\/|[A-Za-z]:[\\/])/
const maxMessageLength = 10_000
const shownParts = ["0", "1", "2", "3", "4"]

function errorLines(error: unknown, depth: number): string[] {
  if (!isError(error)) return [inspectShort(error)]
  const errors = readSafely(error, "errors")
  const parts: unknown[] = Array.isArray(errors) ? shownParts.map((key) => readSafely(errors, key)) : []
  parts.push(readSafely(error, "cause"))
  // Limited, because causes may form a cycle.
  const nested = depth < 4 ? parts.flatMap((part) => (part === undefined ? [] : errorLines(part, depth + 1))) : []
  return [
    `${nameOf(error)}: ${textOf(readSafely(error, "message"))}`,
    ...nested.map((line, at) => (at === 0 ? `  because of ${line}` : `  ${line}`)),
  ]
}

// The model cannot use the frames of the host's files, of packages and of Karst.
function isInternalFrame(line: string): boolean {
  if (!frameStart.test(line) || line.includes(cellFilePrefix)) return false
  return hostFileFrame.test(line) || nodeFrame.test(line)
}

// Frames below the last one of a cell belong to the host that ran it.
function usefulFrames(frames: string[]): string[] {
  const last = frames.findLastIndex((frame) => frame.includes(cellFilePrefix))
  const above = last === -1 ? frames : frames.slice(0, last + 1)
  return above.filter((frame) => !isInternalFrame(frame))
}

/** The frames of an error, followed by those of the cell that made the failed call. */
function stackOf(thrown: unknown): string[] {
  const ownFrames = framesOf(thrown)
  const callers = (isError(thrown) && callerFrames.get(thrown)) || []
  const [, cell] = cellFrame.exec(callers[0] ?? "") ?? []
  return cell !== undefined && ownFrames.some((frame) => frame.includes(cell)) ? ownFrames : [...ownFrames, ...callers]
}

function framesOf(thrown: unknown): string[] {
  const stack = isError(thrown) ? readSafely(thrown, "stack") : undefined
  return typeof stack === "string" ? stack.split("\n").filter((line) => frameStart.test(line)) : []
}

function isError(thrown: unknown): thrown is Error {
  return attempt(() => thrown instanceof Error || types.isNativeError(thrown)) ?? false
}

// Reading a thrown value may run its code, which may throw.
function readSafely(error: object, key: string): unknown {
  return attempt(() => Reflect.get(error, key))
}

function textOf(message: unknown): string {
  return typeof message === "string" ? message : message === undefined ? "" : inspectShort(message)
}

function nameOf(error: Error): string {
  const name = readSafely(error, "name")
  return typeof name === "string" && name !== "" ? name : "Error"
}
