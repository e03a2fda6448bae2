// Converts types of host values to what cells in another process see. Data arrives as a copy. Everything else is a
// handle: members are read with `await`, calls return Promises, and iteration takes `for await`.
import type { DeclarationBlock } from "./declaration-block.ts"
import { splitType, splitTypeDeclaration } from "./type-parts.ts"
import * as types from "./type-tree.ts"

/** Returns the type of a value received by a cell: a copy in which everything that cannot be copied is a handle. If
 *  nothing changes, the author's text is kept. */
export function receivedType(tree: types.TypeTree, block: DeclarationBlock): types.TypeTree {
  // The class of a value on the host, which stays there.
  if (tree.kind === "name" && tree.text.startsWith("import(")) return handleOf(tree, block)
  const parts = splitType(tree)
  // A copy of a frozen object is not frozen.
  const copied = parts === tree && tree.kind === "object" ? withoutReadonly(tree.members) : parts
  const arriving = receivedParts(copied, block)
  return types.printType(arriving) === types.printType(parts) ? tree : arriving
}

function withoutReadonly(members: readonly types.Member[]): types.TypeTree {
  return {
    kind: "object",
    members: needsHandle(members) ? [...members] : members.map(({ readonly: _, ...rest }) => rest),
  }
}

/** Returns the type of an object that is always a handle, even if all its members are data. */
export function handleType(tree: types.TypeTree, block: DeclarationBlock): types.TypeTree {
  const parts = splitType(tree)
  switch (parts.kind) {
    case "object":
      return { kind: "object", members: handleMembers(parts.members, block) }
    case "union":
    case "intersection":
      return { ...parts, parts: parts.parts.map((part) => handleType(part, block)) }
    default:
      return receivedType(tree, block)
  }
}

/** Converts an interface or type alias. `isHandle`: its values are handles, even if all members are data. */
export function receivedDeclaration(text: string, block: DeclarationBlock, isHandle: boolean): string {
  const found = splitTypeDeclaration(text)
  if (!found) return text
  const { name, generics, bases, members, alias } = found
  if (alias) {
    const type = isHandle ? handleType(alias, block) : receivedType(alias, block)
    return type === alias ? text : `type ${name}${generics} = ${types.printType(type)}`
  }
  const shown = isHandle || needsHandle(members) ? handleMembers(members, block) : copiedMembers(members, block)
  if (types.printMembers(shown, "  ", false) === types.printMembers(members, "  ", false)) return text
  const extendsClause = bases.length > 0 ? ` extends ${bases.join(", ")}` : ""
  return `interface ${name}${generics}${extendsClause} {\n${types.printMembers(shown, "  ", false)}\n}`
}

export function handleMembers(members: readonly types.Member[], block: DeclarationBlock): types.Member[] {
  block.hasHandles = true
  return members.flatMap((member): types.Member[] => {
    const { form, name, readonly, optional, doc } = member
    const type = splitType(member.type)
    if (name.startsWith("[")) return symbolMember(member, type, members, block)
    if (form === "setter") return [member]
    if (type.kind === "function" && (form === "method" || !type.constructs)) {
      return [
        { ...member, form: "method", type: { kind: "function", signature: remoteSignature(type.signature, block) } },
      ]
    }
    const received = receivedType(member.type, block)
    const read = types.promisedResult({
      parameters: [],
      returns: optional ? types.union([received, types.named("undefined")]) : received,
    })
    if (form === "getter" || readonly) return [{ name, form: "getter", type: read, doc }]
    // Reading returns a Promise and writing takes the value: two types, so two accessors.
    return [
      { name: `get ${name}()`, form: "field", type: read, doc },
      { name, form: "setter", type: received },
    ]
  })
}

/** Makes `[Symbol.iterator]` async, and index signatures `any`, because they also cover methods. */
function symbolMember(
  member: types.Member,
  type: types.TypeTree,
  members: readonly types.Member[],
  block: DeclarationBlock,
): types.Member[] {
  const { name } = member
  if (!name.startsWith("[Symbol.")) return [{ ...member, type: types.any }]
  if (type.kind !== "function") return []
  const target = asyncSymbols[name]
  if (target === undefined || (target !== name && members.some((other) => other.name === target))) return []
  const { signature } = type
  const isDispose = target === "[Symbol.asyncDispose]"
  const returns = isDispose ? types.named("Promise<void>") : asyncIteration(receivedType(signature.returns, block))
  return [{ ...member, name: target, type: { kind: "function", signature: { parameters: [], returns } } }]
}

const asyncSymbols: { [name: string]: string } = {
  "[Symbol.iterator]": "[Symbol.asyncIterator]",
  "[Symbol.asyncIterator]": "[Symbol.asyncIterator]",
  "[Symbol.dispose]": "[Symbol.asyncDispose]",
  "[Symbol.asyncDispose]": "[Symbol.asyncDispose]",
}

