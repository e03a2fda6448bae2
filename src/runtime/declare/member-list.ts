// Members that a class and its bases have together, and members that hold functions.
import { types } from "node:util"
import { sortMembers } from "./class-source.ts"
import type { SourceTypes } from "./source/source-types.ts"
import { any, type Member, propertyName, type TypeTree } from "./type-tree.ts"

/** Stands for members that are not listed. */
export const anyMember: Member = { name: "[member: string]", form: "field", type: any }

/** Collects the members of a class and its bases. Those of the class itself, added first, win. */
export function createMemberList() {
  // Several members of one name are overloads.
  const members = new Map<string, Member[]>()
  const written = new Set<string>()
  const hidden = new Set<string>()
  return {
    add(added: readonly Member[], isWritten: boolean): void {
      for (const [key, same] of Map.groupBy(added, memberKey)) {
        if (members.has(key)) continue
        members.set(key, same)
        if (isWritten) written.add(key)
      }
    },
    hide(names: Iterable<string>): void {
      for (const name of names) hidden.add(propertyName(name))
    },
    /** Prefers the field type found in an instance to the type guessed from running code, but not to a written type. */
    refine(field: Member): void {
      const key = memberKey(field)
      const [known] = members.get(key) ?? []
      if (known?.form === "getter" || known?.form === "method") return
      if (hidden.has(field.name) || (known && written.has(key) && !isAny(known.type))) return
      if (!known && members.has(anyMember.name)) return
      members.set(key, [{ ...field, type: typeOfField(field.type, known?.type), doc: known?.doc }])
    },
    list(): Member[] {
      const named = [...members].flatMap(([key, same]) => (key === anyMember.name ? [] : same))
      return [...sortMembers(named), ...(members.get(anyMember.name) ?? [])]
    },
  }
}

function isAny(type: TypeTree): boolean {
  return type.kind === "name" && type.text === "any"
}

/** Uses the written type for a field that is empty now, because it may be filled later. */
function typeOfField(type: TypeTree, written: TypeTree | undefined): TypeTree {
  const empty = type.kind === "name" && (type.text === "null" || type.text === "undefined")
  return empty ? (written ?? any) : type
}

/** Returns the name of a member, different for a static one. */
export function memberKey(member: Member): string {
  return `${member.static ? "static " : ""}${member.name}`
}

/** Returns a member for each overload of a method. */
export function methodMembers(name: string, call: object, type: TypeTree, sources: SourceTypes): Member[] {
  if (type.kind !== "function") return [{ name, form: "field", type }]
  const written = types.isProxy(call) ? undefined : sources.functionSource(call)
  const doc = written?.doc ?? (types.isProxy(call) ? undefined : sources.docOf(call))
  const signatures = written?.signatures ?? [type.signature]
  return signatures.map((signature, index): Member => {
    return { name, form: "method", type: { kind: "function", signature }, doc: index === 0 ? doc : undefined }
  })
}

/** Returns a property with a getter or setter, which is not read. */
export function accessorMember(name: string, { get, set }: PropertyDescriptor, sources: SourceTypes): Member {
  const call = get ?? set
  const written = call && !types.isProxy(call) ? sources.functionSource(call) : undefined
  const [signature] = written?.signatures ?? []
  const type = (get ? signature?.returns : signature?.parameters[0]?.type) ?? any
  return { name, form: get ? (set ? "field" : "getter") : "setter", type, isAccessor: true, doc: written?.doc }
}
