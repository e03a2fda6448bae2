// Turns a cell into JavaScript over the scope, ambient and guard objects: types removed, names resolved, guards added.
import type { AnyNode, BlockStatement } from "acorn"
import type { CompileOptions } from "../compile-cell.ts"
import { unwrapExpression } from "../destructuring.ts"
import { ambientVariable, createNameStorage, guardVariable } from "../name-storage.ts"
import { CellSyntaxError, eachChild, isTypeOnly, type ParsedCell } from "../parse-cell.ts"
import { analyseScope } from "../scope-analysis.ts"
import { positionAt } from "../text-positions.ts"
import { type CodeOutput, createCodeOutput } from "./code-output.ts"
import { defaultsCheckCode } from "./remote-default-checks.ts"
import { createRemoteCheckPlan } from "./remote-value-checks.ts"
import { rewriteAssignment, rewriteTarget } from "./rewrite-assignments.ts"
import { type RewriteContext, stopCheckCode } from "./rewrite-context.ts"
import { rewriteDeclaration, variableHolder } from "./rewrite-declarations.ts"
import { isNameless, rewriteClass, rewriteFunction } from "./rewrite-functions.ts"
import {
  loopDefaultsCheck,
  rewriteHandler,
  rewriteLoopBody,
  rewriteLoopStart,
  rewriteLoopTarget,
} from "./rewrite-loops.ts"
import { createNameRewriter } from "./rewrite-names.ts"
import { rewriteProgram } from "./rewrite-program.ts"
import { skipNode, stripTyped } from "./strip-types.ts"

export interface RewrittenCell {
  output: CodeOutput
  /** Statements before the output. */
  prologue: string
  hasValue: boolean
}

