// The console and the output streams of cells: they print for the running cell.
import { Console } from "node:console"
import { Writable } from "node:stream"
import { format } from "node:util"
import type { CellOutput } from "../../runtime.ts"
import { cleanStackText } from "../cell-errors.ts"
import { cellStorage, printForCell, type SharedCellState } from "../running-cell.ts"

/** A console that prints for the running cell, also from a closure of another cell. Groups end with the cell that
 *  opened them. */
export function createCellConsole(shared: SharedCellState): Console {
  const createSink = (stream: CellOutput["stream"]) => ({
    write: (text: string) => printForCell(shared, stream, indentLines(cleanStackText(text))),
  })
  // The console only calls `write`.
  const [stdout, stderr] = [createSink("stdout"), createSink("stderr")] as unknown as [Writable, Writable]
  const console = new Console({ stdout, stderr, ignoreErrors: false })
  const group = (...label: unknown[]) => {
    if (label.length > 0) console.log(...label)
    const cell = cellStorage.getStore()
    if (cell) cell.groupIndent += indentStep
  }
  return Object.assign(console, {
    group,
    groupCollapsed: group,
    groupEnd() {
      const cell = cellStorage.getStore()
      if (cell) cell.groupIndent = cell.groupIndent.slice(indentStep.length)
    },
    trace(...data: unknown[]) {
      const { stack = "" } = new Error()
      console.error(["Trace", format(...data)].filter(Boolean).join(": ") + stack.slice(stack.indexOf("\n")))
    },
  })
}

/** `process.stdout` and `process.stderr` of a cell. `end` and `destroy` leave them open. */
export function createCellStream(shared: SharedCellState, stream: CellOutput["stream"]): Writable {
  const writable = new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, done) {
      // Always call `done`: an error that stops one cell must not block the stream for the next.
      try {
        printForCell(shared, stream, String(chunk))
      } finally {
        done()
      }
    },
  })
  const ignoreDestroy = () => writable
  return Object.assign(writable, {
    isTTY: false,
    end(chunk?: unknown) {
      if (typeof chunk === "string" || chunk instanceof Uint8Array) writable.write(chunk)
      return writable
    },
    destroy: ignoreDestroy,
  })
}

const indentStep = "  "

function indentLines(text: string): string {
  const indent = cellStorage.getStore()?.groupIndent
  return indent ? text.replace(/^(?=.)/gm, indent) : text
}
