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
import { rewriteVariables, variableStorage } from "./rewrite-declarations.ts"
import { copyNameWithoutType } from "./strip-types.ts"

type Loop = ForStatement | ForInStatement | ForOfStatement | WhileStatement | DoWhileStatement

/** Rewrites the body of a loop to a block that begins with a guard. */
export function rewriteLoopBody(rewriting: RewriteContext, loop: Loop, first = ""): void {
  const { out } = rewriting
  const node: AnyNode = loop.body
  const guard = first + countdownCode(loop)
  if (node.type === "BlockStatement") return rewriting.emitBlock(node, guard)
  out.copyTo(node.start)
  out.write(`{${guard}`)
  rewriting.emit(node)
  out.copyTo(node.end)
  out.write("}")
}

/** Rewrites the initialisation of a `for` loop. */
export function rewriteLoopStart(rewriting: RewriteContext, node: AnyNode): void {
  if (node.type !== "VariableDeclaration") return rewriting.emit(node)
  rewriteVariables(rewriting, node, variableStorage(rewriting, node))
}

/** Rewrites the variable of a for-of or for-in loop. */
export function rewriteLoopTarget(rewriting: RewriteContext, node: AnyNode): void {
  const { out } = rewriting
  if (node.type !== "VariableDeclaration") return rewriteTarget(rewriting, node)
  const home = variableStorage(rewriting, node)
  for (const { id } of node.declarations) {
    if (home) {
      out.copyTo(node.start)
      out.skipTo(id.start)
    }
    rewritePattern(rewriting, id, home ? bindProperty(rewriting, home) : bindVariable(rewriting))
  }
}

/** A statement at the start of a loop's body that checks the default values in the loop head. */
export function loopDefaultsCheck(rewriting: RewriteContext, head: AnyNode | null | undefined): string {
  if (!head) return ""
  const isDeclaration = head.type === "VariableDeclaration"
  const home = isDeclaration ? variableStorage(rewriting, head) : undefined
  const read = isDeclaration
    ? ({ name }: Identifier) => (home ? `${home}.${name}` : name)
    : assignedNameReader(rewriting)
  const patterns = isDeclaration ? head.declarations.map(({ id }) => id) : [head]
  const check = rewriting.checkDefaults(patterns, read)
  return check ? `${check};` : ""
}

/** Rewrites a catch clause: a stopped cell must not continue in it, and the caught error quotes the cell's source. */
export function rewriteHandler(rewriting: RewriteContext, { param, body }: CatchClause): void {
  const { out, code } = rewriting
  if (!param) return rewriting.emitBlock(body, stopCheckCode)
  out.copyTo(param.start)
  if (param.type === "Identifier") {
    copyNameWithoutType(out, code, param)
    return rewriting.emitBlock(body, `${stopCheckCode}${helpersVariable}.caught(${param.name});`)
  }
  const thrown = generatedVariable(param)
  out.write(`${thrown}){${stopCheckCode}const `)
  rewritePattern(rewriting, param, bindVariable(rewriting))
  out.copyTo(param.end)
  const check = rewriting.checkDefaults([param])
  out.write(`=${helpersVariable}.caught(${thrown});${check ? `${check};` : ""}`)
  out.skipTo(body.start + 1)
  rewriting.emitStatements(body.body)
}
