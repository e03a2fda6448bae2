import { fileURLToPath } from "node:url"
import { types } from "node:util"
import type { ActionError } from "../../core/event.ts"
import { inspectShort } from "../preview.ts"

/** What a program threw, as the model sees it: where in this cell's own text, and only the frames that say something. */
export function describeThrown(thrown: unknown, filename: string): ActionError & { stack?: string | undefined } {
  const message = thrownMessage(thrown)
  const frames = usefulFrames(stackOf(thrown))
  return {
    kind: "throw",
    message,
    ...positionIn(filename, thrown),
    ...(frames.length > 0 && { stack: trimFrames([message, ...frames].join("\n")) }),
  }
}

/** What nobody caught, as Node would print it. */
export function uncaughtText(thrown: unknown): string {
  const message = thrownMessage(thrown)
  const title = isError(thrown) ? `Uncaught ${message}` : message
  return trimFrames([title, ...usefulFrames(stackOf(thrown))].join("\n"))
}

/** Where in a cell an error was made or passed through. */
export function positionIn(filename: string, error: unknown): Position | undefined {
  for (const line of stackOf(error)) {
    const frame = cellFrame.exec(line)
    if (frame?.[1] === filename) return locators.get(filename)?.({ line: Number(frame[3]), column: Number(frame[4]) })
  }
  return undefined
}

/** Remembers of an error that came from where the stack says nothing of the cell which cell asked for it, and where. The
 *  error itself is its maker's, and stays as it is. */
export function throughCell(error: unknown, calledAt: Error): unknown {
  const frames = cellFrames(calledAt)
  if (isError(error) && frames.length > 0) askedBy.set(error, frames)
  return error
}

/** The frames of cells in the stack of an error. */
export function cellFrames(error: Error): string[] {
  return framesOf(error).filter((frame) => frame.includes(cellRoot))
}

/** Lets stacks that go through a cell show positions in its own text. Only the newest cells are remembered: of older
 *  ones a stack shows the line, which is right anyway, without the column, which is not. */
export function rememberCell(filename: string, locate: (at: Position) => Position): void {
  const oldest = remembered[nextPlace]
  if (oldest !== undefined) locators.delete(oldest)
  locators.set(filename, locate)
  remembered[nextPlace] = filename
  nextPlace = (nextPlace + 1) % maxRemembered
}

/** `Name: message`, with causes and parts where there are any; what is no error as the console would show it. */
export function thrownMessage(thrown: unknown): string {
  if (!isError(thrown)) return `Uncaught ${inspectShort(thrown)}`
  return errorLines(thrown, 0).join("\n").slice(0, longestMessage)
}

/** Text without the frames of Node and Karst, and with cells called as people know them. */
export function trimFrames(text: string): string {
  if (!text.includes(" at ") && !text.includes(cellRoot)) return text
  return text
    .split("\n")
    .filter((line) => !isInternal(line))
    .join("\n")
    .replaceAll(namelessFrames, "$1")
    .replaceAll(scopeFrames, "")
    .replaceAll(framesOfCells, (_, filename: string, name: string, line: string, column: string) => {
      const at = locators.get(filename)?.({ line: Number(line), column: Number(column) })
      return at ? `${name}:${at.line}:${at.column}` : `${name}:${line}`
    })
    .replaceAll(cellNames, "$1")
}

/** What the stack calls the nth cell of a runtime: unique in the process, while people only see `cell-n.ts`. */
export function cellFilename(runtime: number, cell: number): string {
  return `${cellRoot}${runtime}/cell-${cell}.ts`
}

interface Position {
  line: number
  column: number
}

const locators = new Map<string, (at: Position) => Position>()
// The names of the newest cells, in a circle.
const remembered: string[] = []
let nextPlace = 0
const askedBy = new WeakMap<Error, string[]>()
const maxRemembered = 64
const cellRoot = "karst:"
const framesOfCells = /(karst:\d+\/(cell-\d+\.ts)):(\d+):(\d+)/g
// What a cell evaluates itself comes from somewhere in the cell.
const cellNames = /karst:\d+\/(cell-\d+\.ts)/g
// What is a name to a cell is a property to the engine.
const scopeFrames = /(?<=\bat (?:async )?)\$\$scope\./g
// A function of a cell that has no name is called by how the cell was compiled, which says nothing.
const namelessFrames = /\beval \((karst:\d+\/cell-\d+\.ts:\d+:\d+)\)/g
const cellFrame = new RegExp(framesOfCells, "")
const frameStart = /^\s+at /
const ofNode = /node:internal\/|node:diagnostics_channel|at new Promise \(<anonymous>\)$/
const karstRoot = new URL("../../", import.meta.url)
// A frame names its file by a URL, and by a path where our modules are bundled.
const karstRoots = [karstRoot.href, fileURLToPath(karstRoot)]
const longestMessage = 10_000
const shownParts = ["0", "1", "2", "3", "4"]

function errorLines(error: unknown, depth: number): string[] {
  if (!isError(error)) return [inspectShort(error)]
  const errors = read(error, "errors")
  const parts: unknown[] = Array.isArray(errors) ? shownParts.map((key) => read(errors, key)) : []
  parts.push(read(error, "cause"))
  // A cause may lead back to itself.
  const below = depth < 4 ? parts.flatMap((part) => (part === undefined ? [] : errorLines(part, depth + 1))) : []
  return [
    `${nameOf(error)}: ${textOf(read(error, "message"))}`,
    ...below.map((line, at) => (at === 0 ? `  because of ${line}` : `  ${line}`)),
  ]
}

function isInternal(line: string): boolean {
  return frameStart.test(line) && (karstRoots.some((root) => line.includes(root)) || ofNode.test(line))
}

// Below the last frame of a cell are its callers, who do not concern it.
function usefulFrames(frames: string[]): string[] {
  const last = frames.findLastIndex((frame) => frame.includes(cellRoot))
  const above = last === -1 ? frames : frames.slice(0, last + 1)
  return above.filter((frame) => !isInternal(frame))
}

/** The frames of an error, and below them those of the cell that asked for what failed. */
function stackOf(thrown: unknown): string[] {
  const own = framesOf(thrown)
  const asked = (isError(thrown) && askedBy.get(thrown)) || []
  const [, cell] = cellFrame.exec(asked[0] ?? "") ?? []
  return cell !== undefined && own.some((frame) => frame.includes(cell)) ? own : [...own, ...asked]
}

function framesOf(thrown: unknown): string[] {
  const stack = isError(thrown) ? read(thrown, "stack") : undefined
  return typeof stack === "string" ? stack.split("\n").filter((line) => frameStart.test(line)) : []
}

function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error || types.isNativeError(thrown)
  } catch {
    return false
  }
}

// What a program throws is its own making: reading it may run code, and that code may throw.
function read(error: object, key: string): unknown {
  try {
    return Reflect.get(error, key)
  } catch {
    return undefined
  }
}

function textOf(message: unknown): string {
  return typeof message === "string" ? message : message === undefined ? "" : inspectShort(message)
}

function nameOf(error: Error): string {
  const name = read(error, "name")
  return typeof name === "string" && name !== "" ? name : "Error"
}
