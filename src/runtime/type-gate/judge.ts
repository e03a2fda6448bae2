import type { AnyNode, ParsedCell } from "../syntax.ts"
import { bare, type CallNode, type CellTree, cellTree, keyOf, rootOf } from "./cell-tree.ts"
import type { Diagnostic } from "./checker.ts"
import type { History } from "./history.ts"
import { isOfLibrary, lookForMember, membersOf, type Presence } from "./live.ts"
import { typesOf } from "./made-names.ts"
import { nearest } from "./nearest.ts"
import { createTrust, type Trust, type TrustSources } from "./trust.ts"
import { isLibraryType, type TypeKind, typeKind } from "./type-text.ts"
import {
  doubtedMembers,
  isCalledOrEntered,
  isGuarded,
  isReadThrough,
  isWritten,
  namesFilledByKey,
  promisesAsValues,
} from "./uses.ts"

/** What is known about the names when a cell is judged. */
export interface Known extends Omit<TrustSources, "loosened"> {
  made: ReadonlyMap<string, { text: string; trust: Trust; kind: "value" | "class" | "type" }>
  /** Every name there is, with its running value where that is at hand. */
  names: ReadonlySet<string>
  values: ReadonlyMap<string, unknown>
  history: History
}

export interface Judged {
  /** Near certain to fail, or to do what nobody meant. */
  blocked: Diagnostic[]
  doubtful: Diagnostic[]
  /** Names that the cell gives something else than their type says. */
  loosened: ReadonlySet<string>
  tree: CellTree
}

type Verdict = "block" | "hint" | "nothing"

