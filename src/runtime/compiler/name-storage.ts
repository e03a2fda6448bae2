import type { CompileOptions } from "./compile-cell.ts"
import type { DeclarationKind, Reference, ScopeAnalysis } from "./scope-analysis.ts"

/** Where the names of a cell live when it runs. */
export interface NameStorage {
  /** The text of the object that has the name as a property; undefined when the name stands for itself. */
  objectOf(reference: Reference): string | undefined
  /** What stands for the name of an enum or a namespace inside itself. */
  selfObject(reference: Reference): string | undefined
  /** Whether the name may be read only. */
  isConstant(reference: Reference): boolean
  /** What has to be done before the cell's first statement. */
  prologue(): string
}

// What generated code is given. A cell may not use these names, nor any that begins with one of them.
export const scopeVariable = "$$scope"
export const ambientVariable = "$$ambient"
export const guardVariable = "$$guard"
export const helpersVariable = "$$cell"
export const reservedPrefixes = [scopeVariable, ambientVariable, guardVariable, helpersVariable]

/** The object that an enum or a namespace is built as. */
export function generatedVariable(node: { start: number }): string {
  return `${helpersVariable}_${node.start}`
}

export function isConstantKind(kind: DeclarationKind): boolean {
  return kind === "const" || kind === "using" || kind === "await using" || kind === "import"
}

export function createNameStorage({ cell, references }: ScopeAnalysis, options: CompileOptions): NameStorage {
  const { known, ambient, constants } = options
  // Names of the surroundings that this cell assigns to become names of its own: nobody else's world is changed.
  const taken = new Set<string>()
  for (const { name, write, declaration } of references.values()) {
    if (write && !declaration && !known.has(name) && (ambient.has(name) || name in globalThis)) taken.add(name)
  }

  const surroundings = (name: string): string | undefined => {
    if (ambient.has(name)) return ambientVariable
    return name in globalThis ? undefined : scopeVariable
  }

  return {
    objectOf({ name, declaration, scope }) {
      if (!declaration || !scope) return known.has(name) || taken.has(name) ? scopeVariable : surroundings(name)
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
      for (const name of taken) {
        const from = surroundings(name)
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
