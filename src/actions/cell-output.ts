// Turns the output of a cell into the text that the model sees, stores what is too long to show, and drops what was
// stored long ago.
import type { ActionError } from "../core/event.ts"
import { wellFormed } from "../core/message.ts"
import { hideHostPaths } from "../core/text/host-paths.ts"
import { taggedText } from "../core/text/tagged-text.ts"
import { keepValue } from "../memory/kept-values.ts"
import type { CellExecuted, CellExecution, Runtime } from "../runtime/runtime.ts"
import { cellNote } from "./cell-note.ts"
import { headAndTail, tryToKeep } from "./head-and-tail.ts"

export interface OutputServices {
  runtime: Runtime
  maxOutputChars: number
  /** Names that stored output must not get. */
  reservedNames: ReadonlySet<string>
  /** The names of output of earlier cells that is still stored and may be dropped, the oldest first. */
  keptNames(): readonly string[]
}

export interface ShapedOutput {
  text: string
  /** The name of the text that is too long to show. */
  kept?: string | undefined
  /** The name of the value that is shown in part. */
  keptValue?: string | undefined
  /** The names of stored output of earlier cells that is no longer stored. */
  dropped: readonly string[]
}

/** How much stored output of cells a runtime has at most. */
const maxKept = 8

export async function shapeOutput(
  code: string,
  execution: CellExecution,
  services: OutputServices,
): Promise<ShapedOutput> {
  const shaped = execution.ok
    ? await shapeSuccess(code, execution, services)
    : await shapeFailure(code, execution, execution.error, services)
  const added = [shaped.kept, shaped.keptValue].filter((name) => name !== undefined)
  const dropped = added.length > 0 ? await dropOldest(added, services) : []
  if (dropped.length === 0) return { ...shaped, dropped }
  const note = `Dropped: ${dropped.join(", ")}. Only the last ${maxKept} stored outputs stay.`
  return { ...shaped, dropped, text: `${shaped.text}\n${taggedText("output", note)}` }
}

type Shaped = Omit<ShapedOutput, "dropped">

async function shapeSuccess(code: string, execution: CellExecuted, services: OutputServices): Promise<Shaped> {
  const value = await shapeValue(code, execution, services)
  const { maxOutputChars } = services
  const room = Math.max(maxOutputChars - value.text.length, Math.floor(maxOutputChars / 2))
  const printed = await fitToLimit(printedText(execution), room, services)
  const shown = [printed.text, value.text].filter(Boolean)
  const note = cellNote(execution, shown.length > 0, services.runtime.language)
  const text = [...shown, note].filter(Boolean).join("\n")
  return { text: taggedText("output", text), kept: printed.kept, keptValue: value.kept }
}

async function shapeFailure(
  code: string,
  execution: CellExecution,
  failure: ShownError,
  services: OutputServices,
): Promise<Shaped> {
  const { runtime, maxOutputChars } = services
  const printed = await fitToLimit(printedText(execution), maxOutputChars, services)
  const folders = [...(runtime.writableFolders?.() ?? []), process.cwd()]
  const message = hideHostPaths(errorText(failure), { folders, except: code })
  const error = await fitToLimit(message, maxOutputChars, services)
  const note = cellNote(execution, printed.text !== "", runtime.language)
  const output = [printed.text, note].filter(Boolean).join("\n")
  const text = [output && taggedText("output", output), taggedText("error", error.text)]
  return { text: text.filter(Boolean).join("\n"), kept: printed.kept ?? error.kept }
}

interface Fitted {
  text: string
  kept?: string | undefined
}

/** The value with a note where the whole of it is. A value that has a name is not stored under another. */
async function shapeValue(code: string, execution: CellExecuted, services: OutputServices): Promise<Fitted> {
  const { preview, truncated, value } = execution
  if (preview === undefined) return { text: "" }
  const shown = wellFormed(preview)
  const { maxOutputChars } = services
  // The runtime's printer keeps to the limit, apart from a little; the text of a value's own may be longer.
  const isTooLong = shown.length > 1.2 * maxOutputChars + 200
  if (!truncated && !isTooLong) return { text: shown }
  const text = isTooLong ? headAndTail(shown, maxOutputChars, "the text of the value") : shown
  if (endsWithName(code)) return { text }
  const { keptName: kept, where } = execution.kept
    ? { keptName: execution.kept, where: "" }
    : await keepOutput(value, services)
  return { text: `${text}\n… shortened; ${kept === undefined ? `the value ${where}` : `whole value in ${kept}`}`, kept }
}

/** Returns true if the last statement of a cell is only a name. */
export function endsWithName(code: string): boolean {
  const text = code.trimEnd()
  const end = text.endsWith(";") ? text.length - 1 : text.length
  let start = end
  while (/[\w$]/.test(text.charAt(start - 1))) start--
  const before = text.slice(0, start)
  const statements = before.trimEnd()
  if (start === end) return false
  if (statements === "" || statements.endsWith(";")) return true
  return before.includes("\n", statements.length) && !endsInOperator.test(statements)
}

// After an operator, a name on the next line is the end of a longer expression.
const endsInOperator = /(?<!\+)\+$|(?<!-)-$|[*/%&|^<>=?:,.!~\\]$/

function printedText(execution: CellExecution): string {
  return wellFormed(execution.output).trimEnd()
}

async function fitToLimit(text: string, maxChars: number, services: OutputServices): Promise<Fitted> {
  if (text.length <= maxChars) return { text }
  const { keptName, where } = await keepOutput(text, services)
  return { kept: keptName, text: headAndTail(text, maxChars, `the whole text ${where}`) }
}

function keepOutput(value: unknown, { runtime, reservedNames }: OutputServices) {
  return tryToKeep(keepValue("_output", value, { valueStore: runtime, reservedNames }), "variable")
}

async function dropOldest(added: readonly string[], { runtime, keptNames }: OutputServices): Promise<string[]> {
  const names = [...keptNames(), ...added]
  const dropped = names.slice(0, Math.max(0, names.length - maxKept))
  if (dropped.length === 0 || !runtime.forget) return []
  try {
    await runtime.forget(dropped)
    return dropped
  } catch {
    // The runtime has ended; the next call of it reports that.
    return []
  }
}

type ShownError = ActionError & { stack?: string | undefined }

function errorText({ kind, message, line, column, stack }: ShownError): string {
  if (kind === "throw" && stack) return wellFormed(stack)
  // The messages of security and type errors contain their positions.
  if (kind === "security" || kind === "type") return wellFormed(message)
  const position = line === undefined ? "" : ` (line ${line}${column === undefined ? "" : `, column ${column}`})`
  return wellFormed(message) + position
}
