// Merges the types that were inferred from several values into one.
import { any, type Member, type TypeTree, union } from "./type-tree.ts"

export type ObjectType = Extract<TypeTree, { kind: "object" }>

// The element type of an empty collection is `any`; the merge drops it if another collection has elements.
export const emptyElement: TypeTree = { kind: "name", text: "any" }

/** More alternatives than these are shown as `any`. */
const maxAlternatives = 4

/** Merges types: shapes are merged, arrays joined, and the rest become alternatives, or `any` if too many. */
export function mergeTypes(types: readonly TypeTree[]): TypeTree {
  const shapes = types.filter((type) => type.kind === "object")
  const arrays = types.filter((type) => type.kind === "array")
  const others = types.filter((type) => type.kind !== "object" && type.kind !== "array")
  const elements = arrays.map((type) => type.element).filter((element) => element !== emptyElement)
  const type = union([
    ...(shapes.length ? [mergeShapes(shapes)] : []),
    ...(arrays.length
      ? [{ kind: "array" as const, element: elements.length ? mergeTypes(elements) : emptyElement }]
      : []),
    ...others,
  ])
  return limitAlternatives(type)
}

export function limitAlternatives(type: TypeTree): TypeTree {
  return type.kind === "union" && type.parts.length > maxAlternatives ? any : type
}

/** Merges the members of several objects. Members that some objects lack become optional. */
export function mergeShapes(shapes: readonly ObjectType[]): ObjectType {
  const [only, more] = shapes
  if (only && !more) return only
  const found = new Map<string, { member: Member; types: TypeTree[] }>()
  for (const member of shapes.flatMap((shape) => shape.members)) {
    const same = found.get(member.name)
    if (same) same.types.push(member.type)
    else found.set(member.name, { member, types: [member.type] })
  }
  const members = [...found.values()].map(({ member: { name, form, readonly, isAccessor, doc }, types }): Member => {
    const type = mergeTypes(types)
    const optional = types.length < shapes.length && !name.startsWith("[")
    return { name, form: type.kind === "function" ? form : "field", type, optional, readonly, isAccessor, doc }
  })
  return { kind: "object", members }
}
