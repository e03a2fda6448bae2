// Determines how far the type that the checker finds for an expression can be relied on.
import type { Identifier } from "acorn"
import type { AnyNode, ParsedCell } from "../compiler/parse-cell.ts"
import type { Declaration } from "../compiler/scope-analysis.ts"
import { type CellTree, memberKey, unwrapNode } from "./cell-tree.ts"
import type { HostName } from "./host-names.ts"

/** `declared`: the author of the host wrote the type. `computed`: the type follows from the code alone; only object
 *  literals may get more members. `shape`: the type was inferred from a value, and its inner types from samples.
 *  `untrusted`: the cell only claims the type (an assertion, an annotated parameter), or nothing is known. */
export type Trust = "untrusted" | "shape" | "computed" | "declared"

/** Methods that always return promises, by the name of their object. */
export type PromiseMethods = ReadonlyMap<string, { has(method: string): boolean }>

export interface TrustSources {
  promiseMethods: PromiseMethods
  host: ReadonlyMap<string, HostName>
  /** The names that earlier cells declared. */
  cellNames: ReadonlyMap<string, { trust: Trust }>
  /** Names whose values may not match their types. */
  mistypedNames: ReadonlySet<string>
}

export function weakestTrust(...trusts: Trust[]): Trust {
  return trustOrder.find((trust) => trusts.includes(trust)) ?? "declared"
}

