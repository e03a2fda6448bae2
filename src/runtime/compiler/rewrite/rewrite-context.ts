// The state that all rewrite functions of one cell share. They go through the source from left to right; source that no
// function changes is copied.
import type { AnyNode, BlockStatement, Identifier } from "acorn"
import { guardVariable, type NameStorage } from "../name-storage.ts"
import { eachChild } from "../parse-cell.ts"
import type { ScopeAnalysis } from "../scope-analysis.ts"
import type { CodeOutput } from "./code-output.ts"
import { copyNameWithoutType } from "./strip-types.ts"

export interface RewriteContext {
  code: string
  out: CodeOutput
  storage: NameStorage
  analysis: ScopeAnalysis
  /** The number of functions around the current node. */
  depth: number
  /** Statements that run before the cell's first one, such as imports further down. */
  hoisted: string
  emit(node: AnyNode): void
  emitStatements(nodes: readonly AnyNode[]): void
  /** Rewrites a declaration. Its names become properties of the object `holder`, or stay variables if that is
   *  undefined. */
  declare(node: AnyNode, holder: string | undefined): void
  /** Rewrites a block and inserts a statement at its start. */
  emitBlock(node: BlockStatement, first: string): void
  /** Copies to the end of a statement and adds a semicolon if it has none, so that it does not run into the next
   *  one. */
  endStatement(node: AnyNode): void
  /** Rewrites the value of something called `name`: an anonymous function or class gets that name. */
  emitNamed(name: string, value: AnyNode): void
  /** Plans the checks of parts of a node that is not passed to `emit`. */
  noteChecks(node: AnyNode): void
  /** Code that throws if a name with a default value in the patterns is a remote member that was not awaited; undefined
   *  if no check is needed. `read` returns the code that reads a name. */
  checkDefaults(patterns: readonly AnyNode[], read?: (name: Identifier) => string): string | undefined
  fail(message: string, node: { start: number }): never
}

/** The countdown in each loop iteration and at each function entry. Code outside the cell may take any time, so an
 *  iteration or function that may call such code counts for many. */
export function countdownCode(node: AnyNode): string {
  return mayCallOutside(node)
    ? `if((${guardVariable}.left-=${callWeight})<0)${guardVariable}.tick();`
    : `if(--${guardVariable}.left<0)${guardVariable}.tick();`
}

const callWeight = 128

/** The first statement of `catch` and `finally` blocks: a stopped cell must not continue there. */
export const stopCheckCode = `${guardVariable}.tick();`

/** Writes the target for an identifier in a pattern. Returns true if the target is a property, not a variable. */
export type BindName = (node: Identifier, shorthand: boolean) => boolean

export function bindVariable({ out, code }: RewriteContext): BindName {
  return (node) => {
    copyNameWithoutType(out, code, node)
    return false
  }
}

export function bindProperty({ out, code }: RewriteContext, holder: string): BindName {
  return (node, shorthand) => {
    out.copyTo(node.start)
    out.write(shorthand ? `${node.name}:${holder}.` : `${holder}.`)
    copyNameWithoutType(out, code, node)
    return true
  }
}

/** Returns true if a node may run code outside of it, or copy or convert values of any size. Functions inside it have
 *  their own countdown. */
function mayCallOutside(node: AnyNode): boolean {
  switch (node.type) {
    case "CallExpression":
    case "NewExpression":
    case "TaggedTemplateExpression":
    case "ForOfStatement":
    case "ForInStatement":
    case "YieldExpression":
    case "SpreadElement":
    case "RestElement":
    case "ArrayPattern":
    case "TemplateLiteral":
      return true
    case "FunctionExpression":
    case "FunctionDeclaration":
    case "ArrowFunctionExpression":
      return false
    default: {
      let found = false
      eachChild(node, (child) => {
        found ||= mayCallOutside(child)
      })
      return found
    }
  }
}
