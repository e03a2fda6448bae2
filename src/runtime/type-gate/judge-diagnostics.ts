// Decides for each TypeScript diagnostic of a cell: refuse the cell, show a hint, or ignore it.
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

export interface GateKnowledge extends Omit<TrustSources, "mistypedNames"> {
  cellNames: ReadonlyMap<string, { text: string; trust: Trust; kind: "value" | "class" | "type" }>
  /** All names; `values` has those whose values can be inspected. */
  names: ReadonlySet<string>
  values: ReadonlyMap<string, unknown>
  history: CellHistory
}

export interface DiagnosticJudgement {
  /** Almost certain to fail, or to do something unintended. */
  blocked: Diagnostic[]
  doubtful: Diagnostic[]
  /** Names to which the cell assigns values that do not match their types. */
  mistypedNames: ReadonlySet<string>
  tree: CellTree
}

type Severity = "block" | "hint" | "nothing"

interface MemberUse {
  isMisspelling: boolean
  isAssigned: boolean
  /** The code throws if the member does not exist. */
  mustExist: boolean
}

export function judgeDiagnostics(
  cell: ParsedCell,
  checked: Omit<CheckResult, "typesAt">,
  known: GateKnowledge,
): DiagnosticJudgement {
  const tree = createCellTree(cell)
  const mistypedNames = findMistypedNames(cell, checked, tree, known)
  const trust = createTrustAnalysis(cell, tree, { ...known, mistypedNames })
  const cellTypes = new Map(typesDeclaredIn(cell).map(({ name, kind }) => [name, kind]))
  const found = [...checked.diagnostics, ...findPromisesUsedAsValues(cell, tree, known)]
  const sorted = found.sort((one, other) => one.start - other.start)
  let tested: ReturnType<typeof testedMembers> | undefined
  const verdicts = Map.groupBy(sorted.map(withSuggestion), verdictOn)
  return { blocked: verdicts.get("block") ?? [], doubtful: verdicts.get("hint") ?? [], mistypedNames, tree }

  function verdictOn(diagnostic: Diagnostic): Severity {
    const node = tree.nodeAt(diagnostic.start, diagnostic.end)
    const { code } = diagnostic
    if (codes.unknownName.has(code)) return judgeName(textAt(diagnostic), node)
    switch (code) {
      case codes.typeAsValue:
        return node?.type === "Identifier" ? judgeName(node.name, node) : "nothing"
      case codes.unknownMember:
      case codes.unknownMemberWithSuggestion:
        return node ? judgeMember(diagnostic, node) : "hint"
      case codes.argumentCount:
      case codes.minimumArgumentCount: {
        const call = callAbout(diagnostic)
        return call && isHostCall(call) ? "block" : "hint"
      }
      case codes.unknownOption:
      case codes.unknownOptionWithSuggestion: {
        const call = callOfOption(node)
        return call && isHostCall(call) ? "block" : "hint"
      }
      case codes.argumentType:
      case codes.noOverload: {
        const call = callAbout(diagnostic)
        return node && call && isHostCall(call) && !isMistyped(node) ? judgeArgument(diagnostic, node, call) : "hint"
      }
      case codes.notCallable:
        return node && isNeverCalled(calledExpression(node)) ? "block" : "hint"
      case codes.promiseAsValue:
        return "block"
      default:
        if (missingMemberCodes.has(code) && node && isIncomplete(node)) return "block"
        if (operatorCodes.has(code) && isPromiseOperation(diagnostic, node) && !isMistyped(node)) return "block"
        return hintCodes.has(code) ? "hint" : "nothing"
    }
  }

  function textAt({ start, end }: Diagnostic): string {
    return cell.code.slice(start, end)
  }

  function callAbout(diagnostic: Diagnostic): CallNode | undefined {
    return tree.callAround(diagnostic.start, diagnostic.end, (each) => isAboutCall(diagnostic, each))
  }

  /** Refuses an argument that is a promise, that has another primitive type than the parameter, or that is an object
   *  literal without a required member. */
  function judgeArgument({ suggestsAwait, causes }: Diagnostic, argument: AnyNode, call: CallNode): Severity {
    const given = checked.typeOf(argument) ?? "any"
    if (suggestsAwait || typeKind(given).kind === "promise") return "block"
    if (causes.some((cause) => missingMemberCodes.has(cause)) && isIncomplete(argument)) return "block"
    const at = call.arguments.findIndex(({ start }) => start === argument.start)
    const wanted = checked.parameterTypesOf(call)?.[at]
    return wanted !== undefined && isCertain(argument) && isOtherPrimitive(given, wanted) ? "block" : "hint"
  }

  /** Returns true for an object literal without spread in a call of the host, which certainly lacks the member. */
  function isIncomplete(node: AnyNode): boolean {
    if (node.type !== "ObjectExpression" || node.properties.some(({ type }) => type !== "Property")) return false
    const call = callOfOption(node)
    return call !== undefined && isHostCall(call)
  }

  /** Returns true if an operator or an iteration is applied to a promise. */
  function isPromiseOperation({ suggestsAwait }: Diagnostic, node: AnyNode | undefined): boolean {
    if (suggestsAwait) return true
    const operands = node?.type === "BinaryExpression" ? [node.left, node.right] : node ? [node] : []
    return operands.some((operand) => typeKind(checked.typeOf(operand) ?? "any").kind === "promise")
  }

  /** Returns the type of the object whose member the diagnostic is about. */
  function ownerType(node: AnyNode): string {
    const parent = tree.parentOf(node)
    const owner = parent?.type === "MemberExpression" ? parent.object : parent && tree.parentOf(parent)
    return (owner && checked.typeOf(owner)) ?? "any"
  }

  /** Replaces TypeScript's advice about packages and settings, which a cell cannot follow, by the nearest name. */
  function withSuggestion(diagnostic: Diagnostic): Diagnostic {
    const { code, start, end } = diagnostic
    const node = tree.nodeAt(start, end)
    if (isAboutPromise(diagnostic, node)) {
      return { ...diagnostic, message: `${diagnostic.message} Did you forget to use 'await'?` }
    }
    const word = textAt(diagnostic)
    const isName = codes.unknownName.has(code) && !codes.unknownNameWithSuggestion.has(code)
    const message = isName ? `Cannot find name '${word}'.` : diagnostic.message
    const parent = node && tree.parentOf(node)
    const members = () =>
      parent?.type === "MemberExpression" ? liveMemberNames(parent.object, tree, known.values) : []
    const candidates = isName ? known.names : code === codes.unknownMember ? members() : []
    const suggestion = nearestName(word, candidates)
    return { ...diagnostic, message: suggestion === undefined ? message : `${message} Did you mean '${suggestion}'?` }
  }

  function isAboutPromise({ code, suggestsAwait }: Diagnostic, node: AnyNode | undefined): boolean {
    if (suggestsAwait || !node) return suggestsAwait
    if (code === codes.argumentType) return typeKind(checked.typeOf(node) ?? "any").kind === "promise"
    const isMember = code === codes.unknownMember || code === codes.unknownMemberWithSuggestion
    return isMember && typeKind(ownerType(node)).kind === "promise"
  }

  /** Ignores names in types, which do not exist at run time. A name tested with `typeof` becomes a hint. */
  function judgeName(name: string, node: AnyNode | undefined): Severity {
    if (node?.type !== "Identifier" || known.names.has(name) || name in globalThis) return "nothing"
    const references = [...tree.scopes.references.values()]
    if (references.some((each) => each.name === "globalThis" || each.name === "global")) return "hint"
    const uses = references.filter((each) => each.name === name && !each.declaration)
    const isTested = uses.some((each) => {
      const parent = tree.parentOf(each.node)
      return parent?.type === "UnaryExpression" && parent.operator === "typeof"
    })
    // An assignment creates the name.
    if (uses.some(({ write }) => write)) return "nothing"
    return isTested ? "hint" : "block"
  }

  function judgeMember({ code }: Diagnostic, node: AnyNode): Severity {
    const parent = tree.parentOf(node)
    const typeText = ownerType(node)
    const type = typeKind(typeText)
    if (parent?.type === "MemberExpression" && parent.property === node) {
      const isMisspelling = code === codes.unknownMemberWithSuggestion
      const use = { isMisspelling, isAssigned: isWritten(parent, tree), mustExist: throwsIfMissing(parent, tree) }
      const key = memberKey(parent) ?? ""
      const presence = findLiveMember(parent.object, key, isMisspelling, tree, known.values)
      if (presence === "there" || isBuiltinMember(typeText, key)) return "nothing"
      const isOptional = isOptionalRead(parent, tree) || isTestedElsewhere(node)
      if (isOptional || mayHaveBeenAdded(type, key, presence)) return "hint"
      if (presence === "missing" && use.mustExist) return "block"
      if (type.kind === "promise" && isAwaitedAsWhole(parent, tree, known.promiseMethods)) return "hint"
      return judgeType(type, trust.of(parent.object), use)
    }
    // `const { totl } = await stats()`
    if (parent?.type !== "Property" || parent.value.type === "AssignmentPattern") return "hint"
    const pattern = tree.parentOf(parent)
    if (pattern?.type !== "ObjectPattern") return "hint"
    if (node.type === "Identifier" && mayHaveBeenAdded(type, node.name, "unknown")) return "hint"
    return judgeType(type, trust.ofPattern(pattern), { isMisspelling: false, isAssigned: false, mustExist: false })
  }

  /** Returns true if an earlier cell may have added a member of that name to the object. */
  function mayHaveBeenAdded(type: TypeKind, key: string, presence: Presence): boolean {
    const { assignedMembers, extendedBuiltinMembers, hasUnknownKeys } = known.history
    if (type.kind === "promise") return false
    if (extendedBuiltinMembers.has(key)) return true
    const isLibrary = type.kind === "library" || (type.kind === "named" && isLibraryType(type.name))
    return !isLibrary && presence !== "missing" && (hasUnknownKeys || assignedMembers.has(key))
  }

  /** Returns true if the cell tests for a member of that name elsewhere, or assigns one. */
  function isTestedElsewhere(key: AnyNode): boolean {
    tested ??= testedMembers(cell, tree)
    return key.type === "Identifier" && tested.some(({ name, node }) => node !== key && name === key.name)
  }

  function judgeType(type: TypeKind, trusted: Trust, use: MemberUse): Severity {
    if (type.kind === "vague" || trusted === "untrusted") return "hint"
    if (type.kind === "promise") return "block"
    if (type.kind === "intersection") {
      return type.parts.every((part) => judgeType(part, trusted, use) === "block") ? "block" : "hint"
    }
    if (use.isAssigned && !(use.isMisspelling && trusted === "declared")) return "hint"
    if (type.kind === "library") return "block"
    if (type.kind === "anonymous") return trusted === "declared" ? "block" : "hint"
    const declaredAs = cellTypes.get(type.name) ?? known.cellNames.get(type.name)?.kind
    if (declaredAs) return declaredAs === "class" && use.mustExist ? "block" : "hint"
    const host = known.host.get(type.name)
    if (host) return host.certain ? "block" : "hint"
    return isLibraryType(type.name) && !type.static ? "block" : "hint"
  }

  /** Returns true if the expression, or one side of it, uses a name whose value may not match its type. */
  function isMistyped(node: AnyNode | undefined): boolean {
    const parts = node?.type === "BinaryExpression" ? [node.left, node.right] : [node]
    return parts.some((part) => part && mistypedNames.has(rootIdentifier(part)?.name ?? ""))
  }

  function isNeverCalled(node: AnyNode): boolean {
    return isCertain(node) && isNeverCallable(checked.typeOf(node) ?? "")
  }

  function calledExpression(node: AnyNode): AnyNode {
    const parent = tree.parentOf(node)
    return parent?.type === "MemberExpression" && parent.property === node ? parent : node
  }

  function isCertain(node: AnyNode): boolean {
    const trusted = trust.of(node)
    return trusted === "declared" || trusted === "computed"
  }

  /** Returns true if the host's author wrote the signature of the called function, class or method. */
  function isHostCall({ callee }: CallNode): boolean {
    const inner = unwrapNode(callee)
    if (inner.type === "Identifier") {
      const reference = tree.scopes.references.get(inner)
      if (!reference || reference.declaration || known.cellNames.has(inner.name)) return false
      return known.host.get(inner.name)?.certain === true
    }
    if (inner.type !== "MemberExpression" || !isCertain(inner.object)) return false
    return isHostType(typeKind(checked.typeOf(inner.object) ?? "any"), trust.of(inner.object))
  }

  /** Returns true if the host's author wrote the type. */
  function isHostType(type: TypeKind, trusted: Trust): boolean {
    switch (type.kind) {
      case "anonymous":
        return trusted === "declared"
      case "intersection":
        return type.parts.every((part) => isHostType(part, trusted))
      case "named":
        if (cellTypes.has(type.name) || known.cellNames.has(type.name)) return false
        return known.host.get(type.name)?.certain === true
      default:
        return false
    }
  }

  /** Returns the call that gets the object literal with this option. */
  function callOfOption(key: AnyNode | undefined): CallNode | undefined {
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

/** Returns true if a diagnostic about arguments is about this call: it is located at the callee or at an argument. */
function isAboutCall({ start, end }: Diagnostic, call: CallNode): boolean {
  if (call.start === start && call.end === end) return true
  return call.callee.end === end || call.arguments.some((argument) => argument.start === start)
}
