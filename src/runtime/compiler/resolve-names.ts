// Resolves the names of a cell: finds all declarations and references, then links each reference to its declaration.
import type { AnyNode, Class, Function as FunctionNode, Identifier, ImportDeclaration, Pattern, Program } from "acorn"
import { forEachTarget, unwrapExpression } from "./destructuring.ts"
import { eachChild, isTypeOnly } from "./parse-cell.ts"
import type { Declaration, DeclarationKind, LexicalScope, Path, Reference, ScopeAnalysis } from "./scope-analysis.ts"
import type { EnumDeclaration, ImportEquals, NamespaceDeclaration } from "./typescript-ast.ts"

export function resolveNames(program: Program): ScopeAnalysis {
  const cell: LexicalScope = createLexicalScope("cell", program, undefined)
  const references = new Map<Identifier, Reference>()
  const continued = new Set<Identifier>()
  const referenceScopes: LexicalScope[] = []
  let scope = cell
  let isExporting = false

  visitAll(program.body)
  let index = 0
  for (const reference of references.values()) resolve(reference, referenceScopes[index++])
  return { cell, references, continued }

  function visit(node: AnyNode): void {
    switch (node.type) {
      case "Identifier":
        return addReference(node, { read: true })
      case "MemberExpression":
        visit(node.object)
        if (node.computed) visit(node.property)
        return
      case "CallExpression":
      case "NewExpression":
        visitCallee(node.callee)
        return visitAll(node.arguments)
      case "TaggedTemplateExpression":
        visitCallee(node.tag)
        return visit(node.quasi)
      case "TemplateLiteral":
        return visitAll(node.expressions)
      case "AssignmentExpression":
        assign(node.left, node.operator === "=" ? { write: true, value: node.right } : { read: true, write: true })
        return visit(node.right)
      case "UpdateExpression":
        return assign(node.argument, { read: true, write: true })
      case "VariableDeclaration":
        if (node.declare) return
        for (const { id, init } of node.declarations) {
          declare(id, node.kind, init ?? undefined)
          if (init) visit(init)
        }
        return
      case "FunctionDeclaration":
        if (node.id) add(node.id, "function", node)
        return visitFunction(node)
      case "FunctionExpression":
        if (!node.id) return visitFunction(node)
        return within("block", node, () => {
          if (node.id) add(node.id, "function", node)
          visitFunction(node)
        })
      case "ArrowFunctionExpression":
        return visitFunction(node)
      case "ClassDeclaration":
        if (node.declare) return
        if (node.id) add(node.id, "class", node)
        return visitClass(node)
      case "ClassExpression":
        return visitClass(node)
      case "Property":
      case "MethodDefinition":
        if (node.computed) visit(node.key)
        return visit(node.value)
      case "PropertyDefinition": {
        if (node.declare) return
        if (node.computed) visit(node.key)
        const { value } = node
        return value ? within("function", node, () => visit(value)) : undefined
      }
      case "StaticBlock":
        return within("function", node, () => visitAll(node.body))
      case "BlockStatement":
      case "SwitchStatement":
      case "ForStatement":
        return within("block", node, () => eachChild(node, visit))
      case "ForInStatement":
      case "ForOfStatement":
        return within("block", node, () => {
          if (node.left.type === "VariableDeclaration") visit(node.left)
          else assign(node.left, { write: true })
          visit(node.right)
          visit(node.body)
        })
      case "CatchClause":
        return within("block", node, () => {
          if (node.param) declare(node.param, "catch")
          visit(node.body)
        })
      case "LabeledStatement":
        return visit(node.body)
      case "BreakStatement":
      case "ContinueStatement":
      case "MetaProperty":
      case "ExportAllDeclaration":
        return
      case "ImportDeclaration":
        return declareImport(node)
      case "ExportNamedDeclaration":
        if (!node.declaration) return
        isExporting = true
        visit(node.declaration)
        isExporting = false
        return
      case "TSEnumDeclaration":
        return node.declare ? undefined : visitEnum(node)
      case "TSModuleDeclaration":
        return node.declare ? undefined : visitNamespace(node)
      case "TSImportEqualsDeclaration":
        return declareImportEquals(node)
      default:
        if (!isTypeOnly(node)) eachChild(node, visit)
    }
  }

  function visitAll(nodes: readonly AnyNode[]): void {
    for (const node of nodes) visit(node)
  }

  function visitCallee(callee: AnyNode): void {
    const target = unwrapExpression(callee)
    if (target.type === "Identifier") addReference(target, { read: true, call: true })
    else visit(target)
  }

  function visitFunction(node: FunctionNode): void {
    const kind = node.type === "ArrowFunctionExpression" ? "arrow" : "function"
    within(kind, node as AnyNode, () => {
      for (const param of node.params) declare(param, "parameter")
      const body = () => (node.body.type === "BlockStatement" ? visitAll(node.body.body) : visit(node.body))
      // Default values do not see declarations of the body.
      if (node.params.every((param) => param.type === "Identifier")) body()
      else within("arrow", node.body, body)
    })
  }

  function visitClass(node: Class): void {
    within("class", node as AnyNode, () => {
      if (node.id) add(node.id, "class", node as AnyNode)
      if (node.superClass) visit(node.superClass)
      visitAll(node.body.body)
    })
  }

  function visitEnum(node: EnumDeclaration): void {
    const declaration = add(node.id, "enum", node)
    within("enum", node, () => {
      scope.self = declaration
      for (const { id, initializer } of node.members) {
        if (initializer) visit(initializer)
        if (id.type === "Identifier") addTo(membersOf(declaration), id, "enum member", initializer)
      }
    })
  }

  function visitNamespace(node: NamespaceDeclaration): void {
    const { id, body } = node
    if (id.type !== "Identifier" || !body) return
    const declaration = add(id, "namespace", node)
    within("namespace", body, () => {
      scope.self = declaration
      isExporting = body.type === "TSModuleDeclaration"
      if (body.type === "TSModuleDeclaration") visit(body)
      else visitAll(body.body)
    })
  }

  function declareImport(node: ImportDeclaration): void {
    if (node.importKind === "type") return
    for (const specifier of node.specifiers) {
      if (specifier.type === "ImportNamespaceSpecifier") add(specifier.local, "import", node)
      else if (specifier.type === "ImportDefaultSpecifier") add(specifier.local, "import", node, ["default"])
      else if (specifier.importKind !== "type") {
        const { imported } = specifier
        const name = imported.type === "Identifier" ? imported.name : String(imported.value)
        add(specifier.local, "import", node, [name])
      }
    }
  }

  function declareImportEquals(node: ImportEquals): void {
    if (node.importKind === "type") return
    isExporting = node.isExport
    add(node.id, "import", node.moduleReference)
    isExporting = false
    let name: AnyNode = node.moduleReference
    while (name.type === "TSQualifiedName") name = name.left
    if (name.type === "Identifier") addReference(name, { read: true })
  }

  function declare(pattern: Pattern, kind: DeclarationKind, init?: AnyNode): void {
    if (pattern.type === "Identifier") return void add(pattern, kind, init)
    forEachTarget(pattern, emptyPath, (node, path) => node.type === "Identifier" && add(node, kind, init, path), visit)
  }

  function assign(pattern: AnyNode, use: NameUse): void {
    if (pattern.type === "Identifier") return addReference(pattern, use)
    forEachTarget(
      pattern,
      emptyPath,
      (node, path) => (node.type === "Identifier" ? addReference(node, use, path) : visit(node)),
      visit,
    )
  }

  function add(node: Identifier, kind: DeclarationKind, init?: AnyNode, path: Path = emptyPath): Declaration {
    let target = scope
    if (kind === "var") while (!varScopeKinds.has(target.kind) && target.parent) target = target.parent
    if (isExporting && target.self) return addTo(membersOf(target.self), node, kind, init, path)
    target.names ??= new Map()
    return addTo(target.names, node, kind, init, path)
  }

  function addTo(
    names: Map<string, Declaration>,
    node: Identifier,
    kind: DeclarationKind,
    init?: AnyNode,
    path = emptyPath,
  ) {
    const { name } = node
    const existing = names.get(name)
    if (existing) {
      if (init && kind === "var") addReference(node, { write: true, value: init }, path)
      if (kind === "enum" || kind === "namespace") continued.add(node)
      return existing
    }
    const declaration: Declaration = { name, kind, node, init, path, references: [], members: undefined }
    names.set(name, declaration)
    return declaration
  }

  function addReference(node: Identifier, use: NameUse, path = emptyPath): void {
    const { name } = node
    const { read = false, write = false, call = false, value } = use
    references.set(node, { name, node, declaration: undefined, scope: undefined, read, write, call, value, path })
    referenceScopes.push(scope)
  }

  function resolve(reference: Reference, from: LexicalScope | undefined): void {
    for (let current = from; current; current = current.parent) {
      const declaration = current.names?.get(reference.name) ?? implicitDeclaration(current, reference.name)
      if (!declaration) continue
      reference.declaration = declaration
      reference.scope = current
      declaration.references.push(reference)
      return
    }
  }

  function within(kind: LexicalScope["kind"], node: AnyNode, visitInside: () => void): void {
    const [outer, wasExporting] = [scope, isExporting]
    scope = createLexicalScope(kind, node, outer)
    isExporting = false
    visitInside()
    scope = outer
    isExporting = wasExporting
  }
}

interface NameUse {
  read?: boolean
  write?: boolean
  call?: boolean
  value?: AnyNode
}

const emptyPath: Path = []
const varScopeKinds = new Set<LexicalScope["kind"]>(["cell", "function", "arrow", "namespace"])

function createLexicalScope(kind: LexicalScope["kind"], node: AnyNode, parent: LexicalScope | undefined): LexicalScope {
  return { kind, node, parent, names: undefined, self: undefined }
}

function membersOf(declaration: Declaration): Map<string, Declaration> {
  declaration.members ??= new Map()
  return declaration.members
}

/** Names that a scope has without a declaration in it: an enum or namespace itself and its members; `arguments` in
 *  every function except arrow functions. */
function implicitDeclaration({ self, kind }: LexicalScope, name: string): Declaration | undefined {
  if (self) return self.members?.get(name) ?? (self.name === name ? self : undefined)
  if (name !== "arguments" || kind !== "function") return undefined
  return {
    name,
    kind: "arguments",
    node: undefined,
    init: undefined,
    path: emptyPath,
    references: [],
    members: undefined,
  }
}