export function rewriteCell(cell: ParsedCell, options: CompileOptions): RewrittenCell {
  const { code, program } = cell
  const analysis = analyseScope(cell)
  const storage = createNameStorage(analysis, options)
  const out = createCodeOutput(code)
  let anonymousNode: AnyNode | undefined
  let anonymousName = ""
  const checkRemoteValues = options.checkRemoteValues === true
  const checks = createRemoteCheckPlan(checkRemoteValues)

  const context: RewriteContext = {
    code,
    out,
    storage,
    analysis,
    depth: 0,
    hoisted: "",
    emit,
    emitStatements,
    declare(node, holder) {
      checks.note(node)
      rewriteDeclaration(context, node, holder)
    },
    emitBlock,
    endStatement,
    emitNamed,
    noteChecks: checks.note,
    checkDefaults: (patterns, read) => (checkRemoteValues ? defaultsCheckCode(patterns, read) : undefined),
    fail(message, node) {
      throw new CellSyntaxError(message, positionAt(code, node.start))
    },
  }
  const names = createNameRewriter(context)
  const hasValue = rewriteProgram(context, program)
  return { output: out, prologue: storage.prologue() + context.hoisted, hasValue }

  function emit(node: AnyNode): void {
    const requiredChecks = checks.take(node)
    if (requiredChecks.length === 0) return emitNode(node)
    out.copyTo(node.start)
    for (const check of requiredChecks) out.write(`${guardVariable}.${check}(`)
    emitNode(node)
    out.copyTo(node.end)
    out.write(")".repeat(requiredChecks.length))
  }

  function emitNode(node: AnyNode): void {
    switch (node.type) {
      case "Identifier":
        return names.emitName(node)
      case "Literal":
      case "ThisExpression":
        return
      case "MemberExpression":
        emit(node.object)
        return node.computed ? emit(node.property) : undefined
      case "CallExpression":
      case "NewExpression":
        emit(node.callee)
        skipNode(out, node.typeArguments)
        return emitArguments(node.arguments)
      case "TaggedTemplateExpression":
        emit(node.tag)
        skipNode(out, node.typeArguments)
        return emit(node.quasi)
      case "TemplateLiteral":
        return emitAll(node.expressions)
      case "Property":
        if (node.shorthand && node.value.type === "Identifier") return names.emitShorthand(node.value)
        if (node.computed) emit(node.key)
        return emit(node.value)
      case "AssignmentExpression":
        return rewriteAssignment(context, node)
      case "UpdateExpression":
        return rewriteTarget(context, node.argument)
      case "UnaryExpression":
        return names.emitUnary(node)
      case "AwaitExpression":
        out.copyTo(node.start)
        out.write(`${guardVariable}.resume(`)
        emit(node.argument)
        out.copyTo(node.end)
        return out.write(")")
      case "ImportExpression":
        out.copyTo(node.start)
        out.write(`${ambientVariable}.import`)
        out.skipTo(node.start + "import".length)
        return eachChild(node, emit)
      case "MetaProperty":
        if (node.meta.name !== "import") return
        return context.fail("import.meta is not available in a cell, which is no file; use process.cwd()", node)
      case "ArrowFunctionExpression":
      case "FunctionExpression":
      case "ClassExpression":
        return node === anonymousNode ? emitWithName(node) : emitFunctionOrClass(node)
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "TSNonNullExpression":
      case "TSTypeAssertion":
      case "TSInstantiationExpression":
        return stripTyped(out, code, node, emit)
      case "ExpressionStatement":
        emit(node.expression)
        return endStatement(node)
      case "ReturnStatement":
      case "ThrowStatement":
        if (node.argument) emit(node.argument)
        return endStatement(node)
      case "BlockStatement":
        return emitStatements(node.body)
      case "SwitchCase":
        if (node.test) emit(node.test)
        return emitStatements(node.consequent)
      case "LabeledStatement":
        return emit(node.body)
      case "ForStatement":
        if (node.init) rewriteLoopStart(context, node.init)
        if (node.test) emit(node.test)
        if (node.update) emit(node.update)
        return rewriteLoopBody(context, node, loopDefaultsCheck(context, node.init))
      case "ForInStatement":
        rewriteLoopTarget(context, node.left)
        emit(node.right)
        return rewriteLoopBody(context, node)
      case "ForOfStatement": {
        rewriteLoopTarget(context, node.left)
        emit(node.right)
        const resumed = node.await ? `${guardVariable}.resume();` : ""
        return rewriteLoopBody(context, node, resumed + loopDefaultsCheck(context, node.left))
      }
      case "WhileStatement":
        emit(node.test)
        return rewriteLoopBody(context, node)
      case "DoWhileStatement":
        rewriteLoopBody(context, node)
        emit(node.test)
        return endStatement(node)
      case "TryStatement":
        emit(node.block)
        if (node.handler) rewriteHandler(context, node.handler)
        return node.finalizer ? emitBlock(node.finalizer, stopCheckCode) : undefined
      case "VariableDeclaration":
        return rewriteDeclaration(context, node, variableHolder(context, node))
      case "FunctionDeclaration":
      case "ClassDeclaration":
      case "TSEnumDeclaration":
      case "TSModuleDeclaration":
      case "TSImportEqualsDeclaration":
        return rewriteDeclaration(context, node, undefined)
      default:
        return eachChild(node, emit)
    }
  }

  function emitAll(nodes: readonly AnyNode[]): void {
    for (const node of nodes) emit(node)
  }

  // A function argument is usually called at once: parentheses make the engine compile it with the cell instead of
  // pre-parsing it first.
  function emitArguments(nodes: readonly AnyNode[]): void {
    for (const node of nodes) {
      const isFunction = node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression"
      if (isFunction) {
        out.copyTo(node.start)
        out.write("(")
      }
      emit(node)
      if (isFunction) {
        out.copyTo(node.end)
        out.write(")")
      }
    }
  }

  function emitStatements(nodes: readonly AnyNode[]): void {
    for (const node of nodes) {
      if (isTypeOnly(node)) skipNode(out, node)
      else emit(node)
    }
  }

  function emitBlock(node: BlockStatement, first: string): void {
    out.copyTo(node.start + 1)
    out.write(first)
    emitStatements(node.body)
  }

  function endStatement(node: AnyNode): void {
    out.copyTo(node.end)
    if (code[node.end - 1] !== ";") out.write(";")
  }

  function emitNamed(name: string, value: AnyNode): void {
    const inner = unwrapExpression(value)
    if (isNameless(inner) && name !== "__proto__") {
      anonymousNode = inner
      anonymousName = name
    }
    emit(value)
  }

  /** Assigning a function to a property does not name it, but a property in an object literal names its value. */
  function emitWithName(node: AnyNode): void {
    const name = anonymousName
    out.copyTo(node.start)
    out.write(`{${name}:`)
    emitFunctionOrClass(node)
    out.copyTo(node.end)
    out.write(`}.${name}`)
  }

  function emitFunctionOrClass(node: AnyNode): void {
    if (node.type === "ClassExpression") rewriteClass(context, node)
    if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") rewriteFunction(context, node)
  }
}
