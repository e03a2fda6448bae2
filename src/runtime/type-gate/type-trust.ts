import type { Identifier } from "acorn"
import type { AnyNode, ParsedCell } from "../compiler/parse-cell.ts"
import type { Declaration } from "../compiler/scope-analysis.ts"
import { type CellTree, memberKey, unwrapNode } from "./cell-tree.ts"
import type { HostName } from "./host-names.ts"

/** How far the type that the checker finds for an expression can be relied on.
 *  `declared`: the host's author said so. `computed`: it follows from the code alone; only the shape of an object literal
 *  may grow. `shape`: the outermost type of a running value was seen, what is inside was sampled. `loose`: a claim of the
 *  cell's own (an assertion, an annotated parameter), or nothing at all. */
export type Trust = "loose" | "shape" | "computed" | "declared"

/** Methods that give promises whatever else is known of their objects, by the names of these. */
export type PromiseMethods = ReadonlyMap<string, { has(method: string): boolean }>

export interface TrustSources {
  promiseMethods: PromiseMethods
  host: ReadonlyMap<string, HostName>
  /** The names that earlier cells made. */
  cellNames: ReadonlyMap<string, { trust: Trust }>
  /** Names that were given something else than their type says. */
  mistypedNames: ReadonlySet<string>
}

export function weakestTrust(...trusts: Trust[]): Trust {
  return trustOrder.find((trust) => trusts.includes(trust)) ?? "declared"
}

/** Finds the trust of expressions and of the names a cell declares. */
export function createTrustAnalysis(cell: ParsedCell, tree: CellTree, sources: TrustSources) {
  const { scopes, parentOf } = tree
  const known = new Map<Declaration, Trust>()
  return { of, ofDeclaration, ofPattern }

  function of(node: AnyNode): Trust {
    const inner = unwrapNode(node)
    switch (inner.type) {
      case "Identifier":
        return ofName(inner)
      case "MemberExpression":
        return trustOfMember(of(inner.object))
      case "CallExpression":
        if (returnsPromise(inner.callee, tree, sources.promiseMethods)) return "declared"
        return inner.arguments.some(isFunctionExpression)
          ? weakestTrust(of(inner.callee), "computed")
          : of(inner.callee)
      case "NewExpression":
        return weakestTrust(of(inner.callee), "declared")
      case "AwaitExpression":
        return of(inner.argument)
      case "ConditionalExpression":
        return weakestTrust(of(inner.consequent), of(inner.alternate))
      case "LogicalExpression":
        return weakestTrust(of(inner.left), of(inner.right))
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
        return weakestTrust("computed", ...inner.elements.map((each) => (each ? of(each) : "computed")))
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
    if (sources.mistypedNames.has(node.name)) return "loose"
    const declaration = scopes.references.get(node)?.declaration
    if (declaration) return ofDeclaration(declaration)
    const made = sources.cellNames.get(node.name)
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
    const trust = sources.mistypedNames.has(declaration.name) ? "loose" : ofDeclared(declaration)
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
        return weakestTrust(declaration.node ? ofPattern(declaration.node) : "loose", ...writes(declaration))
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
        return trustOfMember(ofPattern(parent))
      case "AssignmentPattern":
        return weakestTrust(ofPattern(parent), of(parent.right))
      case "RestElement":
        return weakestTrust(ofPattern(parent), "computed")
      default:
        return "loose"
    }
  }

  function ofLoop(declarator: AnyNode): Trust {
    const list = parentOf(declarator)
    const loop = list && parentOf(list)
    if (loop?.type === "ForOfStatement") return trustOfMember(of(loop.right))
    return loop?.type === "ForInStatement" || list?.type !== "VariableDeclaration" ? "loose" : "computed"
  }

  /** A parameter of `tasks.map((task) => …)` is as good as what it is called on. */
  function ofCallback(callback: AnyNode): Trust {
    const call = parentOf(callback)
    if (call?.type !== "CallExpression" || call.callee === callback) return "loose"
    return trustOfMember(of(call.callee))
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
export function returnsPromise(callee: AnyNode, { scopes }: CellTree, promising: PromiseMethods): boolean {
  const inner = unwrapNode(callee)
  const object = inner.type === "MemberExpression" ? unwrapNode(inner.object) : undefined
  if (inner.type !== "MemberExpression" || object?.type !== "Identifier") return false
  const key = memberKey(inner)
  if (key === undefined || scopes.references.get(object)?.declaration) return false
  return promising.get(object.name)?.has(key) === true
}

const trustOrder: readonly Trust[] = ["loose", "shape", "computed", "declared"]

const plainTypes = new Set("string number boolean Date Promise Array ReadonlyArray readonly Map Set Record".split(" "))

/** Of something that was only seen from outside, the inside is not known. */
function trustOfMember(trust: Trust): Trust {
  return trust === "shape" ? "loose" : trust
}

function isFunctionExpression({ type }: AnyNode): boolean {
  return type === "ArrowFunctionExpression" || type === "FunctionExpression"
}
