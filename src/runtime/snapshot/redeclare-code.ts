// Declares the functions and classes of a snapshot again.
import { compileCell } from "../compiler/compile-cell.ts"
import { CellSyntaxError } from "../compiler/parse-cell.ts"
import { cellFilename } from "../js/cell-errors.ts"
import type { CellContext } from "../js/execute-cell.ts"
import { checkRules } from "../rules/check-rules.ts"
import type { RuntimeLoss } from "../runtime.ts"
import { readDeclaredCode } from "./declared-code.ts"
import type { CodeDeclaration } from "./payload.ts"

/** Declares code in its original order and returns the values: undefined for each that failed. Runs nothing else of the
 *  sources and applies the runtime's rules. Afterwards the scope is as before. */
export async function redeclareCode(
  declarations: readonly CodeDeclaration[],
  context: CellContext,
  { superclass, lost }: RedeclareOptions,
): Promise<unknown[]> {
  const { scope } = context.namespace
  const originalScope = new Map(Object.entries(scope))
  const declared: unknown[] = []
  for (const declaration of declarations) {
    const { name, superclass: base } = declaration
    if (base) scope[base[0]] = superclass(base[1], declared)
    const problem = await redeclareOne(declaration, context)
    if (problem !== undefined) lost.push({ name, reason: `it cannot be declared again: ${problem}` })
    declared.push(problem === undefined ? scope[name] : undefined)
  }
  for (const name of Object.keys(scope)) {
    if (originalScope.has(name)) scope[name] = originalScope.get(name)
    else delete scope[name]
  }
  return declared
}

export interface RedeclareOptions {
  /** Returns the base class that a reference stands for. */
  superclass(reference: number, declared: readonly unknown[]): unknown
  lost: RuntimeLoss[]
}

async function redeclareOne(
  { name, source, known }: CodeDeclaration,
  context: CellContext,
): Promise<string | undefined> {
  const { namespace, ambient, ambientNames, guard, rules } = context
  const code = readDeclaredCode(source)
  if (typeof code === "string") return code
  if (code.source !== source || code.name !== name) return "it is more than a declaration"
  const [violation] = checkRules(code.parsed, rules)
  if (violation) return violation.message
  try {
    const compiled = compileCell(code.parsed, {
      filename: cellFilename(0, ++cellCount),
      known: new Set(known),
      constants: namespace.constants,
      ambient: ambientNames,
    })
    await compiled.run(namespace.scope, ambient, guard)
    const declared = { kind: "code" as const, name, source, known }
    namespace.origins.record([declared], namespace.scope)
    return undefined
  } catch (error) {
    if (error instanceof CellSyntaxError || error instanceof TypeError || error instanceof ReferenceError) {
      return error.message
    }
    throw error
  }
}

let cellCount = 0
