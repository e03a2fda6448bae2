import type { AnyNode, ParsedCell } from "../compiler/parse-cell.ts"
import type { CellHistory } from "./cell-history.ts"
import { typesDeclaredIn } from "./cell-names.ts"
import { type CallNode, type CellTree, createCellTree, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"
import { codes, hintCodes, missingMemberCodes, operatorCodes } from "./diagnostic-codes.ts"
import { findLiveMember, isBuiltinMember, liveMemberNames, type Presence } from "./live-members.ts"
import {
  findPromisesUsedAsValues,
  isAwaitedAsWhole,
  isOptionalRead,
  isWritten,
  testedMembers,
  throwsIfMissing,
} from "./member-uses.ts"
import { findMistypedNames } from "./mistyped-names.ts"
import { nearestName } from "./nearest-name.ts"
import { isLibraryType, isNeverCallable, isOtherPrimitive, type TypeKind, typeKind } from "./type-text.ts"
import { createTrustAnalysis, type Trust, type TrustSources } from "./type-trust.ts"
import type { CheckResult, Diagnostic } from "./typescript-checker.ts"

/** What is known about the names when a cell is judged. */
export interface GateKnowledge extends Omit<TrustSources, "mistypedNames"> {
  cellNames: ReadonlyMap<string, { text: string; trust: Trust; kind: "value" | "class" | "type" }>
  /** Every name there is, with its running value where that is at hand. */
  names: ReadonlySet<string>
  values: ReadonlyMap<string, unknown>
  history: CellHistory
}

export interface Judgement {
  /** Near certain to fail, or to do what nobody meant. */
  blocked: Diagnostic[]
  doubtful: Diagnostic[]
  /** Names that the cell gives something else than their type says. */
  mistypedNames: ReadonlySet<string>
  tree: CellTree
}

type Verdict = "block" | "hint" | "nothing"

export function judgeDiagnostics(
  cell: ParsedCell,
  checked: Omit<CheckResult, "typesAt">,
  known: GateKnowledge,
): Judgement {
  const { diagnostics } = checked
  const tree = createCellTree(cell)
  const loosened = findMistypedNames(cell, checked, tree, known)
  const trust = createTrustAnalysis(cell, tree, { ...known, mistypedNames: loosened })
  const own = new Map(typesDeclaredIn(cell).map(({ name, kind }) => [name, kind]))
  const all = [...diagnostics, ...findPromisesUsedAsValues(cell, tree, known)].sort(
    (one, other) => one.start - other.start,
  )
  let doubts: ReturnType<typeof testedMembers> | undefined
  const verdicts = Map.groupBy(all.map(tidied), verdictOn)
  return { blocked: verdicts.get("block") ?? [], doubtful: verdicts.get("hint") ?? [], mistypedNames: loosened, tree }

  function verdictOn(diagnostic: Diagnostic): Verdict {
    const node = tree.nodeAt(diagnostic.start, diagnostic.end)
    const { code } = diagnostic
    if (codes.unknownName.has(code)) return onName(textAt(diagnostic), node)
    switch (code) {
      case codes.typeAsValue:
        return node?.type === "Identifier" ? onName(node.name, node) : "nothing"
      case codes.noMember:
      case codes.noMemberButAnother:
        return node ? onMember(diagnostic, node) : "hint"
      case codes.arguments:
      case codes.atLeastArguments: {
        const call = callAbout(diagnostic)
        return call && isOfHost(call) ? "block" : "hint"
      }
      case codes.unknownOption:
      case codes.unknownOptionButAnother: {
        const call = optionOf(node)
        return call && isOfHost(call) ? "block" : "hint"
      }
      case codes.argumentType:
      case codes.noOverload: {
        const call = callAbout(diagnostic)
        return node && call && isOfHost(call) && !isLoosened(node) ? onArgument(diagnostic, node, call) : "hint"
      }
      case codes.notCallable:
        return node && isCertain(called(node)) && isNeverCallable(checked.typeOf(called(node)) ?? "") ? "block" : "hint"
      case codes.promiseAsValue:
        return "block"
      default:
        if (missingMemberCodes.has(code) && node && isIncomplete(node)) return "block"
        if (operatorCodes.has(code) && (diagnostic.suggestsAwait || hasPromiseOperand(node)) && !isLoosened(node))
          return "block"
        return hintCodes.has(code) ? "hint" : "nothing"
    }
  }

  function textAt({ start, end }: Diagnostic): string {
    return cell.code.slice(start, end)
  }

  function callAbout(diagnostic: Diagnostic): CallNode | undefined {
    return tree.callAround(diagnostic.start, diagnostic.end, (each) => isAboutCall(diagnostic, each))
  }

  /** Refused are an argument that is a Promise, one of another primitive type than the parameter, and an object literal
   *  without a member that the parameter needs. */
  function onArgument({ suggestsAwait: awaits, causes }: Diagnostic, argument: AnyNode, call: CallNode): Verdict {
    const given = checked.typeOf(argument) ?? "any"
    if (awaits || typeKind(given).kind === "promise") return "block"
    if (causes.some((cause) => missingMemberCodes.has(cause)) && isIncomplete(argument)) return "block"
    const at = call.arguments.findIndex(({ start }) => start === argument.start)
    const wanted = checked.parameterTypesOf(call)?.[at]
    return wanted !== undefined && isCertain(argument) && isOtherPrimitive(given, wanted) ? "block" : "hint"
  }

  /** Whether an argument of the host is written out, so that what it lacks is not there. */
  function isIncomplete(node: AnyNode): boolean {
    const call = node.type === "ObjectExpression" ? optionOf(node) : undefined
    const isWhole = node.type === "ObjectExpression" && node.properties.every(({ type }) => type === "Property")
    return isWhole && call !== undefined && isOfHost(call)
  }

  /** Whether an operator, or an iteration, is applied to a Promise. */
  function hasPromiseOperand(node: AnyNode | undefined): boolean {
    const operands = node?.type === "BinaryExpression" ? [node.left, node.right] : node ? [node] : []
    return operands.some((operand) => typeKind(checked.typeOf(operand) ?? "any").kind === "promise")
  }

  /** The type of the object that a member was asked of, where the diagnostic stands at the member. */
  function ownerType(node: AnyNode): string {
    const place = tree.parentOf(node)
    const owner = place?.type === "MemberExpression" ? place.object : place && tree.parentOf(place)
    return (owner && checked.typeOf(owner)) ?? "any"
  }

  /** Advice about packages and settings is of no use to a cell; the name that was meant is. */
  function tidied(diagnostic: Diagnostic): Diagnostic {
    const { code, start, end } = diagnostic
    const node = tree.nodeAt(start, end)
    if (isAboutPromise(diagnostic, node)) {
      return { ...diagnostic, message: `${diagnostic.message} Did you forget to use 'await'?` }
    }
    const word = textAt(diagnostic)
    const isName = codes.unknownName.has(code) && !codes.nameButAnother.has(code)
    const message = isName ? `Cannot find name '${word}'.` : diagnostic.message
    const place = node && tree.parentOf(node)
    const members = () => (place?.type === "MemberExpression" ? liveMemberNames(place.object, tree, known.values) : [])
    const candidates = isName ? known.names : code === codes.noMember ? members() : []
    const meant = nearestName(word, candidates)
    return { ...diagnostic, message: meant === undefined ? message : `${message} Did you mean '${meant}'?` }
  }

  function isAboutPromise({ code, suggestsAwait: awaits }: Diagnostic, node: AnyNode | undefined): boolean {
    if (awaits || !node) return awaits
    if (code === codes.argumentType) return typeKind(checked.typeOf(node) ?? "any").kind === "promise"
    const isMember = code === codes.noMember || code === codes.noMemberButAnother
    return isMember && typeKind(ownerType(node)).kind === "promise"
  }

  /** A name in a type is gone before the cell runs, and one that is asked for by `typeof` is known to be doubtful. */
  function onName(name: string, node: AnyNode | undefined): Verdict {
    if (node?.type !== "Identifier" || known.names.has(name) || name in globalThis) return "nothing"
    const references = [...tree.scopes.references.values()]
    if (references.some((each) => each.name === "globalThis" || each.name === "global")) return "hint"
    const uses = references.filter((each) => each.name === name && !each.declaration)
    const isTested = uses.some((each) => {
      const parent = tree.parentOf(each.node)
      return parent?.type === "UnaryExpression" && parent.operator === "typeof"
    })
    // Assigning to a name makes it.
    if (uses.some(({ write }) => write)) return "nothing"
    return isTested ? "hint" : "block"
  }

  function onMember({ code }: Diagnostic, node: AnyNode): Verdict {
    const place = tree.parentOf(node)
    const typeText = ownerType(node)
    const type = typeKind(typeText)
    if (place?.type === "MemberExpression" && place.property === node) {
      const spelt = code === codes.noMemberButAnother
      const written = isWritten(place, tree)
      const guarded = isOptionalRead(place, tree)
      const presence = findLiveMember(place.object, memberKey(place) ?? "", spelt, tree, known.values)
      if (presence === "there" || isBuiltinMember(typeText, memberKey(place) ?? "")) return "nothing"
      if (guarded || doubted(node) || isGiven(type, memberKey(place) ?? "", presence)) return "hint"
      if (presence === "missing" && throwsIfMissing(place, tree)) return "block"
      if (type.kind === "promise" && isAwaitedAsWhole(place, tree, known.promiseMethods)) return "hint"
      return onType(type, trust.of(place.object), { written, spelt, used: throwsIfMissing(place, tree) })
    }
    // `const { totl } = await stats()`
    if (place?.type !== "Property" || place.value.type === "AssignmentPattern") return "hint"
    const pattern = tree.parentOf(place)
    if (pattern?.type !== "ObjectPattern" || (node.type === "Identifier" && isGiven(type, node.name, "unknown"))) {
      return "hint"
    }
    return onType(type, trust.ofPattern(pattern), { written: false, spelt: false, used: false })
  }

  /** Whether an earlier cell gave a member of that name to something that this may be. */
  function isGiven(type: TypeKind, key: string, presence: Presence): boolean {
    const { assignedMembers: given, extendedBuiltinMembers: extended, hasUnknownKeys: anything } = known.history
    if (type.kind === "promise") return false
    if (extended.has(key)) return true
    const isLibrary = type.kind === "library" || (type.kind === "named" && isLibraryType(type.name))
    return !isLibrary && presence !== "missing" && (anything || given.has(key))
  }

  /** Whether the cell elsewhere asks for a member of that name, or makes one. */
  function doubted(key: AnyNode): boolean {
    doubts ??= testedMembers(cell, tree)
    return key.type === "Identifier" && doubts.some(({ name, node }) => node !== key && name === key.name)
  }

  function onType(type: TypeKind, trusted: Trust, use: { written: boolean; spelt: boolean; used: boolean }): Verdict {
    if (type.kind === "vague" || trusted === "loose") return "hint"
    if (type.kind === "promise") return "block"
    if (type.kind === "intersection") {
      return type.parts.every((part) => onType(part, trusted, use) === "block") ? "block" : "hint"
    }
    if (use.written && !(use.spelt && trusted === "declared")) return "hint"
    if (type.kind === "library") return "block"
    if (type.kind === "anonymous") return trusted === "declared" ? "block" : "hint"
    const made = own.get(type.name) ?? known.cellNames.get(type.name)?.kind
    if (made) return made === "class" && use.used ? "block" : "hint"
    const host = known.host.get(type.name)
    if (host) return host.certain ? "block" : "hint"
    return isLibraryType(type.name) && !type.static ? "block" : "hint"
  }

  /** Whether an expression, or either side of it, is of a name whose type cannot be relied on. */
  function isLoosened(node: AnyNode | undefined): boolean {
    const parts = node?.type === "BinaryExpression" ? [node.left, node.right] : [node]
    return parts.some((part) => part && loosened.has(rootIdentifier(part)?.name ?? ""))
  }

  function called(node: AnyNode): AnyNode {
    const parent = tree.parentOf(node)
    return parent?.type === "MemberExpression" && parent.property === node ? parent : node
  }

  function isCertain(node: AnyNode): boolean {
    const trusted = trust.of(node)
    return trusted === "declared" || trusted === "computed"
  }

  /** Whether a call goes to a function, class or method whose author has said how it is called. */
  function isOfHost({ callee }: CallNode): boolean {
    const inner = unwrapNode(callee)
    if (inner.type === "Identifier") {
      const free = tree.scopes.references.get(inner)
      if (!free || free.declaration || known.cellNames.has(inner.name)) return false
      return known.host.get(inner.name)?.certain === true
    }
    if (inner.type !== "MemberExpression" || !isCertain(inner.object)) return false
    return isDeclared(typeKind(checked.typeOf(inner.object) ?? "any"), trust.of(inner.object))
  }

  /** Whether a type is one that the host's author wrote. */
  function isDeclared(type: TypeKind, trusted: Trust): boolean {
    switch (type.kind) {
      case "anonymous":
        return trusted === "declared"
      case "intersection":
        return type.parts.every((part) => isDeclared(part, trusted))
      case "named":
        return !own.has(type.name) && !known.cellNames.has(type.name) && known.host.get(type.name)?.certain === true
      default:
        return false
    }
  }

  /** The call that an option in an object literal is for. */
  function optionOf(key: AnyNode | undefined): CallNode | undefined {
    let node = key
    for (let parent = node && tree.parentOf(node); node && parent; parent = tree.parentOf(node)) {
      if (parent.type === "CallExpression" || parent.type === "NewExpression") {
        return parent.callee === node ? undefined : parent
      }
      if (parent.type !== "Property" && parent.type !== "ObjectExpression" && parent.type !== "ArrayExpression") return
      node = parent
    }
    return undefined
  }
}

/** Whether a diagnostic about the number or type of arguments is about this call: it stands at its name or its arguments. */
function isAboutCall({ start, end }: Diagnostic, call: CallNode): boolean {
  if (call.start === start && call.end === end) return true
  return call.callee.end === end || call.arguments.some((argument) => argument.start === start)
}
