// Declares objects with guarded methods, which pass the call gate and so return Promises, for cells in this process.
import { guardEntries } from "../bindings/method-guards.ts"
import type { MethodGuard } from "../bindings.ts"
import type { DeclarationBlock } from "./declaration-block.ts"
import { classOf, instanceMembers } from "./inspect-class.ts"
import { splitType } from "./type-parts.ts"
import { any, type Member, promisedResult, propertyName, type TypeTree } from "./type-tree.ts"

/** Makes the guarded methods return Promises of the results that the type's text or the source of the class states. */
export function guardedType(type: TypeTree, value: unknown, guard: MethodGuard, block: DeclarationBlock): TypeTree {
  const names = guardEntries(guard).map(([name]) => propertyName(name))
  if (names.length === 0) return type
  const parts = splitType(type)
  if (parts.kind === "object" && names.every((name) => parts.members.some((member) => member.name === name))) {
    return {
      ...parts,
      members: parts.members.map((member) => (names.includes(member.name) ? gatedMethod(member) : member)),
    }
  }
  const known = knownMembers(type, value, block)
  const members = names.flatMap((name) => {
    const found = known.find((list) => list.some((member) => member.name === name)) ?? [unknownMethod(name)]
    return found.filter((member) => member.name === name).map(gatedMethod)
  })
  // TypeScript picks the first matching method of an intersection: the guarded one.
  return { kind: "intersection", parts: [{ kind: "object", members }, type] }
}

/** Returns lists of members; those the author wrote come before those found on the value. */
function knownMembers(type: TypeTree, value: unknown, block: DeclarationBlock): Member[][] {
  const name = type.kind === "name" ? type.text : ""
  if (typeof value !== "object" || value === null) return [block.sourceMembers(name, undefined) ?? []]
  return [block.sourceMembers(name, classOf(value)) ?? [], instanceMembers(value, block.inspector("any"), 1)]
}

function gatedMethod(member: Member): Member {
  const type = splitType(member.type)
  if (type.kind !== "function") return gatedMethod(unknownMethod(member.name))
  const { signature } = type
  return {
    ...member,
    form: "method",
    type: { kind: "function", signature: { ...signature, returns: promisedResult(signature) } },
  }
}

function unknownMethod(name: string): Member {
  const parameters = [{ name: "args", type: { kind: "array", element: any } as const, rest: true }]
  return { name, form: "method", type: { kind: "function", signature: { parameters, returns: any } } }
}
