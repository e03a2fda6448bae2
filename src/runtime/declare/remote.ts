import { types } from "node:util"
import type { TypeBinding } from "../bindings.ts"
import type { Block } from "./block.ts"
import { classMembers, type LiveClass, nameOfClass } from "./inspect-class.ts"
import { readSource } from "./source-types.ts"
import { jsDoc, type Member, printMembers, printType, promised, type TypeTree } from "./type-tree.ts"

// Objects of another process: their methods and members are the same, but each takes an `await`.

/** The type of an object that is elsewhere. */
export function remoteType(type: TypeTree): TypeTree {
  return type.kind === "object" ? { ...type, members: remoteMembers(type.members) } : type
}

/** What instances of a class elsewhere look like. There is no class to name at run time, so it is an interface. */
export function declareRemoteClass(name: string, type: LiveClass, block: Block): string {
  const { members, heritage } = classMembers(type, block.look("any"), block.nameOf, block.instanceOf(type))
  const base = /^ extends (\w+)$/.exec(heritage)?.[1]
  const extended = base !== undefined && !(base in globalThis) ? heritage : ""
  return remoteInterface(`${name}${extended}`, members, " // inferred")
}

/** A class elsewhere that was bound: `await new Light()` makes an instance there. Undefined where there is none to show. */
export function declareRemoteType(name: string, { type, options }: TypeBinding, block: Block): string | undefined {
  const { schema = true, doc = true, description, source: text } = options
  if (!schema || typeof type !== "function" || types.isProxy(type)) return undefined
  const source = text === undefined ? undefined : readSource(text)
  const written = source?.classNamed([nameOfClass(type) ?? name, name])
  const members =
    written?.type.members ?? classMembers(type, block.look("any"), block.nameOf, block.instanceOf(type)).members
  if (source && written) block.mentionFrom(source, printMembers(members, "", true))
  const made: TypeTree = { kind: "generic", name: "Promise", parts: [{ kind: "name", text: name }] }
  const maker = members.find(({ form }) => form === "constructor")?.type
  const parameters = maker?.kind === "function" ? maker.signature.parameters : []
  const statics = members.filter((member) => member.static).map(({ static: _, ...member }) => member)
  const shape: TypeTree = {
    kind: "object",
    members: [
      // The blank keeps the printer from taking it for a method called `new`.
      { name: "new ", form: "method", type: { kind: "function", signature: { parameters, returns: made } } },
      ...remoteMembers(statics),
    ],
  }
  const comment = doc ? jsDoc(description ?? written?.doc) : ""
  const note = written ? "" : " // inferred"
  return `${comment}${remoteInterface(name, members, note)}\ndeclare const ${name}: ${printType(shape)}`
}

function remoteInterface(head: string, members: readonly Member[], note: string): string {
  const own = members.filter((member) => !member.static && member.form !== "constructor")
  if (own.length === 0) return `interface ${head} {}${note}`
  return `interface ${head} {${note}\n${printMembers(remoteMembers(own), "  ", false)}\n}`
}

function remoteMembers(members: readonly Member[]): Member[] {
  return members.flatMap((member): Member[] => {
    const { type, form, name, readonly, doc } = member
    if (name.startsWith("[Symbol.iterator]") || form === "setter") return [member]
    if (type.kind === "function" && form === "method") {
      const { signature } = type
      return [{ ...member, type: { kind: "function", signature: { ...signature, returns: promised(signature) } } }]
    }
    const read = promised({ parameters: [], returns: type })
    if (form === "getter" || readonly) return [{ ...member, form: "getter", type: read }]
    // Read by awaiting, written at once: two types, so two accessors.
    return [
      { name: `get ${name}()`, form: "field", type: read, doc },
      { name, form: "setter", type },
    ]
  })
}
