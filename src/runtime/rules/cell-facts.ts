import type { AnyNode, AssignmentExpression, CallExpression, Identifier, ImportDeclaration, NewExpression } from "acorn"
import { eachChild, isTypeOnly, type ParsedCell } from "../compiler/parse-cell.ts"
import { analyseScope, type Declaration } from "../compiler/scope-analysis.ts"
import { memberNameReads, memberReads, memberWrites, moduleLoaders, objectWrites } from "./builtin-calls.ts"
import { createNamePaths, memberPath, pathAfterAwait } from "./name-paths.ts"
import { promisePrefix } from "./path-names.ts"
import { isThisConstructor, setsPrototype } from "./syntax-forms.ts"

/** What a cell does with what it did not make itself, found in one walk for all rules. */
export interface CellFacts {
  /** Uses of names from outside, by the path they stand for. */
  names: NameUse[]
  /** Modules it loads, in whatever way. */
  imports: ModuleUse[]
  /** Members it reads, writes or takes out by a pattern, of anything. */
  members: MemberUse[]
}

export interface NameUse {
  /** Dotted, without detours: `eval` for `globalThis["ev" + "al"]`. The constructor of anything is `(constructor)`, its
   *  prototype `(prototype)`. */
  path: string
  node: AnyNode
  /** `value`: it goes where it cannot be followed. `computed`: a member of it is, but which one is not known. `alias`: it
   *  gets another name, whose uses are here under the same path. `test`: it is only compared or asked for its type. */
  use: "call" | "value" | "computed" | "alias" | "test" | "write"
}

export interface ModuleUse {
  /** Undefined when only the running program knows it. */
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
  /** How many functions stand around the node: what is in one may run in a later cell. */
  let depth = 0
  /** Whether `this` is an instance, so that its constructor is a class and not `Function`. */
  let inInstance = false

  for (const statement of cell.program.body) use(statement)
  return { names, imports, members }

  /** Visits a node; `as` says what becomes of its value. */
  function use(node: AnyNode, as: NameUse["use"] = "value"): undefined {
    return note(node, visit(node), as)
  }

  function write(node: AnyNode): undefined {
    if (node.type !== "MemberExpression") return use(node, "write")
    const object = visit(node.object)
    if (node.computed) use(node.property)
    return writeMember(node, object, paths.key(node.computed, node.property), node.property)
  }

  /** Notes everything below a node and gives its path, for whoever stands around it to say how it is used. */
  function visit(node: AnyNode): string | undefined {
    switch (node.type) {
      case "Identifier":
        return paths.of(node)
      case "MemberExpression": {
        const object = visit(node.object)
        if (node.computed) use(node.property)
        return member(object, paths.key(node.computed, node.property), node.property)
      }
      case "CallExpression":
        return paths.ofCall(node, visitCall(node))
      case "NewExpression":
        if (inInstance && isThisConstructor(node.callee)) for (const argument of node.arguments) use(argument)
        else visitCall(node)
        return undefined
      case "TaggedTemplateExpression":
        use(node.tag, "call")
        return use(node.quasi)
      case "AwaitExpression":
        return pathAfterAwait(visit(node.argument))
      case "ChainExpression":
      case "ParenthesizedExpression":
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "TSNonNullExpression":
      case "TSTypeAssertion":
      case "TSInstantiationExpression":
        return visit(node.expression)
      case "SequenceExpression": {
        for (const expression of node.expressions.slice(0, -1)) use(expression, "test")
        const last = node.expressions.at(-1)
        return last && visit(last)
      }
      case "UnaryExpression":
        if (node.operator === "delete") return write(node.argument)
        return use(node.argument, node.operator === "typeof" ? "test" : "value")
      case "UpdateExpression":
        return write(node.argument)
      case "BinaryExpression": {
        const as = testOperators.has(node.operator) ? "test" : "value"
        use(node.left, as)
        return use(node.right, as)
      }
      case "AssignmentExpression":
        return visitAssignment(node)
      case "VariableDeclarator":
        return node.init ? bind(node.id, visit(node.init), node.init) : bind(node.id, undefined)
      case "ObjectPattern":
      case "ArrayPattern":
        return bind(node, undefined)
      case "ForInStatement":
      case "ForOfStatement":
        if (node.left.type === "VariableDeclaration") use(node.left)
        else bind(node.left, undefined)
        use(node.right, node.type === "ForInStatement" ? "test" : "value")
        return use(node.body)
      case "SwitchStatement":
        use(node.discriminant, "test")
        for (const { test, consequent } of node.cases) {
          if (test) use(test, "test")
          for (const statement of consequent) use(statement)
        }
        return undefined
      case "Property":
        if (node.computed) use(node.key)
        else if (setsPrototype(node)) members.push({ name: "__proto__", node: node.key })
        return use(node.value)
      case "MethodDefinition":
        if (node.computed) use(node.key)
        return visitFunction(node.value, !node.static)
      case "FunctionDeclaration":
      case "FunctionExpression":
        return visitFunction(node, false)
      case "ArrowFunctionExpression":
        return visitFunction(node, inInstance)
      case "PropertyDefinition":
        return visitFunction(node, !node.static)
      case "StaticBlock":
        return visitFunction(node, false)
      case "TemplateLiteral":
        for (const expression of node.expressions) use(expression)
        return undefined
      case "ImportExpression":
        use(node.source)
        if (node.options) use(node.options)
        load(node, node.source)
        return paths.of(node)
      case "ImportDeclaration":
        return visitImport(node)
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration":
        if (isTypeOnly(node)) return
        if (node.source) imports.push({ specifier: String(node.source.value), node })
        eachChild(node, use)
        return undefined
      case "TSImportEqualsDeclaration":
        if (node.importKind === "type") return
        if (node.moduleReference.type === "TSExternalModuleReference") {
          imports.push({ specifier: String(node.moduleReference.expression.value), node })
        }
        return bind(node.id, paths.of(node.moduleReference))
      default:
        eachChild(node, use)
        return undefined
    }
  }

