// The type gate: checks the cells of one runtime with TypeScript, against the types of its names, before they run.
import type { ActionError } from "../core/event.ts"
import { listFirst } from "../core/text/tagged-text.ts"
import type { ParsedCell } from "./compiler/parse-cell.ts"
import { analyseScope } from "./compiler/scope-analysis.ts"
import { positionAt } from "./compiler/text-positions.ts"
import type { TypeGateMode } from "./runtime.ts"
import { createCellHistory, recordCell } from "./type-gate/cell-history.ts"
import { type CellName, createCellNames, namesDeclaredBy, typesDeclaredIn } from "./type-gate/cell-names.ts"
import { type HostName, parseHostNames } from "./type-gate/host-names.ts"
import { judgeDiagnostics } from "./type-gate/judge-diagnostics.ts"
import { createTrustAnalysis, type PromiseMethods } from "./type-gate/type-trust.ts"
import type { CheckResult, Diagnostic, TypeChecker } from "./type-gate/typescript-checker.ts"
import { sharedTypeChecker } from "./type-gate/typescript-checker.ts"

/** The namespace as the gate sees it. */
export interface GateNamespace {
  /** The declarations of the injected values, as `declare` writes them. */
  declarations: string
  /** Injected names whose types were not written by the author but inferred from the values. */
  inferredNames?: ReadonlySet<string> | undefined
  /** All names with their values, or with placeholders that change whenever the value changes. */
  values: ReadonlyMap<string, unknown>
  /** The values that can be inspected, or objects with the same members. */
  liveValues: ReadonlyMap<string, unknown>
  /** Methods whose calls always return promises, because they pass the call gate, by the name of their object. */
  promiseMethods?: PromiseMethods | undefined
  /** Other names that a cell can use. */
  ambient: ReadonlySet<string>
}

export interface GateVerdict {
  /** Set if the cell must not run. */
  error?: ActionError | undefined
  /** Findings that are not certain enough to refuse the cell, one line each. The model sees them with the result of the
   *  cell, in both modes. */
  hints: string[]
  /** Stores the types of the names that the cell declared. Call it after the cell has run, with the names that exist.
   *  */
  rememberTypes(values: GateNamespace["values"]): void
}

export function createTypeGate() {
  const cellNames = createCellNames()
  const history = createCellHistory()
  let checker: TypeChecker | undefined
  let hostDeclarations: { text: string; names: Map<string, HostName> } = { text: "", names: new Map() }

  const checkWithRetry = (code: string, declarations: string): CheckResult => {
    if (!checker) throw new Error("The type gate was not opened.")
    try {
      return checker.check(code, declarations)
    } catch {
      // The compiler process may have been killed. Try once more with a new one.
      return checker.check(code, declarations)
    }
  }

  return {
    /** Loads the checker. Throws a `MissingPackageError` if TypeScript 7 is not installed. */
    async open(): Promise<void> {
      checker ??= await sharedTypeChecker()
    },
    /** Checks a cell; `open` must be called first. Never throws: if the checker fails, the cell gets a hint. */
    check(cell: ParsedCell, mode: TypeGateMode, names: GateNamespace): GateVerdict {
      const { declarations } = names
      if (hostDeclarations.text !== declarations)
        hostDeclarations = { text: declarations, names: parseHostNames(declarations) }
      const knownCellNames = cellNames.current(names.values)
      const known = {
        host: names.inferredNames ? markInferred(hostDeclarations.names, names.inferredNames) : hostDeclarations.names,
        cellNames: knownCellNames,
        names: new Set([...names.values.keys(), ...names.ambient]),
        history,
        values: names.liveValues,
        promiseMethods: names.promiseMethods ?? new Map(),
      }
      try {
        const checked = checkWithRetry(
          createCellModule(cell, hostDeclarations.names, knownCellNames, names.values),
          `${hostDeclarations.text}\nexport type host_ = 0`,
        )
        const diagnostics = checked.diagnostics.filter(({ end }) => end <= cell.code.length)
        const judgement = judgeDiagnostics(cell, { ...checked, diagnostics }, known)
        const { blocked, doubtful, mistypedNames, tree } = judgement
        const explain = (found: Diagnostic[]) => explainDiagnostics(cell.code, found)
        const [first] = blocked
        if (first && mode === "block") {
          const error: ActionError = {
            kind: "type",
            message: explain(blocked).join("\n"),
            ...positionAt(cell.code, first.start),
          }
          return { error, hints: explain(doubtful), rememberTypes() {} }
        }
        const trust = createTrustAnalysis(cell, tree, { ...known, mistypedNames })
        const { names: cellDeclarations } = tree.scopes.cell
        const types = namesDeclaredBy(cell, checked, (name) => {
          const declaration = cellDeclarations?.get(name)
          return declaration ? trust.ofDeclaration(declaration) : "untrusted"
        })
        return {
          hints: explain([...blocked, ...doubtful]),
          rememberTypes(values) {
            cellNames.remember(types, values, names.values)
            recordCell(history, cell, tree, mistypedNames)
          },
        }
      } catch (error) {
        return { hints: [`The types of this cell could not be checked: ${error}`], rememberTypes() {} }
      }
    },
  }
}

function markInferred(names: ReadonlyMap<string, HostName>, inferred: ReadonlySet<string>): Map<string, HostName> {
  const entries = [...names].map(([name, known]): [string, HostName] => {
    return [name, inferred.has(name) ? { ...known, certain: false } : known]
  })
  return new Map(entries)
}

/** Returns the cell as a module, followed by the declarations of the names that it mentions. They come last, so that
 *  offsets in the cell stay valid. Names that are not mentioned are left out, so that long sessions stay fast. */
function createCellModule(
  cell: ParsedCell,
  hostNames: ReadonlyMap<string, HostName>,
  cellNames: ReadonlyMap<string, CellName>,
  values: GateNamespace["values"],
): string {
  const { cell: level, references } = analyseScope(cell)
  const cellDeclarations = new Set([...(level.names?.keys() ?? []), ...typesDeclaredIn(cell).map(({ name }) => name)])
  const assigned = new Set(references.values().flatMap((each) => (each.write && !each.declaration ? [each.name] : [])))
  const imported: string[] = []
  const declared: string[] = []
  const handled = new Set(cellDeclarations)
  const addDeclarations = (text: string) => {
    for (const [name] of text.matchAll(identifiers)) {
      if (handled.has(name)) continue
      handled.add(name)
      const known = cellNames.get(name)
      // The stored type is stale if it mentions a name that the cell declares again.
      const isStale = known && [...known.text.matchAll(identifiers)].some(([word]) => cellDeclarations.has(word))
      if (known && !isStale) declared.push(known.text)
      else if (known || (values.has(name) && !hostNames.has(name))) declared.push(`declare let ${name}: any`)
      else if (hostNames.has(name) && assigned.has(name))
        declared.push(`declare let ${name}: typeof import("./host").${name}`)
      else if (hostNames.has(name)) imported.push(name)
      if (known) addDeclarations(known.text)
    }
  }
  addDeclarations(cell.code)
  return [cell.code, `;import { ${imported.join(", ")} } from "./host"`, ...declared, "export {}"].join("\n")
}

const identifiers = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu

function explainDiagnostics(code: string, found: Diagnostic[]): string[] {
  const sorted = found.toSorted((one, other) => one.start - other.start)
  return listFirst(sorted, maxShown, ({ start, message }) => {
    const { line, column } = positionAt(code, start)
    return `line ${line}, column ${column}: ${message}`
  })
}

const maxShown = 5
