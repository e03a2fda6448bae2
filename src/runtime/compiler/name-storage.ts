// Where the names of a cell are stored at run time: as properties of the scope, of the ambient object or of an enum's
// object, or as plain variables.
import type { CompileOptions } from "./compile-cell.ts"
import type { DeclarationKind, Reference, ScopeAnalysis } from "./scope-analysis.ts"

export interface NameStorage {
  /** The code of the object that has the name as a property; undefined if the name is a plain variable. */
  holderOf(reference: Reference): string | undefined
  /** The code for the name of an enum or namespace inside its own body. */
  selfObject(reference: Reference): string | undefined
  /** Whether the name cannot be assigned to. */
  isConstant(reference: Reference): boolean
  /** Code that runs before the cell's first statement. */
  prologue(): string
}

// The parameters of generated code. A cell may not use these names, nor any that begins with one of them.
export const scopeVariable = "$$scope"
export const ambientVariable = "$$ambient"
export const guardVariable = "$$guard"
export const helpersVariable = "$$cell"
export const reservedPrefixes = [scopeVariable, ambientVariable, guardVariable, helpersVariable]

/** A variable that no other node uses, such as for the object of an enum or namespace. */
export function generatedVariable(node: { start: number }): string {
  return `${helpersVariable}_${node.start}`
}

export function isConstantKind(kind: DeclarationKind): boolean {
  return kind === "const" || kind === "using" || kind === "await using" || kind === "import"
}

export function createNameStorage({ cell, references }: ScopeAnalysis, options: CompileOptions): NameStorage {
  const { known, ambient, constants } = options
  // Globals and ambient names that this cell assigns to become names of its namespace; the originals stay unchanged.
  const assignedGlobals = new Set<string>()
  for (const { name, write, declaration } of references.values()) {
    if (write && !declaration && !known.has(name) && (ambient.has(name) || name in globalThis))
      assignedGlobals.add(name)
  }

  const outsideObject = (name: string): string | undefined => {
    if (ambient.has(name)) return ambientVariable
    return name in globalThis ? undefined : scopeVariable
  }

  return {
    holderOf({ name, declaration, scope }) {
      if (!declaration || !scope)
        return known.has(name) || assignedGlobals.has(name) ? scopeVariable : outsideObject(name)
      if (scope === cell) return scopeVariable
      return scope.self?.members?.get(name) === declaration ? generatedVariable(scope.node) : undefined
    },
    selfObject: ({ declaration, scope }) =>
      scope?.self && scope.self === declaration ? generatedVariable(scope.node) : undefined,
    isConstant({ name, declaration, scope }) {
      if (declaration) return scope === cell && isConstantKind(declaration.kind)
      return constants.has(name)
    },
    prologue() {
      let text = ""
      for (const name of assignedGlobals) {
        const from = outsideObject(name)
        text += `${scopeVariable}.${name}=${from ? `${from}.` : ""}${name};`
      }
      for (const { name, kind } of cell.names?.values() ?? []) {
        if (kind === "function") text += `${scopeVariable}.${name}=${name};`
        else if (kind === "var" && !known.has(name)) text += `${scopeVariable}.${name}=void 0;`
      }
      return text
    },
  }
}