  function visitFunction(node: AnyNode, ofInstance: boolean): undefined {
    const before = inInstance
    inInstance = ofInstance
    depth++
    eachChild(node, use)
    depth--
    inInstance = before
  }

  /** Gives the path of what is called. */
  function visitCall(node: CallExpression | NewExpression): string | undefined {
    const callee = visit(node.callee)
    const [first, ...rest] = node.arguments
    if (callee !== undefined && moduleLoaders.has(callee)) load(node, first)
    else note(node.callee, callee, "call")
    if (first) visitFirst(node, callee ?? "", first, rest[0])
    for (const argument of rest) use(argument)
    return callee
  }

  function visitFirst(node: AnyNode, callee: string, first: AnyNode, second: AnyNode | undefined): void {
    if (objectWrites.has(callee)) note(node, visit(first), "write")
    else if (memberNameReads.has(callee)) use(first, "test")
    else if (memberReads.has(callee)) member(visit(first), paths.constant(second), second ?? first)
    else if (memberWrites.has(callee)) writeMember(node, visit(first), paths.constant(second), second ?? first)
    else use(first)
  }

  function load(node: AnyNode, name: AnyNode | undefined): void {
    imports.push({ specifier: isLoose(name) ? undefined : paths.constant(name), node })
  }

  /** Whether a text may be another one by the time it is used. */
  function isLoose(node: AnyNode | undefined): boolean {
    return depth > 0 && paths.constant(node) !== undefined && paths.changeable(node)
  }

  function visitAssignment({ left, right }: AssignmentExpression): undefined {
    const value = visit(right)
    if (left.type === "ObjectPattern" || left.type === "ArrayPattern") return bind(left, value)
    write(left)
    return note(right, value, "value")
  }

  function visitImport(node: ImportDeclaration): undefined {
    if (isTypeOnly(node)) return
    imports.push({ specifier: String(node.source.value), node })
    const module = paths.of(node)
    for (const specifier of node.specifiers) {
      if (isTypeOnly(specifier)) continue
      if (specifier.type !== "ImportSpecifier") bind(specifier.local, module)
      else bind(specifier.local, member(module, paths.key(false, specifier.imported), specifier))
    }
  }

  /** Follows a value into the names and places of a pattern. */
  function bind(pattern: AnyNode, value: string | undefined, at = pattern): undefined {
    switch (pattern.type) {
      case "ObjectPattern":
        for (const property of pattern.properties) {
          if (property.type === "RestElement") {
            note(property, value, "value")
            bind(property.argument, undefined)
            continue
          }
          if (property.computed) use(property.key)
          bind(property.value, member(value, paths.key(property.computed, property.key), property.key))
        }
        return
      case "ArrayPattern":
        note(pattern, value, "value")
        for (const element of pattern.elements) if (element) bind(element, undefined)
        return
      case "AssignmentPattern":
        use(pattern.right)
        return bind(pattern.left, value)
      case "RestElement":
        return bind(pattern.argument, undefined)
      default:
        if (value !== undefined) note(at, value, canFollow(pattern, value) ? "alias" : "value")
        return write(pattern)
    }
  }

  function member(object: string | undefined, key: string | undefined, node: AnyNode): string | undefined {
    if (key === undefined || isLoose(node)) note(node, object, "computed")
    if (key !== undefined) members.push({ name: key, node })
    return memberPath(object, key)
  }

  /** Where the member is not known, the object as a whole counts as written to. */
  function writeMember(node: AnyNode, object: string | undefined, key: string | undefined, name: AnyNode): undefined {
    if (key === undefined) return note(node, object, "write")
    members.push({ name: key, node: name })
    return note(node, memberPath(object, key), "write")
  }

  function note(node: AnyNode, path: string | undefined, as: NameUse["use"]): undefined {
    if (path === undefined) return
    if (!path.startsWith(promisePrefix)) names.push({ path, node, use: as })
    // What a promise gives is followed through `await` alone.
    else
      names.push({
        path: path.slice(promisePrefix.length).replace(/\..*/, ""),
        node,
        use: as === "alias" ? as : "value",
      })
  }

  /** Whether every use of this variable will be seen: it is never assigned again, and where it outlives the cell, later
   *  cells find it under its own name. */
  function canFollow(node: AnyNode, path: string): boolean {
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
