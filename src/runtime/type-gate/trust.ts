import type { Identifier } from "acorn"
import type { Declaration } from "../scope.ts"
import type { AnyNode, ParsedCell } from "../syntax.ts"
import { bare, type CellTree, keyOf } from "./cell-tree.ts"
import type { HostName } from "./host-names.ts"

/** How far the type that the checker finds for an expression can be relied on.
 *  `declared`: the host's author said so. `computed`: it follows from the code alone; only the shape of an object literal
 *  may grow. `shape`: the outermost type of a running value was seen, what is inside was sampled. `loose`: a claim of the
 *  cell's own (an assertion, an annotated parameter), or nothing at all. */
export type Trust = "loose" | "shape" | "computed" | "declared"

/** Methods that give promises whatever else is known of their objects, by the names of these. */
export type Promising = ReadonlyMap<string, { has(method: string): boolean }>

export interface TrustSources {
  promising: Promising
  host: ReadonlyMap<string, HostName>
  /** The names that earlier cells made. */
  made: ReadonlyMap<string, { trust: Trust }>
  /** Names that were given something else than their type says. */
  loosened: ReadonlySet<string>
}

export function weakest(...trusts: Trust[]): Trust {
  return order.find((trust) => trusts.includes(trust)) ?? "declared"
}

