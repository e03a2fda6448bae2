import type { MethodGuard } from "../bindings.ts"
import { guardEntries } from "../guard.ts"
import type { Block } from "./block.ts"
import { instanceMembers } from "./inspect-class.ts"
import { any, type Member, named, printType, promised, propertyName, type TypeTree } from "./type-tree.ts"

/** The type of an object as cells in the same process see it: its guarded methods pass the gate, and so give Promises. */
export function guardedType(type: TypeTree, value: unknown, guard: MethodGuard, block: Block): TypeTree {
  const names = guardEntries(guard).map(([name]) => propertyName(name))
  if (names.length === 0) return type
  if (type.kind === "object") {
    return { ...type, members: type.members.map((member) => (names.includes(member.name) ? awaited(member) : member)) }
  }
  const known = typeof value === "object" && value !== null ? instanceMembers(value, block.look("any"), 1) : []
  const members = names.map((name) => awaited(known.find((member) => member.name === name) ?? unknownMethod(name)))
  const left = named(`Omit<${printType(type)}, ${names.map((name) => quoted(name)).join(" | ")}>`)
  return { kind: "intersection", parts: [left, { kind: "object", members }] }
}

function awaited(member: Member): Member {
  if (member.type.kind !== "function") return awaited(unknownMethod(member.name))
  const { signature } = member.type
  return {
    ...member,
    form: "method",
    type: { kind: "function", signature: { ...signature, returns: promised(signature) } },
  }
}

function unknownMethod(name: string): Member {
  const parameters = [{ name: "args", type: { kind: "array", element: any } as const, rest: true }]
  return { name, form: "method", type: { kind: "function", signature: { parameters, returns: any } } }
}

function quoted(name: string): string {
  return name.startsWith('"') ? name : JSON.stringify(name)
}
