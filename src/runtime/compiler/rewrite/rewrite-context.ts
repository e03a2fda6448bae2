import type { AnyNode, BlockStatement, Identifier } from "acorn"
import { guardVariable, type NameStorage } from "../name-storage.ts"
import { eachChild } from "../parse-cell.ts"
import type { ScopeAnalysis } from "../scope-analysis.ts"
import type { CodeOutput } from "./code-output.ts"
import { copyNameWithoutType } from "./strip-types.ts"

/** The working state of one rewriting, shared by the functions that each know a part of the language. They go through
 *  the source from left to right; what nobody changes is copied. */
export interface RewriteContext {
  code: string
  out: CodeOutput
  storage: NameStorage
  analysis: ScopeAnalysis
  /** How many functions the node at hand is inside of. */
  depth: number
  /** Statements that must run before the cell's first, such as imports further down. */
  hoisted: string
  emit(node: AnyNode): void
  emitStatements(nodes: readonly AnyNode[]): void
  /** A declaration whose names are properties of `home`, or ordinary variables where there is none. */
  declare(node: AnyNode, home: string | undefined): void
  /** A block with a statement put first. */
  emitBlock(node: BlockStatement, first: string): void
  /** Copies to the end of a statement and ends it there, so that what is left of it cannot run into the next. */
  endStatement(node: AnyNode): void
  /** The value of something called `name`: an anonymous function or class gets that name. */
  emitNamed(name: string, value: AnyNode): void
  /** Takes note of the checks that parts of a node need which `emit` is not given. */
  noteChecks(node: AnyNode): void
  /** An expression that throws if a name with a default value in the patterns is a remote member that was not awaited;
   *  undefined where no such check is needed. `read` gives the text that reads a name. */
  checkDefaults(patterns: readonly AnyNode[], read?: (name: Identifier) => string): string | undefined
  fail(message: string, node: { start: number }): never
}

/** What a loop does at each turn and a function at its entry. Nobody knows how long code outside the cell takes, so
 *  steps that call some count for many. */
export function countdownCode(step: AnyNode): string {
  return mayCallOutside(step)
    ? `if((${guardVariable}.left-=${callWeight})<0)${guardVariable}.tick();`
    : `if(--${guardVariable}.left<0)${guardVariable}.tick();`
}

const callWeight = 32

/** What a handler does first: a cell that was stopped must not go on in it. */
export const stopCheckCode = `${guardVariable}.tick();`

/** Writes the target for an identifier in a pattern. Returns whether the target is a property, not a variable. */
export type BindName = (node: Identifier, shorthand: boolean) => boolean

export function bindVariable({ out, code }: RewriteContext): BindName {
  return (node) => {
    copyNameWithoutType(out, code, node)
    return false
  }
}

export function bindProperty({ out, code }: RewriteContext, home: string): BindName {
  return (node, shorthand) => {
    out.copyTo(node.start)
    out.write(shorthand ? `${node.name}:${home}.` : `${home}.`)
    copyNameWithoutType(out, code, node)
    return true
  }
}

/** Whether a node may run code that is not in it. Functions in it count for themselves. */
function mayCallOutside(node: AnyNode): boolean {
  switch (node.type) {
    case "CallExpression":
    case "NewExpression":
    case "TaggedTemplateExpression":
    case "ForOfStatement":
    case "YieldExpression":
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