function asyncIteration(returns: types.TypeTree): types.TypeTree {
  const parts = splitType(returns)
  return parts.kind === "generic" && /^Async\w*(?:Iterator|Generator)\b/.test(parts.name)
    ? returns
    : types.named("AsyncIterator<any>")
}

/** Makes a call return a Promise of the received type. */
function remoteSignature(signature: types.Signature, block: DeclarationBlock): types.Signature {
  const { returns, awaited } = signature
  return {
    ...signature,
    returns: types.promisedResult({ parameters: [], returns: receivedType(returns, block), awaited }),
  }
}

function copiedMembers(members: readonly types.Member[], block: DeclarationBlock): types.Member[] {
  return members.map((member) => ({ ...member, type: receivedType(member.type, block) }))
}

/** Returns true if an object with these members cannot be copied: it has a method, an accessor or a call signature. */
function needsHandle(members: readonly types.Member[]): boolean {
  return members.some(({ form, type, optional, isAccessor }) => {
    if (isAccessor || form === "getter" || form === "setter") return true
    return !optional && splitType(type).kind === "function"
  })
}

function receivedParts(tree: types.TypeTree, block: DeclarationBlock): types.TypeTree {
  const receive = (part: types.TypeTree) => receivedType(part, block)
  switch (tree.kind) {
    case "name":
    case "text":
      return receivedName(tree, block)
    case "generic":
      return receivedGeneric(tree.name, tree.parts, block)
    case "array":
      return { ...tree, element: receive(tree.element) }
    case "tuple":
      return { ...tree, parts: tree.parts.map(receive), rest: tree.rest && receive(tree.rest) }
    case "union":
    case "intersection":
      return { kind: tree.kind, parts: tree.parts.map(receive) }
    case "function":
      return { ...tree, signature: remoteSignature(tree.signature, block) }
    case "object": {
      const isHandle = needsHandle(tree.members)
      return { kind: "object", members: (isHandle ? handleMembers : copiedMembers)(tree.members, block) }
    }
  }
}

function receivedName(
  tree: Extract<types.TypeTree, { kind: "name" | "text" }>,
  block: DeclarationBlock,
): types.TypeTree {
  const { text } = tree
  if (text === "Function" && !block.hasName(text)) {
    const parameters = [{ name: "args", type: { kind: "array", element: types.any } as const, rest: true }]
    return { kind: "function", signature: { parameters, returns: types.named("Promise<any>") } }
  }
  if (/^typeof [\w$.]+$/.test(text)) return handleOf(tree, block)
  return /^[A-Z]\w*$/.test(text) && isHostOnlyClass(text, block) ? handleOf(tree, block) : tree
}

function receivedGeneric(name: string, parts: types.TypeTree[], block: DeclarationBlock): types.TypeTree {
  const received = parts.map((part) => receivedType(part, block))
  const iterator = block.hasName(name) ? undefined : asyncTypes[name]
  if (iterator !== undefined) return { kind: "generic", name: iterator, parts: received.slice(0, 1) }
  const tree: types.TypeTree = { kind: "generic", name, parts: received }
  return isHostOnlyClass(name, block) ? handleOf({ kind: "generic", name, parts }, block) : tree
}

const asyncTypes: { [name: string]: string } = {
  Iterator: "AsyncIterator",
  Iterable: "AsyncIterable",
  IterableIterator: "AsyncIterableIterator",
  IteratorObject: "AsyncIterableIterator",
  ArrayIterator: "AsyncIterableIterator",
  MapIterator: "AsyncIterableIterator",
  SetIterator: "AsyncIterableIterator",
  StringIterator: "AsyncIterableIterator",
  Generator: "AsyncGenerator",
}

/** Returns true if instances of a class of the language or of Node stay on the host. */
function isHostOnlyClass(name: string, block: DeclarationBlock): boolean {
  if (block.hasName(name) || copiedClasses.has(name) || name.endsWith("Error")) return false
  return typeof Object.getOwnPropertyDescriptor(globalThis, name)?.value === "function"
}

const copiedClasses = new Set(
  `Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean Buffer DataView Date Float32Array Float64Array Int16Array
   Int32Array Int8Array Map Number Object Promise RegExp Set String Symbol Uint16Array Uint32Array Uint8Array
   Uint8ClampedArray`.split(/\s+/),
)

/** Returns `Handle<URL>`: the members of the class, each as a Promise. */
function handleOf(type: types.TypeTree, block: DeclarationBlock): types.TypeTree {
  block.hasHandles = true
  return { kind: "generic", name: block.declareOnce("Handle", handleText), parts: [type] }
}

/** Replaces `Handle<…>` by `any`, for a type checker that does not know Node's classes. */
export function handlesAsAny(declarations: string): string {
  return declarations.replace(/^type (Handle\d*)<T> = \{\n.*\n\} & .*$/gm, "type $1<T> = any")
}

function handleText(name: string): string {
  return `/** An object of the host: each member is a Promise. */
type ${name}<T> = {
  [K in keyof T & string]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : Promise<T[K]>
} & (T extends Iterable<infer E> ? AsyncIterable<E> : unknown)`
}