export function judge(cell: ParsedCell, diagnostics: readonly Diagnostic[], known: Known): Judged {
  const tree = cellTree(cell)
  const loosened = loosenedNames(cell, diagnostics, tree, known)
  const trust = createTrust(cell, tree, { ...known, loosened })
  const own = new Map(typesOf(cell).map(({ name, kind }) => [name, kind]))
  const all = [...diagnostics, ...promisesAsValues(cell, tree, known)].sort((one, other) => one.start - other.start)
  let doubts: ReturnType<typeof doubtedMembers> | undefined
  const verdicts = Map.groupBy(
    all.map((each) => tidied(each, known.names, membersBeside(each))),
    verdictOn,
  )
  return { blocked: verdicts.get("block") ?? [], doubtful: verdicts.get("hint") ?? [], loosened, tree }

  /** The members of the running value that one was asked for which it does not have. */
  function membersBeside({ code, start, end }: Diagnostic): string[] {
    const place = code === codes.noMember ? tree.parentOf(tree.nodeAt(start, end) ?? cell.program) : undefined
    return place?.type === "MemberExpression" ? membersOf(place.object, tree, known.values) : []
  }

  function verdictOn(diagnostic: Diagnostic): Verdict {
    const node = tree.nodeAt(diagnostic.start, diagnostic.end)
    const { code, message, awaits } = diagnostic
    const name = /^(?:Cannot find name|No value exists in scope for the shorthand property) '([^']+)'/.exec(
      message,
    )?.[1]
    if (name !== undefined) return onName(name, node)
    switch (code) {
      case codes.typeAsValue:
        return node?.type === "Identifier" ? onName(node.name, node) : "nothing"
      case codes.noMember:
      case codes.noMemberButAnother:
        return node ? onMember(diagnostic, node) : "hint"
      case codes.arguments:
      case codes.atLeastArguments: {
        const call = tree.callAround(diagnostic.start, diagnostic.end, (each) => isAbout(diagnostic, each))
        return call && isOfHost(call) ? "block" : "hint"
      }
      case codes.unknownOption:
      case codes.unknownOptionButAnother: {
        const call = optionOf(node)
        return call && isOfHost(call) ? "block" : "hint"
      }
      case codes.argumentType: {
        const call = tree.callAround(diagnostic.start, diagnostic.end, (each) => isAbout(diagnostic, each))
        const isPromise = awaits || /^Argument of type 'Promise</.test(message)
        return isPromise && call && isOfHost(call) && !isLoosened(node) ? "block" : "hint"
      }
      case codes.notCallable:
        return node && isCertain(called(node)) && /Type '(?:String|Number|Boolean|Promise<.*>)' has no/.test(message)
          ? "block"
          : "hint"
      default:
        if (code === codes.promiseAsValue) return "block"
        if (operators.has(code) && (awaits || message.includes("'Promise<")) && !isLoosened(node)) return "block"
        return hinted.has(code) ? "hint" : "nothing"
    }
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

  function onMember({ code, message }: Diagnostic, node: AnyNode): Verdict {
    const place = tree.parentOf(node)
    const typeText = / on type '(.*?)'\.(?: |$)/s.exec(message)?.[1] ?? "any"
    const type = typeKind(typeText)
    if (place?.type === "MemberExpression" && place.property === node) {
      const spelt = code === codes.noMemberButAnother
      const written = isWritten(place, tree)
      const guarded = isGuarded(place, tree)
      const presence = lookForMember(place.object, keyOf(place) ?? "", spelt, tree, known.values)
      if (presence === "there" || isOfLibrary(typeText, keyOf(place) ?? "")) return "nothing"
      if (guarded || doubted(node) || isGiven(type, keyOf(place) ?? "", presence)) return "hint"
      if (presence === "missing" && isCalledOrEntered(place, tree)) return "block"
      if (type.kind === "promise" && isReadThrough(place, tree, known.promising)) return "hint"
      return onType(type, trust.of(place.object), { written, spelt, used: isCalledOrEntered(place, tree) })
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
    const { given, extended, anything } = known.history
    if (type.kind === "promise") return false
    if (extended.has(key)) return true
    const isLibrary = type.kind === "library" || (type.kind === "named" && isLibraryType(type.name))
    return !isLibrary && presence !== "missing" && (anything || given.has(key))
  }

  /** Whether the cell elsewhere asks for a member of that name, or makes one. */
  function doubted(key: AnyNode): boolean {
    doubts ??= doubtedMembers(cell, tree)
    return key.type === "Identifier" && doubts.some(({ name, node }) => node !== key && name === key.name)
  }

  function onType(type: TypeKind, trusted: Trust, use: { written: boolean; spelt: boolean; used: boolean }): Verdict {
    if (type.kind === "vague" || trusted === "loose") return "hint"
    if (type.kind === "promise") return "block"
    if (use.written && !(use.spelt && trusted === "declared")) return "hint"
    if (type.kind === "library") return "block"
    if (type.kind === "anonymous") return trusted === "declared" ? "block" : "hint"
    const made = own.get(type.name) ?? known.made.get(type.name)?.kind
    if (made) return made === "class" && use.used ? "block" : "hint"
    const host = known.host.get(type.name)
    if (host) return host.certain ? "block" : "hint"
    return isLibraryType(type.name) && !type.static ? "block" : "hint"
  }

  /** Whether an expression, or either side of it, is of a name whose type cannot be relied on. */
  function isLoosened(node: AnyNode | undefined): boolean {
    const parts = node?.type === "BinaryExpression" ? [node.left, node.right] : [node]
    return parts.some((part) => part && loosened.has(rootOf(part)?.name ?? ""))
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
    const inner = bare(callee)
    if (inner.type === "Identifier") {
      const free = tree.scopes.references.get(inner)
      if (!free || free.declaration || known.made.has(inner.name)) return false
      return known.host.get(inner.name)?.certain === true
    }
    if (inner.type !== "MemberExpression" || !isCertain(inner.object)) return false
    const key = keyOf(inner)
    if (key === undefined || !/^[\w$]+$/.test(key) || languageMethods.has(key)) return false
    const method = new RegExp(`(?:^|[\\s{;])${key.replaceAll("$", "\\$")}\\??[(:<]`)
    return known.host.values().some(({ kind, certain, text }) => kind !== "function" && certain && method.test(text))
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

const codes = {
  noMember: 2339,
  noMemberButAnother: 2551,
  arguments: 2554,
  atLeastArguments: 2555,
  unknownOption: 2353,
  unknownOptionButAnother: 2561,
  argumentType: 2345,
  notCallable: 2349,
  typeAsValue: 2693,
  promiseAsValue: 2801,
}

/** Arithmetic, comparison, iteration. */
const operators = new Set([2362, 2363, 2365, 2367, 2488])

/** Mismatches worth telling. The rest is style, or about types alone. */
const hinted = new Set([2322, 2351, 2362, 2363, 2365, 2488, 2739, 2740, 2741, 2769, 18046])

/** Something that is not what the type says was assigned. */
const misassigned = new Set([2322, 2739, 2740, 2741])
/** Or it was handed to a function. */
const mishanded = new Set([2345, 2353, 2561, 2769])

function loosenedNames(
  cell: ParsedCell,
  diagnostics: readonly Diagnostic[],
  tree: CellTree,
  known: Known,
): Set<string> {
  const names = diagnostics.flatMap(({ code, start, end }) => {
    if (mishanded.has(code)) {
      const call = tree.callAround(start, end, ({ callee }) => isKept(callee))
      return (call && rootOf(call.callee)?.name) ?? []
    }
    const node = misassigned.has(code) ? tree.nodeAt(start, end) : undefined
    const parent = node && tree.parentOf(node)
    const target = parent?.type === "AssignmentExpression" ? parent.left : node
    return (target && rootOf(target)?.name) ?? []
  })
  const own = tree.scopes.cell.names
  const before = known.history.loosened.difference(new Set(own?.keys()))
  const loosened = new Set([...before, ...names, ...namesFilledByKey(cell)])
  // What is assigned to a name may be more than it was declared to be, and TypeScript has nothing against that.
  const trust = createTrust(cell, tree, { ...known, loosened })
  for (const { name, write, value } of tree.scopes.references.values()) {
    if (write && value && isMade(bare(value)) && trust.of(value) !== "declared") loosened.add(name)
  }
  return loosened
}

/** Whether what is handed to a method may be in its object from then on, as in a list or a map. */
function isKept(callee: AnyNode): boolean {
  return callee.type === "MemberExpression" && languageMethods.has(keyOf(callee) ?? "")
}

/** Whether an expression may give an object. */
function isMade({ type }: AnyNode): boolean {
  return type !== "Literal" && type !== "TemplateLiteral" && type !== "BinaryExpression" && type !== "UnaryExpression"
}

/** Whether a diagnostic about the number or type of arguments is about this call: it stands at its name or its arguments. */
function isAbout({ start, end }: Diagnostic, call: CallNode): boolean {
  if (call.start === start && call.end === end) return true
  return call.callee.end === end || call.arguments.some((argument) => argument.start === start)
}

/** Names the language has methods under, whose arity is not worth a refusal. */
const languageMethods = new Set(
  [Array, String, Map, Set, Promise, Date, Number, Object, RegExp, Function].flatMap((type) =>
    Object.getOwnPropertyNames(type.prototype),
  ),
)

/** Advice about packages and settings is of no use to a cell; what was meant is. */
function tidied(diagnostic: Diagnostic, names: ReadonlySet<string>, members: readonly string[]): Diagnostic {
  const message = diagnostic.message.replace(/ (?:Do you need to|Either declare).*$/s, "")
  const forgotAwait = diagnostic.awaits || /(?: on|Argument of) type 'Promise</.test(message)
  if (forgotAwait) return { ...diagnostic, message: `${message} Did you forget to use 'await'?` }
  const unknown = /^Cannot find name '([^']+)'\.$/.exec(message)?.[1]
  const missing = /^Property '([^']+)' does not exist on type .*'\.$/s.exec(message)?.[1]
  const meant = unknown === undefined ? nearest(missing ?? "", members) : nearest(unknown, names)
  return { ...diagnostic, message: meant === undefined ? message : `${message} Did you mean '${meant}'?` }
}
