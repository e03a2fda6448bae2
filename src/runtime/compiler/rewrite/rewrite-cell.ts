// Turns a cell into JavaScript over the scope, ambient and guard objects: types removed, names resolved, guards added.
import type { AnyNode, BlockStatement, Identifier, UnaryExpression } from "acorn"
import type { CompileOptions } from "../compile-cell.ts"
import { unwrapExpression } from "../destructuring.ts"
import { ambientVariable, createNameStorage, guardVariable, helpersVariable, scopeVariable } from "../name-storage.ts"
import { CellSyntaxError, eachChild, isTypeOnly, type ParsedCell } from "../parse-cell.ts"
import { analyseScope } from "../scope-analysis.ts"
import { positionAt } from "../text-positions.ts"
import { type CodeOutput, createCodeOutput } from "./code-output.ts"
import { defaultsCheckCode } from "./remote-default-checks.ts"
import { createRemoteCheckPlan } from "./remote-value-checks.ts"
import { rewriteAssignment, rewriteTarget } from "./rewrite-assignments.ts"
import { type RewriteContext, stopCheckCode } from "./rewrite-context.ts"
import { rewriteDeclaration, variableStorage } from "./rewrite-declarations.ts"
import { isNameless, rewriteClass, rewriteFunction } from "./rewrite-functions.ts"
import {
  loopDefaultsCheck,
  rewriteHandler,
  rewriteLoopBody,
  rewriteLoopStart,
  rewriteLoopTarget,
} from "./rewrite-loops.ts"
import { rewriteProgram } from "./rewrite-program.ts"
import { copyNameWithoutType, skipNode, stripTyped } from "./strip-types.ts"

export interface RewrittenCell {
  output: CodeOutput
  /** Statements before the output. */
  prologue: string
  hasValue: boolean
}

