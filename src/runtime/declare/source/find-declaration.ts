// Finds the declaration of a running function or class in the author's file.
import type { AnyNode } from "acorn"
import { attempt } from "../../../core/attempt.ts"
import { isClass } from "../../bindings.ts"
import { walk } from "../../compiler/parse-cell.ts"
import { functionSignature, isNativeFunction } from "../function-signature.ts"
import { nameOfClass } from "../inspect-class.ts"
import { parametersOf } from "../parse-signature.ts"
import type { FunctionLocation } from "./locate-functions.ts"
import { type OriginalPosition, originalPositions } from "./original-position.ts"
import { declarationFileOf, readModule, type SourceModule } from "./source-module.ts"

type ClassNode = Extract<AnyNode, { type: "ClassDeclaration" | "ClassExpression" }>
type FunctionNode = Extract<AnyNode, { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }>

export interface FoundDeclaration {
  module: SourceModule
  node: FunctionNode | ClassNode
  /** The statement, class member or property that holds the node. A comment before it documents the node. */
  holder: AnyNode
  /** The type that a variable or field with the function has. */
  annotation?: AnyNode | undefined
  /** True if only the annotation is in the module; the node is in the script. */
  isAnnotationOnly?: boolean | undefined
  /** The top-level name of the declaration. */
  name?: string | undefined
  /** The number of arguments that `bind` has already given to the function. */
  boundArguments?: number | undefined
}

/** Returns undefined if the file has no such declaration, or none with a type or comment. */
export function findDeclaration(call: object, location: FunctionLocation): FoundDeclaration | undefined {
  for (const position of originalPositions(location)) {
    const found = attempt(() => declarationAt(call, position))
    if (!found) continue
    const { module, name } = found
    const typed = isUntyped(module.path) && name !== undefined && typedDeclaration(found, name, isClass(call))
    return { ...(typed || found), boundArguments: location.boundArguments }
  }
  return undefined
}

function isUntyped(path: string): boolean {
  return /\.[cm]?jsx?$/.test(path)
}

/** Returns the top-level class, function or constant of that name from the `.d.ts` file beside a compiled file. */
function typedDeclaration(found: FoundDeclaration, name: string, wantsClass: boolean): FoundDeclaration | undefined {
  const file = declarationFileOf(found.module.path)
  const module = file === undefined ? undefined : readModule(file)
  if (!module) return undefined
  for (const { node } of module.declared.get(name) ?? []) {
    const isFunction = node.type === "FunctionDeclaration" || node.type === "TSDeclareFunction"
    if (!(wantsClass ? node.type === "ClassDeclaration" : isFunction)) continue
    // An overload has every part of a function except the body, but acorn's types do not know it.
    return { module, node: node as AnyNode as FunctionNode, holder: statementOf(module, node), name }
  }
  const constant = wantsClass ? undefined : constantNamed(module, name)
  return constant && { ...found, module, ...constant, isAnnotationOnly: true }
}

/** Returns the type of `export declare const name: …`. */
function constantNamed(
  { program }: SourceModule,
  name: string,
): Pick<FoundDeclaration, "holder" | "annotation"> | undefined {
  for (const holder of program.body) {
    const statement = holder.type === "ExportNamedDeclaration" ? holder.declaration : holder
    if (statement?.type !== "VariableDeclaration") continue
    for (const { id } of statement.declarations) {
      if (id.type === "Identifier" && id.name === name) return { holder, annotation: id.typeAnnotation }
    }
  }
  return undefined
}

function statementOf(module: SourceModule, node: AnyNode): AnyNode {
  return module.program.body.find(({ start, end }) => start <= node.start && node.end <= end) ?? node
}

interface Candidate {
  node: FunctionNode | ClassNode
  parents: readonly AnyNode[]
  length: number
}

/** Returns the innermost function or class whose head contains the position. Where a map says the position, the name
 *  must be right too, because maps are not exact; where the file may have changed, also the parameters. */
function declarationAt(call: object, { module, offset, by }: OriginalPosition): FoundDeclaration | undefined {
  let best: Candidate | undefined
  const parents: AnyNode[] = []
  walk(module.program, (node, parent) => {
    while (parents.length > 0 && parents.at(-1) !== parent) parents.pop()
    parents.push(node)
    if (offset < node.start - maxHeadGap || offset > node.end) return false
    const isWanted = isFunctionNode(node) || isClassNode(node)
    if (!isWanted) return true
    const holders = parents.slice(0, -1)
    const length = node.end - node.start
    const isInside = by === "text" ? offset >= node.start : offset >= headStart(node, holders)
    if (!isInside || (offset > headEnd(node) && !isClassNode(node))) return true
    const name = declaredName(node, holders)
    if (by !== "text" && name !== undefined && isConstructor(holders) === false && name !== runningName(call))
      return true
    if (!best || length <= best.length) best = { node, parents: holders, length }
    return true
  })
  return best && describeCandidate(call, module, best, by)
}

