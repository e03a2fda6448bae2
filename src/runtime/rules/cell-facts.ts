// Collects the modules that a cell loads, and the outside names and members that it uses, for all rules.
import type { AnyNode, AssignmentExpression, CallExpression, Identifier, ImportDeclaration, NewExpression } from "acorn"
import { innerExpression } from "../compiler/destructuring.ts"
import { eachChild, isTypeOnly, type ParsedCell } from "../compiler/parse-cell.ts"
import { analyseScope, type Declaration } from "../compiler/scope-analysis.ts"
import { memberNameReads, memberReads, memberWrites, moduleLoaders, objectWrites } from "./builtin-calls.ts"
import { createNamePaths, memberPath, pathAfterAwait } from "./name-paths.ts"
import { promisePrefix } from "./path-names.ts"
import { isThisConstructor, setsPrototype } from "./syntax-forms.ts"

export interface CellFacts {
  /** Uses of names that the cell does not declare, by path. */
  names: NameUse[]
  /** The modules it loads, by any kind of import or loader. */
  imports: ModuleUse[]
  /** The members of any object that it reads, writes or destructures. */
  members: MemberUse[]
}

export interface NameUse {
  /** Dotted and normalized: `eval` for `globalThis["ev" + "al"]`. The constructor of any value is `(constructor)`, its
   *  prototype `(prototype)`. */
  path: string
  node: AnyNode
  /** `value`: passed where it cannot be followed. `computed`: an unknown member of it is used. `alias`: it gets another
   *  name, whose uses are recorded under the same path. `test`: only compared, or its type is read. */
  use: "call" | "value" | "computed" | "alias" | "test" | "write"
}

export interface ModuleUse {
  /** Undefined if it cannot be determined from the code. */
  specifier: string | undefined
  node: AnyNode
}

export interface MemberUse {
  name: string
  node: AnyNode
}

const testOperators = new Set(["===", "!==", "==", "!=", "instanceof", "in"])

