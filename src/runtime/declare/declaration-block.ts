// A block of declarations in progress: its lines, the names in use, and the classes it must still declare.
import type { Binding } from "../bindings.ts"
import { type AuthorSource, readAuthorSource } from "./author-source.ts"
import { instanceMembers, isGlobalClass, type LiveClass, nameOfClass } from "./inspect-class.ts"
import { createInspector, type ValueInspector } from "./inspect-value.ts"
import type { TypeDeclarer } from "./json-schema-type.ts"
import { noSourceLookup, type SourceLookup } from "./source/source-lookup.ts"
import { createSourceTypes, noSourceTypes, type SourceTypes } from "./source/source-types.ts"
import type { TableCounter } from "./table-counts.ts"
import { splitTypeDeclaration } from "./type-parts.ts"
import { isIdentifier, jsDoc, type Member, printMembers, printType, type TypeTree } from "./type-tree.ts"

export interface DeclarationBlock extends TypeDeclarer {
  lines: string[]
  /** What the author wrote in the files of functions and classes. */
  sources: SourceTypes
  /** Returns an inspector that declares each class it finds. Unnamed classes are shown by members, or as `unnamed`. */
  inspector(unnamed?: string): ValueInspector
  /** Returns the name of a class that is bound, or that has an injected instance. Declares the class at first use. A
   *  class of Node or of a package that is not bound is `import("pkg").Name`. */
  referToClass(type: LiveClass): string | undefined
  /** Returns the classes that are bound or have an injected instance. */
  liveClasses(): Iterable<LiveClass>
  /** Returns true if an enum, or an object used as one, is bound by this name. */
  isBoundEnum(name: string): boolean
  /** Declares a type of the user's files under this name or a numbered variant. Declares nothing if there is no
   *  text. */
  declareSourceType(suggestedName: string, isHandle: boolean, createText: (name: string) => string | undefined): void
  /** Returns an injected instance of a class, if there is one. */
  instanceOf(type: LiveClass): object | undefined
  /** Declares a text under this name or a numbered variant, once per distinct text. Returns the name. */
  declareOnce(suggestedName: string, createText: (name: string) => string): string
  /** Declares the classes named in a text that are known only through injected instances. */
  declareMentionedClasses(text: string): void
  /** Declares the types that a text names and that its source declares. Values of the type called `handle` are handles,
   *  even if all its members are data. */
  declareMentionedTypes(source: AuthorSource, text: string, handle?: string): void
  /** Returns the members of a class as its author wrote them, found by binding name or by the class itself. */
  sourceMembers(name: string, type: LiveClass | undefined): Member[] | undefined
  /** Returns true if a binding, an implied class or a declared type has this name. */
  hasName(name: string): boolean
  /** True if the block declares an object of another process. */
  hasHandles: boolean
}

export interface TypeWriter {
  /** Writes the class of an injected instance at its first use. */
  declareClass(name: string, type: LiveClass, block: DeclarationBlock): string
  /** Writes an interface or type alias from an author's source. Default: unchanged. */
  declareSourceType?(text: string, block: DeclarationBlock, isHandle: boolean): string
}

