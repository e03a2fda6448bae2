// Rewrites loops and catch clauses: each iteration and each handler begins with a guard.
import type {
  AnyNode,
  CatchClause,
  DoWhileStatement,
  ForInStatement,
  ForOfStatement,
  ForStatement,
  Identifier,
  WhileStatement,
} from "acorn"
import { generatedVariable, helpersVariable } from "../name-storage.ts"
import { assignedNameReader, rewritePattern, rewriteTarget } from "./rewrite-assignments.ts"
import { bindProperty, bindVariable, countdownCode, type RewriteContext, stopCheckCode } from "./rewrite-context.ts"
import { rewriteVariables, variableHolder } from "./rewrite-declarations.ts"
import { copyNameWithoutType } from "./strip-types.ts"

type Loop = ForStatement | ForInStatement | ForOfStatement | WhileStatement | DoWhileStatement

/** Rewrites the body of a loop to a block that begins with a guard. */
export function rewriteLoopBody(context: RewriteContext, loop: Loop, first = ""): void {
  const { out } = context
  const node: AnyNode = loop.body
  const guard = first + countdownCode(loop)
  if (node.type === "BlockStatement") return context.emitBlock(node, guard)
  out.copyTo(node.start)
  out.write(`{${guard}`)
  context.emit(node)
  out.copyTo(node.end)
  out.write("}")
}

/** Rewrites the initialisation of a `for` loop. */
export function rewriteLoopStart(context: RewriteContext, node: AnyNode): void {
  if (node.type !== "VariableDeclaration") return context.emit(node)
  rewriteVariables(context, node, variableHolder(context, node))
}

/** Rewrites the variable of a for-of or for-in loop. */
export function rewriteLoopTarget(context: RewriteContext, node: AnyNode): void {
  const { out } = context
  if (node.type !== "VariableDeclaration") return rewriteTarget(context, node)
  const holder = variableHolder(context, node)
  for (const { id } of node.declarations) {
    if (holder) {
      out.copyTo(node.start)
      out.skipTo(id.start)
    }
    rewritePattern(context, id, holder ? bindProperty(context, holder) : bindVariable(context))
  }
}

/** A statement at the start of a loop's body that checks the default values in the loop head. */
export function loopDefaultsCheck(context: RewriteContext, head: AnyNode | null | undefined): string {
  if (!head) return ""
  const isDeclaration = head.type === "VariableDeclaration"
  const holder = isDeclaration ? variableHolder(context, head) : undefined
  const read = isDeclaration
    ? ({ name }: Identifier) => (holder ? `${holder}.${name}` : name)
    : assignedNameReader(context)
  const patterns = isDeclaration ? head.declarations.map(({ id }) => id) : [head]
  const check = context.checkDefaults(patterns, read)
  return check ? `${check};` : ""
}

/** Rewrites a catch clause: a stopped cell must not continue in it, and the caught error quotes the cell's source. */
export function rewriteHandler(context: RewriteContext, { param, body }: CatchClause): void {
  const { out, code } = context
  if (!param) return context.emitBlock(body, stopCheckCode)
  out.copyTo(param.start)
  if (param.type === "Identifier") {
    copyNameWithoutType(out, code, param)
    return context.emitBlock(body, `${stopCheckCode}${helpersVariable}.caught(${param.name});`)
  }
  const thrown = generatedVariable(param)
  out.write(`${thrown}){${stopCheckCode}const `)
  rewritePattern(context, param, bindVariable(context))
  out.copyTo(param.end)
  const check = context.checkDefaults([param])
  out.write(`=${helpersVariable}.caught(${thrown});${check ? `${check};` : ""}`)
  out.skipTo(body.start + 1)
  context.emitStatements(body.body)
}
