import type {
  AnyNode,
  CatchClause,
  DoWhileStatement,
  ForInStatement,
  ForOfStatement,
  ForStatement,
  WhileStatement,
} from "acorn"
import { variableHome } from "./declarations.ts"
import { cellObject, memberObject } from "./homes.ts"
import { bindProperty, bindVariable, checkpoint, countdown, type Rewriting } from "./rewriting.ts"
import { copyName } from "./strip.ts"
import { rewritePattern, rewriteTarget } from "./targets.ts"

type Loop = ForStatement | ForInStatement | ForOfStatement | WhileStatement | DoWhileStatement

/** The body of a loop, as a block that begins with a guard. */
export function rewriteLoopBody(rewriting: Rewriting, loop: Loop, first = ""): void {
  const { out } = rewriting
  const node: AnyNode = loop.body
  const guard = first + countdown(loop)
  if (node.type === "BlockStatement") return rewriting.block(node, guard)
  out.copyTo(node.start)
  out.write(`{${guard}`)
  rewriting.emit(node)
  out.copyTo(node.end)
  out.write("}")
}

/** What a for-of or for-in loop sets at each turn. */
export function rewriteLoopTarget(rewriting: Rewriting, node: AnyNode): void {
  const { out } = rewriting
  if (node.type !== "VariableDeclaration") return rewriteTarget(rewriting, node)
  const home = variableHome(rewriting, node)
  for (const { id } of node.declarations) {
    if (home) {
      out.copyTo(node.start)
      out.skipTo(id.start)
    }
    rewritePattern(rewriting, id, home ? bindProperty(rewriting, home) : bindVariable(rewriting))
  }
}

/** A stopped cell must not go on in a handler, and what is caught there should speak of the cell's own code. */
export function rewriteHandler(rewriting: Rewriting, { param, body }: CatchClause): void {
  const { out, code } = rewriting
  if (!param) return rewriting.block(body, checkpoint)
  out.copyTo(param.start)
  if (param.type === "Identifier") {
    copyName(out, code, param)
    return rewriting.block(body, `${checkpoint}${cellObject}.caught(${param.name});`)
  }
  const thrown = memberObject(param)
  out.write(`${thrown}){${checkpoint}const `)
  rewritePattern(rewriting, param, bindVariable(rewriting))
  out.copyTo(param.end)
  out.write(`=${cellObject}.caught(${thrown});`)
  out.skipTo(body.start + 1)
  rewriting.statements(body.body)
}
