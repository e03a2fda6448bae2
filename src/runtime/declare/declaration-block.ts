import type { Binding } from "../bindings.ts"
import { type AuthorSource, readAuthorSource } from "./author-source.ts"
import { instanceMembers, isGlobalClass, type LiveClass, nameOfClass } from "./inspect-class.ts"
import { createInspector, type ValueInspector } from "./inspect-value.ts"
import type { TypeDeclarer } from "./json-schema-type.ts"
import { splitTypeDeclaration } from "./type-parts.ts"
import { isIdentifier, jsDoc, type Member, printMembers, printType, type TypeTree } from "./type-tree.ts"

/** A block of declarations being written: what stands in it and which names mean what. */
export interface DeclarationBlock extends TypeDeclarer {
  lines: string[]
  /** Looks at live values and declares the classes it meets. Instances of those without a name are shown by their
   *  members, or as `unnamed`. */
  inspector(unnamed?: string): ValueInspector
  /** The name of a class: as it was bound, or as it is bound because an instance was; it is declared by then. */
  referToClass(type: LiveClass): string | undefined
  /** An instance of a class, if one was injected. */
  instanceOf(type: LiveClass): object | undefined
  /** Declares something under a name like this one, once for the same text, and gives the name. */
  declareOnce(like: string, make: (name: string) => string): string
  /** Declares the classes that a text names, as far as they are known only by their instances. */
  declareMentionedClasses(text: string): void
  /** Declares the types that a text names and the source it was taken from declares. `handle` is the name of one whose
   *  values are handles, even if all its members are data. */
  declareMentionedTypes(source: AuthorSource, text: string, handle?: string): void
  /** The members of a class as its author wrote them, found by the name of its binding or by the class itself. */
  sourceMembers(name: string, type: LiveClass | undefined): Member[] | undefined
  /** Whether a binding or the class of one has this name. */
  hasName(name: string): boolean
  /** Whether something in the block is an object of another process. */
  hasHandles: boolean
}

/** How a block writes types. */
export interface TypeWriter {
  /** Writes the class of an injected instance when it is first named. */
  declareClass(name: string, type: LiveClass, block: DeclarationBlock): string
  /** Writes an interface or type alias that an author's source declares. Default: as it is. */
  declareSourceType?(text: string, block: DeclarationBlock, isHandle: boolean): string
}

export function createDeclarationBlock(
  bindings: ReadonlyMap<string, Binding>,
  among: ReadonlyMap<string, Binding>,
  writer: TypeWriter,
): DeclarationBlock {
  const all = among === bindings ? bindings : new Map([...among, ...bindings])
  const reached = injectedClasses(all)
  const implied = nameImpliedClasses(all, reached.keys())
  const explicit = new Map(
    [...all].flatMap(([name, binding]) => (binding.kind === "type" ? [[binding.type, name]] : [])),
  )
  const classes = new Map([...implied].map(([name, type]) => [type, name]))
  const pending = new Map(implied)
  const declared = new Map<string, string>()
  const isTaken = (name: string) => all.has(name) || implied.has(name) || builtInTypeNames.has(name)

  const need = (name: string) => {
    const type = pending.get(name)
    if (!type || !pending.delete(name)) return
    block.lines.push(writer.declareClass(name, type, block))
  }

  const block: DeclarationBlock = {
    lines: [],
    inspector: (unnamed) => createInspector((type) => block.referToClass(type) ?? unnamed),
    referToClass(type) {
      const name = explicit.get(type) ?? classes.get(type)
      if (name !== undefined) need(name)
      return name
    },
    instanceOf: (type) => reached.get(type),
    declareMentionedClasses(text) {
      if (pending.size) for (const word of text.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? []) need(word)
    },
    hasHandles: false,
    hasName: (name) => all.has(name) || implied.has(name) || declared.has(name),
    sourceMembers(name, type) {
      const text = declared.get(name)
      if (text !== undefined) return splitTypeDeclaration(text)?.members
      const own = all.get(name)
      const found =
        own?.kind === "type" ? own : [...all.values()].find((each) => each.kind === "type" && each.type === type)
      if (found?.kind !== "type" || found.options.source === undefined) return undefined
      const words = [nameOfClass(found.type) ?? name, name]
      const members = readAuthorSource(found.options.source)?.classNamed(words)?.type.members
      return members?.filter((member) => !member.static && member.form !== "constructor")
    },
    declareMentionedTypes(source, text, handle) {
      const found = source.typesMentionedIn(text, (name) => isTaken(name) || declared.has(name))
      for (const { name, text: own } of found) declared.set(name, own)
      for (const { name, text: own } of found) {
        block.lines.push(writer.declareSourceType?.(own, block, name === handle) ?? own)
      }
    },
    declareType: (like, type, doc) =>
      block.declareOnce(like, (name) => jsDoc(doc) + printTypeDeclaration(name, type(name))),
    declareOnce(like, make) {
      for (let count = 1; ; count++) {
        const name = count === 1 ? like : `${like}${count}`
        const before = declared.get(name)
        if (isTaken(name)) continue
        // Held while the text is made, which may declare others.
        if (before === undefined) declared.set(name, "")
        const text = make(name)
        if (before === text) return name
        if (before !== undefined) continue
        declared.set(name, text)
        block.lines.push(text)
        return name
      }
    },
  }
  return block
}

/** The classes to bind by themselves, because instances of them were injected: named like the class, unless that is no
 *  identifier, a global, or already the name of a binding or of another class. */
export function impliedClasses(bindings: ReadonlyMap<string, Binding>): Map<string, LiveClass> {
  return nameImpliedClasses(bindings, injectedClasses(bindings).keys())
}

/** `interface Task { … }` where the type is an object, else `type Task = …`. */
export function printTypeDeclaration(name: string, type: TypeTree): string {
  if (type.kind !== "object" || !type.members.length) return `type ${name} = ${printType(type)}`
  return `interface ${name} {\n${printMembers(type.members, "  ", false)}\n}`
}

/** Names of types that declarations use themselves. */
const builtInTypeNames = new Set(
  `Array AsyncGenerator AsyncIterable AsyncIterator Awaited Date Generator Iterator Map Omit Partial Promise Record RegExp Set any bigint boolean
   never null number object string symbol undefined unknown void`.split(/\s+/),
)

/** An object graph may be large; more classes than these say little about the few that were injected. */
const maxClasses = 20

/** The classes of injected values and, one step further, of what these hold; each with an instance. */
function injectedClasses(bindings: ReadonlyMap<string, Binding>): Map<LiveClass, object> {
  const reached = new Map<LiveClass, object>()
  const look = () =>
    createInspector((type, instance) => {
      if (reached.size < maxClasses && !reached.has(type)) reached.set(type, instance)
      return "any"
    })
  for (const binding of bindings.values()) if (binding.kind === "variable") look().typeOf(binding.value)
  for (const instance of [...reached.values()]) instanceMembers(instance, look(), 2)
  return reached
}

function nameImpliedClasses(
  bindings: ReadonlyMap<string, Binding>,
  reached: Iterable<LiveClass>,
): Map<string, LiveClass> {
  const explicit = new Set(
    [...bindings.values()].map((binding) => (binding.kind === "type" ? binding.type : undefined)),
  )
  const implied = new Map<string, LiveClass>()
  for (const type of reached) {
    const name = nameOfClass(type)
    if (name === undefined || explicit.has(type) || isGlobalClass(type) || !isIdentifier(name)) continue
    if (!bindings.has(name) && !implied.has(name) && !(name in globalThis) && !builtInTypeNames.has(name))
      implied.set(name, type)
  }
  return implied
}