export function rewriteCell(cell: ParsedCell, options: CompileOptions): RewrittenCell {
  const { code, program } = cell
  const analysis = analyseScope(cell)
  const homes = createNameStorage(analysis, options)
  const out = createCodeOutput(code)
  let nameless: AnyNode | undefined
  let nextName = ""
  let peeked: AnyNode | undefined
  let deleted: AnyNode | undefined
  const checkRemoteValues = options.checkRemoteValues === true
  const checks = createRemoteCheckPlan(checkRemoteValues)

  const rewriting: RewriteContext = {
    code,
    out,
    storage: homes,
    analysis,
    depth: 0,
    hoisted: "",
    emit,
    emitStatements: statements,
    declare(node, home) {
      checks.note(node)
      rewriteDeclaration(rewriting, node, home)
    },
    emitBlock: block,
    endStatement: terminate,
    emitNamed: named,
    noteChecks: checks.note,
    checkDefaults: (patterns, read) => (checkRemoteValues ? defaultsCheckCode(patterns, read) : undefined),
    fail(message, node) {
      throw new CellSyntaxError(message, positionAt(code, node.start))
    },
  }
  const hasValue = rewriteProgram(rewriting, program)
  return { output: out, prologue: homes.prologue() + rewriting.hoisted, hasValue }

  function emit(node: AnyNode): void {
    const needed = checks.take(node)
    if (needed.length === 0) return emitNode(node)
    out.copyTo(node.start)
    for (const check of needed) out.write(`${guardVariable}.${check}(`)
    emitNode(node)
    out.copyTo(node.end)
    out.write(")".repeat(needed.length))
  }

  function emitNode(node: AnyNode): void {
    switch (node.type) {
      case "Identifier":
        return name(node)
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
        if (node.shorthand && node.value.type === "Identifier") return shorthand(node.value)
        if (node.computed) emit(node.key)
        return emit(node.value)
      case "AssignmentExpression":
        return rewriteAssignment(rewriting, node)
      case "UpdateExpression":
        return rewriteTarget(rewriting, node.argument)
      case "UnaryExpression":
        return unary(node)
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
        return rewriting.fail("import.meta is not available in a cell, which is no file; use process.cwd()", node)
      case "ArrowFunctionExpression":
      case "FunctionExpression":
      case "ClassExpression":
        return node === nameless ? withName(node) : functionOrClass(node)
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "TSNonNullExpression":
      case "TSTypeAssertion":
      case "TSInstantiationExpression":
        return stripTyped(out, code, node, emit)
      case "ExpressionStatement":
        emit(node.expression)
        return terminate(node)
      case "ReturnStatement":
      case "ThrowStatement":
        if (node.argument) emit(node.argument)
        return terminate(node)
      case "BlockStatement":
        return statements(node.body)
      case "SwitchCase":
        if (node.test) emit(node.test)
        return statements(node.consequent)
      case "LabeledStatement":
        return emit(node.body)
      case "ForStatement":
        if (node.init) rewriteLoopStart(rewriting, node.init)
        if (node.test) emit(node.test)
        if (node.update) emit(node.update)
        return rewriteLoopBody(rewriting, node, loopDefaultsCheck(rewriting, node.init))
      case "ForInStatement":
        rewriteLoopTarget(rewriting, node.left)
        emit(node.right)
        return rewriteLoopBody(rewriting, node)
      case "ForOfStatement": {
        rewriteLoopTarget(rewriting, node.left)
        emit(node.right)
        const resumed = node.await ? `${guardVariable}.resume();` : ""
        return rewriteLoopBody(rewriting, node, resumed + loopDefaultsCheck(rewriting, node.left))
      }
      case "WhileStatement":
        emit(node.test)
        return rewriteLoopBody(rewriting, node)
      case "DoWhileStatement":
        rewriteLoopBody(rewriting, node)
        emit(node.test)
        return terminate(node)
      case "TryStatement":
        emit(node.block)
        if (node.handler) rewriteHandler(rewriting, node.handler)
        return node.finalizer ? block(node.finalizer, stopCheckCode) : undefined
      case "VariableDeclaration":
        return rewriteDeclaration(rewriting, node, variableStorage(rewriting, node))
      case "FunctionDeclaration":
      case "ClassDeclaration":
      case "TSEnumDeclaration":
      case "TSModuleDeclaration":
      case "TSImportEqualsDeclaration":
        return rewriteDeclaration(rewriting, node, undefined)
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

  function statements(nodes: readonly AnyNode[]): void {
    for (const node of nodes) {
      if (isTypeOnly(node)) skipNode(out, node)
      else emit(node)
    }
  }

  function block(node: BlockStatement, first: string): void {
    out.copyTo(node.start + 1)
    out.write(first)
    statements(node.body)
  }

  function terminate(node: AnyNode): void {
    out.copyTo(node.end)
    if (code[node.end - 1] !== ";") out.write(";")
  }

  function homeOf(node: Identifier): string | undefined {
    const reference = analysis.references.get(node)
    return reference && homes.objectOf(reference)
  }

  function name(node: Identifier): void {
    const reference = analysis.references.get(node)
    if (!reference) return copyNameWithoutType(out, code, node)
    const home = node === deleted ? scopeVariable : homes.objectOf(reference)
    if (!home) return plainName(node, homes.selfObject(reference))
    out.copyTo(node.start)
    if (node === peeked) {
      out.write(`${helpersVariable}.peek(${scopeVariable},"${node.name}")`)
      return out.skipTo(node.end)
    }
    // A plain call of a property would pass the object as `this`.
    out.write(reference.call ? `(0,${home}.` : `${home}.`)
    copyNameWithoutType(out, code, node)
    if (!reference.call) return
    out.write(")")
    // The engine reports the position of such a call at its parenthesis.
    out.mapNextCharacterTo(node.start)
  }

  function plainName(node: Identifier, instead: string | undefined): void {
    if (!instead) return copyNameWithoutType(out, code, node)
    out.copyTo(node.start)
    out.write(instead)
    out.skipTo(node.end)
  }

  function shorthand(node: Identifier): void {
    const reference = analysis.references.get(node)
    if (!reference || !(homes.objectOf(reference) ?? homes.selfObject(reference))) return
    out.copyTo(node.start)
    // As a plain key, `__proto__` would set the prototype.
    out.write(node.name === "__proto__" ? `["__proto__"]:` : `${node.name}:`)
    name(node)
  }

  function unary({ operator, argument }: UnaryExpression): void {
    const operand = unwrapExpression(argument)
    if (operand.type !== "Identifier") return emit(argument)
    // `typeof` of a missing name is no error.
    if (operator === "typeof" && homeOf(operand) === scopeVariable) peeked = operand
    if (operator === "delete") {
      const scope = analysis.references.get(operand)?.scope
      if (scope && scope !== analysis.cell) rewriting.fail("A local variable cannot be deleted", operand)
      deleted = operand
    }
    emit(argument)
  }

  function named(name: string, value: AnyNode): void {
    const inner = unwrapExpression(value)
    if (isNameless(inner) && name !== "__proto__") {
      nameless = inner
      nextName = name
    }
    emit(value)
  }

  /** Assigning a function to a property does not name it, but a property in an object literal names its value. */
  function withName(node: AnyNode): void {
    const name = nextName
    out.copyTo(node.start)
    out.write(`{${name}:`)
    functionOrClass(node)
    out.copyTo(node.end)
    out.write(`}.${name}`)
  }

  function functionOrClass(node: AnyNode): void {
    if (node.type === "ClassExpression") rewriteClass(rewriting, node)
    if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") rewriteFunction(rewriting, node)
  }
}
