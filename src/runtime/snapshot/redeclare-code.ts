import { compileCell } from "../compiler/compile-cell.ts"
import { CellSyntaxError } from "../compiler/parse-cell.ts"
import { cellFilename } from "../js/cell-errors.ts"
import type { CellContext } from "../js/execute-cell.ts"
import { checkRules } from "../rules/check-rules.ts"
import type { RuntimeLoss } from "../runtime.ts"
import { readDeclaredCode } from "./declared-code.ts"
import type { CodeDeclaration } from "./payload.ts"

/** Declares functions and classes again, in the order in which cells declared them, and gives them: undefined for what
 *  cannot be. Nothing else of a source runs, and the rules of the runtime hold. The names are free again afterwards. */
export async function redeclareCode(
  declarations: readonly CodeDeclaration[],
  place: CellContext,
  { superclass, lost }: RedeclareOptions,
): Promise<unknown[]> {
  const { scope } = place.namespace
  const before = new Map(Object.entries(scope))
  const made: unknown[] = []
  for (const declaration of declarations) {
    const { name, superclass: above } = declaration
    if (above) scope[above[0]] = superclass(above[1], made)
    const problem = await redeclareOne(declaration, place)
    if (problem !== undefined) lost.push({ name, reason: `it cannot be declared again: ${problem}` })
    made.push(problem === undefined ? scope[name] : undefined)
  }
  for (const name of Object.keys(scope)) {
    if (before.has(name)) scope[name] = before.get(name)
    else delete scope[name]
  }
  return made
}

export interface RedeclareOptions {
  /** What a reference of a class to what it extends stands for. */
  superclass(reference: number, made: readonly unknown[]): unknown
  lost: RuntimeLoss[]
}

async function redeclareOne({ name, source, known }: CodeDeclaration, place: CellContext): Promise<string | undefined> {
  const { namespace, ambient, ambientNames, guard, rules } = place
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
