import type { ActionError } from "../core/event.ts"
import type { ParsedCell } from "./compiler/parse-cell.ts"
import { analyseScope } from "./compiler/scope-analysis.ts"
import { positionAt } from "./compiler/text-positions.ts"
import type { TypeGateMode } from "./runtime.ts"
import { createCellHistory, recordCell } from "./type-gate/cell-history.ts"
import { type CellName, createCellNames, namesDeclaredBy, typesDeclaredIn } from "./type-gate/cell-names.ts"
import { type HostName, parseHostNames } from "./type-gate/host-names.ts"
import { judgeDiagnostics } from "./type-gate/judge-diagnostics.ts"
import { createTrustAnalysis, type PromiseMethods } from "./type-gate/type-trust.ts"
import {
  type CheckResult,
  type Diagnostic,
  sharedTypeChecker,
  type TypeChecker,
} from "./type-gate/typescript-checker.ts"

/** Checks the cells of one runtime against the types of what is in its namespace, before they run. */
export interface TypeGate {
  /** Loads the checker; a `MissingPeerError` when TypeScript 7 is not installed. */
  open(): Promise<void>
  /** Judges a cell. Needs `open` first. Never throws: a checker that fails gives a hint, not a refusal. */
  check(cell: ParsedCell, mode: TypeGateMode, names: GateNamespace): GateVerdict
}

/** The namespace as the gate sees it. */
export interface GateNamespace {
  /** Declarations of what was injected, as `declare` writes them. */
  declarations: string
  /** Names that are declared as if their author had said so, but were only inferred. */
  inferredNames?: ReadonlySet<string> | undefined
  /** Every name there is, with its value, or with anything that is the same for as long as the value is. */
  values: ReadonlyMap<string, unknown>
  /** The running values, or what has their members, as far as they can be looked at. */
  liveValues: ReadonlyMap<string, unknown>
  /** Methods that give promises for certain, by the name of their object: their calls pass a gate. */
  promiseMethods?: PromiseMethods | undefined
  /** Names a cell finds besides. */
  ambient: ReadonlySet<string>
}

export interface GateVerdict {
  /** Set when the cell must not run. */
  error?: ActionError | undefined
  /** The findings that are not certain enough to refuse the cell, a line each. They are given to the model with the
   *  result of the cell, in both modes. */
  hints: string[]
  /** Keeps the types of the names the cell made. To be called with the names there are when it has run. */
  rememberTypes(values: GateNamespace["values"]): void
}

export function createTypeGate(): TypeGate {
  const made = createCellNames()
  const history = createCellHistory()
  let checker: TypeChecker | undefined
  let host: { text: string; names: Map<string, HostName> } = { text: "", names: new Map() }

  const checkTwice = (code: string, declarations: string): CheckResult => {
    if (!checker) throw new Error("The type gate was not opened.")
    try {
      return checker.check(code, declarations)
    } catch {
      // Its process may have been ended from outside; a new one knows the same.
      return checker.check(code, declarations)
    }
  }

  return {
    async open() {
      checker ??= await sharedTypeChecker()
    },
    check(cell, mode, names) {
      if (host.text !== names.declarations)
        host = { text: names.declarations, names: parseHostNames(names.declarations) }
      const earlier = made.current(names.values)
      const known = {
        host: names.inferredNames ? markInferred(host.names, names.inferredNames) : host.names,
        cellNames: earlier,
        names: new Set([...names.values.keys(), ...names.ambient]),
        history,
        values: names.liveValues,
        promiseMethods: names.promiseMethods ?? new Map(),
      }
      try {
        const checked = checkTwice(
          createCellModule(cell, host.names, earlier, names.values),
          `${host.text}\nexport type host_ = 0`,
        )
        const inCell = checked.diagnostics.filter(({ end }) => end <= cell.code.length)
        const {
          blocked,
          doubtful,
          mistypedNames: loosened,
          tree,
        } = judgeDiagnostics(cell, { ...checked, diagnostics: inCell }, known)
        const lines = (found: Diagnostic[]) => explainDiagnostics(cell.code, found)
        const [first] = blocked
        if (first && mode === "block") {
          const error: ActionError = {
            kind: "type",
            message: lines(blocked).join("\n"),
            ...positionAt(cell.code, first.start),
          }
          return { error, hints: lines(doubtful), rememberTypes() {} }
        }
        const trust = createTrustAnalysis(cell, tree, { ...known, mistypedNames: loosened })
        const { names: own } = tree.scopes.cell
        const types = namesDeclaredBy(cell, checked, (name) => {
          const declaration = own?.get(name)
          return declaration ? trust.ofDeclaration(declaration) : "loose"
        })
        return {
          hints: lines([...blocked, ...doubtful]),
          rememberTypes(values) {
            made.remember(types, values, names.values)
            recordCell(history, cell, tree, loosened)
          },
        }
      } catch (error) {
        return { hints: [`The types of this cell could not be checked: ${error}`], rememberTypes() {} }
      }
    },
  }
}

function markInferred(names: ReadonlyMap<string, HostName>, guessed: ReadonlySet<string>): Map<string, HostName> {
  const entries = [...names].map(([name, known]): [string, HostName] => {
    return [name, guessed.has(name) ? { ...known, certain: false } : known]
  })
  return new Map(entries)
}

/** The cell as a module, with all it sees. That comes last, so that every place in the cell stays where it is; and only
 *  what the cell mentions, so that a long session costs no more than a short one. */
function createCellModule(
  cell: ParsedCell,
  host: ReadonlyMap<string, HostName>,
  made: ReadonlyMap<string, CellName>,
  values: GateNamespace["values"],
): string {
  const { cell: level, references } = analyseScope(cell)
  const own = new Set([...(level.names?.keys() ?? []), ...typesDeclaredIn(cell).map(({ name }) => name)])
  const assigned = new Set(references.values().flatMap((each) => (each.write && !each.declaration ? [each.name] : [])))
  const imported: string[] = []
  const declared: string[] = []
  const seen = new Set(own)
  const mention = (text: string) => {
    for (const [name] of text.matchAll(identifiers)) {
      if (seen.has(name)) continue
      seen.add(name)
      const known = made.get(name)
      // What was made with something that the cell declares anew is not what the new one says.
      const isStale = known && [...known.text.matchAll(identifiers)].some(([word]) => own.has(word))
      if (known && !isStale) declared.push(known.text)
      else if (known || (values.has(name) && !host.has(name))) declared.push(`declare let ${name}: any`)
      else if (host.has(name) && assigned.has(name))
        declared.push(`declare let ${name}: typeof import("./host").${name}`)
      else if (host.has(name)) imported.push(name)
      if (known) mention(known.text)
    }
  }
  mention(cell.code)
  return [cell.code, `;import { ${imported.join(", ")} } from "./host"`, ...declared, "export {}"].join("\n")
}

const identifiers = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu

function explainDiagnostics(code: string, found: Diagnostic[]): string[] {
  const sorted = found.toSorted((one, other) => one.start - other.start)
  const lines = sorted.slice(0, maxShown).map(({ start, message }) => {
    const { line, column } = positionAt(code, start)
    return `line ${line}, column ${column}: ${message}`
  })
  return found.length > maxShown ? [...lines, `and ${found.length - maxShown} more`] : lines
}

const maxShown = 5