/** A member's modifiers and name may precede its function by this many characters. */
const maxHeadGap = 200

function describeCandidate(
  call: object,
  module: SourceModule,
  { node, parents }: Candidate,
  by: OriginalPosition["by"],
): FoundDeclaration | undefined {
  const isLiveClass = isClass(call)
  if (isLiveClass && isFunctionNode(node)) {
    // The location of a class with a constructor is the constructor.
    const at = parents.findLastIndex(isClassNode)
    const type = parents[at]
    if (!type || !isClassNode(type) || !isConstructor(parents)) return undefined
    return describeCandidate(call, module, { node: type, parents: parents.slice(0, at), length: 0 }, by)
  }
  if (isLiveClass !== isClassNode(node)) return undefined
  const name = declaredName(node, parents)
  if (isClassNode(node) && name !== undefined && name !== runningName(call) && name !== "default") return undefined
  if (by === "unchecked map" && isFunctionNode(node) && !hasSameParameters(call, node, module)) return undefined
  const holder = holderOf(node, parents)
  const isTopLevel = parents.every(({ type }) => topLevelParents.has(type))
  return { module, node, holder, annotation: annotationOf(parents.at(-1)), name: isTopLevel ? name : undefined }
}

const topLevelParents = new Set([
  "Program",
  "ExportNamedDeclaration",
  "ExportDefaultDeclaration",
  "VariableDeclaration",
  "VariableDeclarator",
])

function hasSameParameters(call: object, node: FunctionNode, { code }: SourceModule): boolean {
  // A bound function shows no parameters.
  if (isNativeFunction(call)) return true
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).join()
  return names(functionSignature(call).parameters) === names(parametersOf(node.params, code))
}

function isFunctionNode(node: AnyNode): node is FunctionNode {
  return (
    node.type === "FunctionDeclaration" || node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression"
  )
}

function isClassNode(node: AnyNode): node is ClassNode {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression"
}

function isConstructor(parents: readonly AnyNode[]): boolean {
  const parent = parents.at(-1)
  return parent?.type === "MethodDefinition" && parent.kind === "constructor"
}

function headEnd(node: FunctionNode | ClassNode): number {
  return node.body.start
}

/** Returns where the statement, member or property begins. */
function headStart(node: AnyNode, parents: readonly AnyNode[]): number {
  return holderOf(node, parents).start
}

const holderTypes = new Set([
  "MethodDefinition",
  "PropertyDefinition",
  "Property",
  "VariableDeclarator",
  "VariableDeclaration",
  "ExportNamedDeclaration",
  "ExportDefaultDeclaration",
  "AssignmentExpression",
  "ExpressionStatement",
  "ReturnStatement",
])

function holderOf(node: AnyNode, parents: readonly AnyNode[]): AnyNode {
  let holder = node
  for (const parent of parents.toReversed()) {
    if (!holderTypes.has(parent.type)) break
    holder = parent
    if (parent.type === "MethodDefinition" || parent.type === "PropertyDefinition" || parent.type === "Property") break
  }
  return holder
}

function declaredName(node: FunctionNode | ClassNode, parents: readonly AnyNode[]): string | undefined {
  if (node.type !== "ArrowFunctionExpression" && node.id) return node.id.name
  const parent = parents.at(-1)
  switch (parent?.type) {
    case "VariableDeclarator":
      return parent.id.type === "Identifier" ? parent.id.name : undefined
    case "MethodDefinition":
    case "PropertyDefinition":
    case "Property":
      if (parent.computed || parent.key.type === "PrivateIdentifier") return undefined
      return parent.key.type === "Identifier" ? parent.key.name : undefined
    case "ExportDefaultDeclaration":
      return "default"
    default:
      return undefined
  }
}

/** Returns the name of a running function without the `get ` of an accessor and the `bound ` of a bound function. */
function runningName(call: object): string | undefined {
  return nameOfClass(call)?.replace(/^(?:get |set |bound )+/, "")
}

function annotationOf(parent: AnyNode | undefined): AnyNode | undefined {
  const typed = parent?.type === "VariableDeclarator" ? parent.id : parent
  if (typed?.type !== "Identifier" && typed?.type !== "PropertyDefinition") return undefined
  return typed.typeAnnotation
}