export function createDeclarationBlock(
  bindings: ReadonlyMap<string, Binding>,
  allBindings: ReadonlyMap<string, Binding>,
  writer: TypeWriter,
  lookup: SourceLookup = noSourceLookup,
  tables?: TableCounter,
): DeclarationBlock {
  const all = allBindings === bindings ? bindings : new Map([...allBindings, ...bindings])
  const reached = injectedClasses(all)
  const implied = nameImpliedClasses(all, reached.keys())
  const explicit = new Map(
    [...all].flatMap(([name, binding]) => (binding.kind === "type" ? [[binding.type, name]] : [])),
  )
  const classes = new Map([...implied].map(([name, type]) => [type, name]))
  const pending = new Map(implied)
  const declared = new Map<string, string>()
  const isTaken = (name: string) => all.has(name) || implied.has(name) || builtInTypeNames.has(name)

  const declarePending = (name: string) => {
    const type = pending.get(name)
    if (!type || !pending.delete(name)) return
    const reference = block.sources.referenceTo(type)
    if (reference === undefined) block.lines.push(writer.declareClass(name, type, block))
    else {
      const text = `type ${name} = ${reference}`
      block.lines.push(writer.declareSourceType?.(text, block, true) ?? text)
    }
  }

  const block: DeclarationBlock = {
    lines: [],
    sources: noSourceTypes,
    inspector: (unnamed) =>
      createInspector((type) => block.referToClass(type) ?? unnamed, undefined, block.sources, tables),
    referToClass(type) {
      const bound = explicit.get(type)
      const reference = bound === undefined ? block.sources.referenceTo(type) : undefined
      const name = bound ?? reference ?? classes.get(type)
      if (name !== undefined) declarePending(name)
      return name
    },
    liveClasses: () => [...explicit.keys(), ...classes.keys()].filter((type) => typeof type === "function"),
    isBoundEnum(name) {
      const binding = all.get(name)
      return binding?.kind === "type" && typeof binding.type !== "function"
    },
    declareSourceType(suggestedName, isHandle, createText) {
      let name = suggestedName
      for (let count = 2; isTaken(name) || declared.has(name); count++) name = `${suggestedName}${count}`
      // Reserve the name: building the text may declare other types.
      declared.set(name, "")
      const before = block.lines.length
      const own = createText(name)
      const isMentioned = () => block.lines.slice(before).some((line) => mentions(line, name))
      const text = own ?? (isMentioned() ? `type ${name} = any` : undefined)
      if (text === undefined) declared.delete(name)
      else {
        declared.set(name, text)
        block.lines.push(writer.declareSourceType?.(text, block, isHandle) ?? text)
      }
    },
    instanceOf: (type) => reached.get(type),
    declareMentionedClasses(text) {
      if (pending.size)
        for (const word of text.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? []) declarePending(word)
    },
    hasHandles: false,
    hasName: (name) => all.has(name) || implied.has(name) || declared.has(name),
    sourceMembers(name, type) {
      const text = declared.get(name)
      if (text !== undefined) return splitTypeDeclaration(text)?.members
      const own = all.get(name)
      const found =
        own?.kind === "type" ? own : [...all.values()].find((each) => each.kind === "type" && each.type === type)
      if (found?.kind !== "type" || found.options.source === undefined) {
        const written = type && block.sources.classSource(type, [])?.members
        return written?.filter((member) => !member.static && member.form !== "constructor")
      }
      const words = [nameOfClass(found.type) ?? name, name]
      const members = readAuthorSource(found.options.source)?.classNamed(words)?.type.members
      return members?.filter((member) => !member.static && member.form !== "constructor")
    },
    declareMentionedTypes(source, text, handle) {
      const found = source.typesMentionedIn(text, (name) => isTaken(name) || declared.has(name))
      for (const type of found) declared.set(type.name, type.text)
      for (const type of found) {
        block.lines.push(writer.declareSourceType?.(type.text, block, type.name === handle) ?? type.text)
      }
    },
    declareType: (suggestedName, type, doc) =>
      block.declareOnce(suggestedName, (name) => jsDoc(doc) + printTypeDeclaration(name, type(name))),
    declareOnce(suggestedName, createText) {
      for (let count = 1; ; count++) {
        const name = count === 1 ? suggestedName : `${suggestedName}${count}`
        const existing = declared.get(name)
        if (isTaken(name)) continue
        // Reserve the name: building the text may declare other types.
        if (existing === undefined) declared.set(name, "")
        const text = createText(name)
        if (existing === text) return name
        if (existing !== undefined) continue
        declared.set(name, text)
        block.lines.push(text)
        return name
      }
    },
  }
  block.sources = lookup === noSourceLookup ? noSourceTypes : createSourceTypes(lookup, block)
  return block
}

/** Returns the classes to bind automatically because an instance was injected, by class name. Skips names that are not
 *  identifiers, globals, or names already taken by a binding or another class. */
export function impliedClasses(bindings: ReadonlyMap<string, Binding>): Map<string, LiveClass> {
  return nameImpliedClasses(bindings, injectedClasses(bindings).keys())
}

function mentions(text: string, name: string): boolean {
  return text.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu)?.includes(name) ?? false
}

/** `interface Task { … }` where the type is an object, else `type Task = …`. */
export function printTypeDeclaration(name: string, type: TypeTree): string {
  if (type.kind !== "object" || !type.members.length) return `type ${name} = ${printType(type)}`
  return `interface ${name} {\n${printMembers(type.members, "  ", false)}\n}`
}

/** Type names that the declarations themselves use. */
const builtInTypeNames = new Set(
  `Array AsyncGenerator AsyncIterable AsyncIterator Awaited Date Generator Iterator Map Omit Partial Promise Record RegExp Set any bigint boolean
   never null number object string symbol undefined unknown void`.split(/\s+/),
)

/** Upper limit for large object graphs; more classes would not help the reader. */
const maxClasses = 20

/** Returns the classes of injected values and of the values directly inside them, each with one instance. */
function injectedClasses(bindings: ReadonlyMap<string, Binding>): Map<LiveClass, object> {
  const reached = new Map<LiveClass, object>()
  const inspectorOf = () =>
    createInspector((type, instance) => {
      if (reached.size < maxClasses && !reached.has(type)) reached.set(type, instance)
      return "any"
    })
  for (const binding of bindings.values()) if (binding.kind === "variable") inspectorOf().typeOf(binding.value)
  for (const instance of [...reached.values()]) instanceMembers(instance, inspectorOf(), 2)
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