export function collectCellFacts(cell: ParsedCell): CellFacts {
  const scopes = analyseScope(cell)
  const paths = createNamePaths(scopes)
  const names: NameUse[] = []
  const imports: ModuleUse[] = []
  const members: MemberUse[] = []
  let declarations: Map<Identifier, Declaration> | undefined
  /** How many functions enclose the node. Code in a function may run in a later cell. */
  let functionDepth = 0
  /** True if `this` is an instance, so that its constructor is a class and not `Function`. */
  let isThisInstance = false

  for (const statement of cell.program.body) visitAndRecord(statement)
  return { names, imports, members }

  /** Visits a node and records its value; `as` says how the value is used. */
  function visitAndRecord(node: AnyNode, as: NameUse["use"] = "value"): undefined {
    return record(node, visit(node), as)
  }

  function write(node: AnyNode): undefined {
    if (node.type !== "MemberExpression") return visitAndRecord(node, "write")
    const object = visit(node.object)
    if (node.computed) visitAndRecord(node.property)
    return writeMember(node, object, paths.key(node.computed, node.property), node.property)
  }

  /** Records everything below a node and returns the node's path. The caller records how the node itself is used. */
  function visit(node: AnyNode): string | undefined {
    const inner = innerExpression(node)
    if (inner) return visit(inner)
    switch (node.type) {
      case "Identifier":
        return paths.of(node)
      case "MemberExpression": {
        const object = visit(node.object)
        if (node.computed) visitAndRecord(node.property)
        return member(object, paths.key(node.computed, node.property), node.property)
      }
      case "CallExpression":
        return paths.ofCall(node, visitCall(node))
      case "NewExpression":
        if (isThisInstance && isThisConstructor(node.callee))
          for (const argument of node.arguments) visitAndRecord(argument)
        else visitCall(node)
        return undefined
      case "TaggedTemplateExpression":
        visitAndRecord(node.tag, "call")
        return visitAndRecord(node.quasi)
      case "AwaitExpression":
        return pathAfterAwait(visit(node.argument))
      case "SequenceExpression": {
        for (const expression of node.expressions.slice(0, -1)) visitAndRecord(expression, "test")
        const last = node.expressions.at(-1)
        return last && visit(last)
      }
      case "UnaryExpression":
        if (node.operator === "delete") return write(node.argument)
        return visitAndRecord(node.argument, node.operator === "typeof" ? "test" : "value")
      case "UpdateExpression":
        return write(node.argument)
      case "BinaryExpression": {
        const as = testOperators.has(node.operator) ? "test" : "value"
        visitAndRecord(node.left, as)
        return visitAndRecord(node.right, as)
      }
      case "AssignmentExpression":
        return visitAssignment(node)
      case "VariableDeclarator":
        return node.init ? bindPattern(node.id, visit(node.init), node.init) : bindPattern(node.id, undefined)
      case "ObjectPattern":
      case "ArrayPattern":
        return bindPattern(node, undefined)
      case "ForInStatement":
      case "ForOfStatement":
        if (node.left.type === "VariableDeclaration") visitAndRecord(node.left)
        else bindPattern(node.left, undefined)
        visitAndRecord(node.right, node.type === "ForInStatement" ? "test" : "value")
        return visitAndRecord(node.body)
      case "SwitchStatement":
        visitAndRecord(node.discriminant, "test")
        for (const { test, consequent } of node.cases) {
          if (test) visitAndRecord(test, "test")
          for (const statement of consequent) visitAndRecord(statement)
        }
        return undefined
      case "Property":
        if (node.computed) visitAndRecord(node.key)
        else if (setsPrototype(node)) members.push({ name: "__proto__", node: node.key })
        return visitAndRecord(node.value)
      case "MethodDefinition":
        if (node.computed) visitAndRecord(node.key)
        return visitFunction(node.value, !node.static)
      case "FunctionDeclaration":
      case "FunctionExpression":
        return visitFunction(node, false)
      case "ArrowFunctionExpression":
        return visitFunction(node, isThisInstance)
      case "PropertyDefinition":
        return visitFunction(node, !node.static)
      case "StaticBlock":
        return visitFunction(node, false)
      case "TemplateLiteral":
        for (const expression of node.expressions) visitAndRecord(expression)
        return undefined
      case "ImportExpression":
        visitAndRecord(node.source)
        if (node.options) visitAndRecord(node.options)
        recordImport(node, node.source)
        return paths.of(node)
      case "ImportDeclaration":
        return visitImport(node)
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration":
        if (isTypeOnly(node)) return
        if (node.source) imports.push({ specifier: String(node.source.value), node })
        eachChild(node, visitAndRecord)
        return undefined
      case "TSImportEqualsDeclaration":
        if (node.importKind === "type") return
        if (node.moduleReference.type === "TSExternalModuleReference") {
          imports.push({ specifier: String(node.moduleReference.expression.value), node })
        }
        return bindPattern(node.id, paths.of(node.moduleReference))
      default:
        eachChild(node, visitAndRecord)
        return undefined
    }
  }

  function visitFunction(node: AnyNode, ofInstance: boolean): undefined {
    const before = isThisInstance
    isThisInstance = ofInstance
    functionDepth++
    eachChild(node, visitAndRecord)
    functionDepth--
    isThisInstance = before
  }

  /** Returns the path of the callee. */
  function visitCall(node: CallExpression | NewExpression): string | undefined {
    const callee = visit(node.callee)
    const [first, ...rest] = node.arguments
    if (callee !== undefined && moduleLoaders.has(callee)) recordImport(node, first)
    else record(node.callee, callee, "call")
    if (first) visitFirstArgument(node, callee ?? "", first, rest[0])
    for (const argument of rest) visitAndRecord(argument)
    return callee
  }

  function visitFirstArgument(node: AnyNode, callee: string, first: AnyNode, second: AnyNode | undefined): void {
    if (objectWrites.has(callee)) record(node, visit(first), "write")
    else if (memberNameReads.has(callee)) visitAndRecord(first, "test")
    else if (memberReads.has(callee)) member(visit(first), paths.constant(second), second ?? first)
    else if (memberWrites.has(callee)) writeMember(node, visit(first), paths.constant(second), second ?? first)
    else visitAndRecord(first)
  }

  function recordImport(node: AnyNode, name: AnyNode | undefined): void {
    imports.push({ specifier: mayChangeLater(name) ? undefined : paths.constant(name), node })
  }

  /** Returns true if a constant string may have another value when the code runs. */
  function mayChangeLater(node: AnyNode | undefined): boolean {
    return functionDepth > 0 && paths.constant(node) !== undefined && paths.changeable(node)
  }

  function visitAssignment({ left, right }: AssignmentExpression): undefined {
    const value = visit(right)
    if (left.type === "ObjectPattern" || left.type === "ArrayPattern") return bindPattern(left, value)
    write(left)
    return record(right, value, "value")
  }

  function visitImport(node: ImportDeclaration): undefined {
    if (isTypeOnly(node)) return
    imports.push({ specifier: String(node.source.value), node })
    const module = paths.of(node)
    for (const specifier of node.specifiers) {
      if (isTypeOnly(specifier)) continue
      if (specifier.type !== "ImportSpecifier") bindPattern(specifier.local, module)
      else bindPattern(specifier.local, member(module, paths.key(false, specifier.imported), specifier))
    }
  }

  /** Records the assignment of a value to a pattern. */
  function bindPattern(pattern: AnyNode, value: string | undefined, at = pattern): undefined {
    switch (pattern.type) {
      case "ObjectPattern":
        for (const property of pattern.properties) {
          if (property.type === "RestElement") {
            record(property, value, "value")
            bindPattern(property.argument, undefined)
            continue
          }
          if (property.computed) visitAndRecord(property.key)
          bindPattern(property.value, member(value, paths.key(property.computed, property.key), property.key))
        }
        return
      case "ArrayPattern":
        record(pattern, value, "value")
        for (const element of pattern.elements) if (element) bindPattern(element, undefined)
        return
      case "AssignmentPattern":
        visitAndRecord(pattern.right)
        return bindPattern(pattern.left, value)
      case "RestElement":
        return bindPattern(pattern.argument, undefined)
      default:
        if (value !== undefined) record(at, value, canFollowVariable(pattern, value) ? "alias" : "value")
        return write(pattern)
    }
  }

  function member(object: string | undefined, key: string | undefined, node: AnyNode): string | undefined {
    if (key === undefined || mayChangeLater(node)) record(node, object, "computed")
    if (key !== undefined) members.push({ name: key, node })
    return memberPath(object, key)
  }

  /** If the member is unknown, the whole object counts as written. */
  function writeMember(node: AnyNode, object: string | undefined, key: string | undefined, name: AnyNode): undefined {
    if (key === undefined) return record(node, object, "write")
    members.push({ name: key, node: name })
    return record(node, memberPath(object, key), "write")
  }

  function record(node: AnyNode, path: string | undefined, as: NameUse["use"]): undefined {
    if (path === undefined) return
    if (!path.startsWith(promisePrefix)) names.push({ path, node, use: as })
    // The value of a promise is followed only through `await`.
    else
      names.push({
        path: path.slice(promisePrefix.length).replace(/\..*/, ""),
        node,
        use: as === "alias" ? as : "value",
      })
  }

  /** Returns true if every use of a variable is visible: it is never reassigned, and if it outlives the cell, it has
   *  the same name as the outside value. */
  function canFollowVariable(node: AnyNode, path: string): boolean {
    if (node.type !== "Identifier" || scopes.references.has(node)) return false
    if (scopes.cell.names?.get(node.name)?.node === node) return node.name === path
    declarations ??= new Map(
      [...scopes.references.values()].flatMap(({ declaration }) =>
        declaration?.node ? [[declaration.node, declaration]] : [],
      ),
    )
    return !declarations.get(node)?.references.some(({ write }) => write)
  }
}