/** Finds the trust of expressions and of the names a cell declares. */
export function createTrust(cell: ParsedCell, tree: CellTree, sources: TrustSources) {
  const { scopes, parentOf } = tree
  const known = new Map<Declaration, Trust>()
  return { of, ofDeclaration, ofPattern }

  function of(node: AnyNode): Trust {
    const inner = bare(node)
    switch (inner.type) {
      case "Identifier":
        return ofName(inner)
      case "MemberExpression":
        return inside(of(inner.object))
      case "CallExpression":
        if (isPromising(inner.callee, tree, sources.promising)) return "declared"
        return inner.arguments.some(isFunction) ? weakest(of(inner.callee), "computed") : of(inner.callee)
      case "NewExpression":
        return weakest(of(inner.callee), "declared")
      case "AwaitExpression":
        return of(inner.argument)
      case "ConditionalExpression":
        return weakest(of(inner.consequent), of(inner.alternate))
      case "LogicalExpression":
        return weakest(of(inner.left), of(inner.right))
      case "AssignmentExpression":
        return inner.operator === "=" ? of(inner.right) : "computed"
      case "SequenceExpression":
        return of(inner.expressions.at(-1) ?? inner)
      case "TSAsExpression":
      case "TSTypeAssertion":
        return claimed(inner.typeAnnotation, of(inner.expression))
      case "TSSatisfiesExpression":
        return of(inner.expression)
      case "ArrayExpression":
        return weakest("computed", ...inner.elements.map((each) => (each ? of(each) : "computed")))
      case "SpreadElement":
        return of(inner.argument)
      case "Literal":
      case "TemplateLiteral":
      case "ObjectExpression":
      case "UnaryExpression":
      case "BinaryExpression":
      case "UpdateExpression":
      case "ArrowFunctionExpression":
      case "FunctionExpression":
      case "ClassExpression":
        return "computed"
      default:
        return "loose"
    }
  }

  function ofName(node: Identifier): Trust {
    if (sources.loosened.has(node.name)) return "loose"
    const declaration = scopes.references.get(node)?.declaration
    if (declaration) return ofDeclaration(declaration)
    const made = sources.made.get(node.name)
    if (made) return made.trust
    const host = sources.host.get(node.name)
    if (!host) return node.name in globalThis ? "computed" : "loose"
    // Whether its parameters are known or not, what a function of the host gives back is either said or `any`.
    return host.certain || host.kind !== "variable" ? "declared" : "shape"
  }

  function ofDeclaration(declaration: Declaration): Trust {
    const found = known.get(declaration)
    if (found) return found
    // What refers to itself is not to be relied on.
    known.set(declaration, "loose")
    const trust = sources.loosened.has(declaration.name) ? "loose" : ofDeclared(declaration)
    known.set(declaration, trust)
    return trust
  }

  function ofDeclared(declaration: Declaration): Trust {
    switch (declaration.kind) {
      case "function":
      case "class":
      case "enum":
        return "computed"
      case "var":
      case "let":
      case "const":
      case "using":
      case "await using":
      case "parameter":
        return weakest(declaration.node ? ofPattern(declaration.node) : "loose", ...writes(declaration))
      default:
        return "loose"
    }
  }

  function writes({ references }: Declaration): Trust[] {
    return references.flatMap(({ write, value }) => (write ? [value ? of(value) : "computed"] : []))
  }

  /** The trust of what arrives at a pattern, or at a name inside one. */
  function ofPattern(node: AnyNode): Trust {
    const parent = parentOf(node)
    if (!parent) return "loose"
    switch (parent.type) {
      case "VariableDeclarator": {
        const value = parent.init ? of(parent.init) : ofLoop(parent)
        return "typeAnnotation" in parent.id ? claimed(parent.id.typeAnnotation, value) : value
      }
      case "ArrowFunctionExpression":
      case "FunctionExpression":
        return "typeAnnotation" in node ? claimed(node.typeAnnotation, ofCallback(parent)) : ofCallback(parent)
      case "Property":
      case "ObjectPattern":
      case "ArrayPattern":
        return inside(ofPattern(parent))
      case "AssignmentPattern":
        return weakest(ofPattern(parent), of(parent.right))
      case "RestElement":
        return weakest(ofPattern(parent), "computed")
      default:
        return "loose"
    }
  }

  function ofLoop(declarator: AnyNode): Trust {
    const list = parentOf(declarator)
    const loop = list && parentOf(list)
    if (loop?.type === "ForOfStatement") return inside(of(loop.right))
    return loop?.type === "ForInStatement" || list?.type !== "VariableDeclaration" ? "loose" : "computed"
  }

  /** A parameter of `tasks.map((task) => …)` is as good as what it is called on. */
  function ofCallback(callback: AnyNode): Trust {
    const call = parentOf(callback)
    if (call?.type !== "CallExpression" || call.callee === callback) return "loose"
    return inside(of(call.callee))
  }

  /** A claim that only names the host's own types adds nothing to what the host has declared anyway. */
  function claimed(annotation: AnyNode | null | undefined, value: Trust): Trust {
    if (!annotation) return value
    const text = cell.code.slice(annotation.start, annotation.end).replace(/^:/, "").trim()
    if (text === "const") return value
    if (value !== "declared" || text.includes("{")) return "loose"
    const names = text.match(/[A-Za-z_$][\w$]*/g) ?? []
    return names.every((name) => plainTypes.has(name) || sources.host.has(name)) ? value : "loose"
  }
}

/** Whether a call of this goes to a method that gives a promise for certain. */
export function isPromising(callee: AnyNode, { scopes }: CellTree, promising: Promising): boolean {
  const inner = bare(callee)
  const object = inner.type === "MemberExpression" ? bare(inner.object) : undefined
  if (inner.type !== "MemberExpression" || object?.type !== "Identifier") return false
  const key = keyOf(inner)
  if (key === undefined || scopes.references.get(object)?.declaration) return false
  return promising.get(object.name)?.has(key) === true
}

const order: readonly Trust[] = ["loose", "shape", "computed", "declared"]

const plainTypes = new Set("string number boolean Date Promise Array ReadonlyArray readonly Map Set Record".split(" "))

/** Of something that was only seen from outside, the inside is not known. */
function inside(trust: Trust): Trust {
  return trust === "shape" ? "loose" : trust
}

function isFunction({ type }: AnyNode): boolean {
  return type === "ArrowFunctionExpression" || type === "FunctionExpression"
}