export function createTrustAnalysis(cell: ParsedCell, tree: CellTree, sources: TrustSources) {
  const { scopes, parentOf } = tree
  const results = new Map<Declaration, Trust>()
  return { of, ofDeclaration, ofPattern }

  function of(node: AnyNode): Trust {
    const unwrapped = unwrapNode(node)
    switch (unwrapped.type) {
      case "Identifier":
        return ofName(unwrapped)
      case "MemberExpression":
        return trustOfMember(of(unwrapped.object))
      case "CallExpression":
        if (returnsPromise(unwrapped.callee, tree, sources.promiseMethods)) return "declared"
        return unwrapped.arguments.some(isFunctionExpression)
          ? weakestTrust(of(unwrapped.callee), "computed")
          : of(unwrapped.callee)
      case "NewExpression":
        return weakestTrust(of(unwrapped.callee), "declared")
      case "AwaitExpression":
        return of(unwrapped.argument)
      case "ConditionalExpression":
        return weakestTrust(of(unwrapped.consequent), of(unwrapped.alternate))
      case "LogicalExpression":
        return weakestTrust(of(unwrapped.left), of(unwrapped.right))
      case "AssignmentExpression":
        return unwrapped.operator === "=" ? of(unwrapped.right) : "computed"
      case "SequenceExpression":
        return of(unwrapped.expressions.at(-1) ?? unwrapped)
      case "TSAsExpression":
      case "TSTypeAssertion":
        return ofAssertion(unwrapped.typeAnnotation, of(unwrapped.expression))
      case "TSSatisfiesExpression":
        return of(unwrapped.expression)
      case "ArrayExpression":
        return weakestTrust("computed", ...unwrapped.elements.map((each) => (each ? of(each) : "computed")))
      case "SpreadElement":
        return of(unwrapped.argument)
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
        return "untrusted"
    }
  }

  function ofName(node: Identifier): Trust {
    if (sources.mistypedNames.has(node.name)) return "untrusted"
    const declaration = scopes.references.get(node)?.declaration
    if (declaration) return ofDeclaration(declaration)
    const made = sources.cellNames.get(node.name)
    if (made) return made.trust
    const host = sources.host.get(node.name)
    if (!host) return node.name in globalThis ? "computed" : "untrusted"
    // The result of a host function is either declared or `any`, even if its parameters are unknown.
    return host.certain || host.kind !== "variable" ? "declared" : "shape"
  }

  function ofDeclaration(declaration: Declaration): Trust {
    const found = results.get(declaration)
    if (found) return found
    // A declaration that refers to itself is untrusted.
    results.set(declaration, "untrusted")
    const trust = sources.mistypedNames.has(declaration.name) ? "untrusted" : ofDeclared(declaration)
    results.set(declaration, trust)
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
        return weakestTrust(declaration.node ? ofPattern(declaration.node) : "untrusted", ...ofAssignments(declaration))
      default:
        return "untrusted"
    }
  }

  function ofAssignments({ references }: Declaration): Trust[] {
    return references.flatMap(({ write, value }) => (write ? [value ? of(value) : "computed"] : []))
  }

  /** The trust of the value assigned to a pattern, or to a name inside one. */
  function ofPattern(node: AnyNode): Trust {
    const parent = parentOf(node)
    if (!parent) return "untrusted"
    switch (parent.type) {
      case "VariableDeclarator": {
        const value = parent.init ? of(parent.init) : ofLoop(parent)
        return "typeAnnotation" in parent.id ? ofAssertion(parent.id.typeAnnotation, value) : value
      }
      case "ArrowFunctionExpression":
      case "FunctionExpression":
        return "typeAnnotation" in node ? ofAssertion(node.typeAnnotation, ofCallback(parent)) : ofCallback(parent)
      case "Property":
      case "ObjectPattern":
      case "ArrayPattern":
        return trustOfMember(ofPattern(parent))
      case "AssignmentPattern":
        return weakestTrust(ofPattern(parent), of(parent.right))
      case "RestElement":
        return weakestTrust(ofPattern(parent), "computed")
      default:
        return "untrusted"
    }
  }

  function ofLoop(declarator: AnyNode): Trust {
    const list = parentOf(declarator)
    const loop = list && parentOf(list)
    if (loop?.type === "ForOfStatement") return trustOfMember(of(loop.right))
    return loop?.type === "ForInStatement" || list?.type !== "VariableDeclaration" ? "untrusted" : "computed"
  }

  /** A callback parameter, as in `tasks.map((task) => …)`, has the trust of `tasks`. */
  function ofCallback(callback: AnyNode): Trust {
    const call = parentOf(callback)
    if (call?.type !== "CallExpression" || call.callee === callback) return "untrusted"
    return trustOfMember(of(call.callee))
  }

  /** An assertion that names only types of the host keeps the trust of a declared value. */
  function ofAssertion(annotation: AnyNode | null | undefined, value: Trust): Trust {
    if (!annotation) return value
    const text = cell.code.slice(annotation.start, annotation.end).replace(/^:/, "").trim()
    if (text === "const") return value
    if (value !== "declared" || text.includes("{")) return "untrusted"
    const names = text.match(/[A-Za-z_$][\w$]*/g) ?? []
    return names.every((name) => plainTypes.has(name) || sources.host.has(name)) ? value : "untrusted"
  }
}

/** Returns true if the callee is a method that always returns a promise. */
export function returnsPromise(callee: AnyNode, { scopes }: CellTree, promising: PromiseMethods): boolean {
  const unwrapped = unwrapNode(callee)
  const object = unwrapped.type === "MemberExpression" ? unwrapNode(unwrapped.object) : undefined
  if (unwrapped.type !== "MemberExpression" || object?.type !== "Identifier") return false
  const key = memberKey(unwrapped)
  if (key === undefined || scopes.references.get(object)?.declaration) return false
  return promising.get(object.name)?.has(key) === true
}

const trustOrder: readonly Trust[] = ["untrusted", "shape", "computed", "declared"]

const plainTypes = new Set("string number boolean Date Promise Array ReadonlyArray readonly Map Set Record".split(" "))

/** The members of a value with an inferred type are untrusted. */
function trustOfMember(trust: Trust): Trust {
  return trust === "shape" ? "untrusted" : trust
}

function isFunctionExpression({ type }: AnyNode): boolean {
  return type === "ArrowFunctionExpression" || type === "FunctionExpression"
}
