// Reads the public members of a class from its source text.
import type { Class, Expression, MethodDefinition, Node, PropertyDefinition } from "acorn"
import { attempt } from "../../core/attempt.ts"
import { parseCell } from "../compiler/parse-cell.ts"
import type { ParameterProperty } from "../compiler/typescript-ast.ts"
import { annotatedType, childNode, expressionType, methodFunction, signatureOf, sourceText } from "./parse-signature.ts"
import { any, type Member, propertyName, type TypeTree } from "./type-tree.ts"

export interface ClassSource {
  generics: string
  /** The name after `extends`, and its type arguments. */
  base?: string | undefined
  baseArguments: string
  abstract: boolean
  members: Member[]
}

/** Returns the source of a running class; undefined for native ones. It still has JSDoc comments, but no types. */
export function runningClassSource(type: object): ClassSource | undefined {
  const known = sources.get(type)
  if (known !== undefined) return known ?? undefined
  const source = attempt(() => {
    const code = `(${Function.prototype.toString.call(type)})`
    const statement = parseCell(code).program.body[0]
    if (statement?.type !== "ExpressionStatement" || statement.expression.type !== "ClassExpression") return undefined
    return readClass(statement.expression, code)
  })
  sources.set(type, source ?? null)
  return source
}

export function readClass(node: Class, code: string): ClassSource {
  return {
    generics: node.typeParameters ? sourceText(node.typeParameters, code) : "",
    base: node.superClass?.type === "Identifier" ? node.superClass.name : undefined,
    baseArguments: node.superTypeParameters ? sourceText(node.superTypeParameters, code) : "",
    abstract: node.abstract === true,
    members: sortMembers(withoutImplementations(readMembers(node, code))),
  }
}

/** Returns true for a name that is private by convention (`_`) or by syntax (`#`). */
export function isPrivateName(name: string): boolean {
  return name.startsWith("_") || name.startsWith("#")
}

/** Returns the text of the last JSDoc comment between two positions. */
export function docCommentBefore(code: string, from: number, to: number): string | undefined {
  const comment = code
    .slice(from, to)
    .match(/\/\*\*(?!\/)([\s\S]*?)(?:\*\/|$)/g)
    ?.at(-1)
  return comment
    ?.slice(3, -2)
    .replace(/^[ \t]*\* ?/gm, "")
    .trim()
}

/** Sorts members: constructor, fields, methods, statics. */
export function sortMembers<M extends Member>(members: readonly M[]): M[] {
  const rank = ({ form, static: onClass }: Member) =>
    onClass ? 3 : form === "constructor" ? 0 : form === "method" ? 2 : 1
  return members.toSorted((a, b) => rank(a) - rank(b))
}

const sources = new WeakMap<object, ClassSource | null>()

/** `implemented`: the member has a body. Where overloads precede it, only the overloads are shown. */
type SourceMember = Member & { implemented: boolean }

function readMembers(node: Class, code: string): SourceMember[] {
  const members: SourceMember[] = []
  let from = node.body.start + 1
  for (const element of node.body.body) {
    const doc = docCommentBefore(code, from, element.start)
    from = element.end
    if (element.type !== "MethodDefinition" && element.type !== "PropertyDefinition") continue
    if (element.type === "MethodDefinition" && element.kind === "constructor") {
      members.push(...constructorMembers(element, code, doc))
      continue
    }
    const key = keyOf(element)
    if (key === undefined || isPrivateName(key) || (element.accessibility ?? "public") !== "public") continue
    const { optional, abstract, static: onClass } = element
    const shared = { name: propertyName(key), doc, optional, abstract, static: onClass }
    members.push(
      element.type === "MethodDefinition"
        ? { ...shared, ...readMethod(element, code) }
        : { ...shared, ...readField(element, code) },
    )
  }
  return mergeMembers(members)
}

function readMethod(element: MethodDefinition, code: string): Pick<SourceMember, "form" | "type" | "implemented"> {
  const signature = signatureOf(methodFunction(element), code)
  const implemented = childNode(element.value, "body") !== undefined
  if (element.kind === "get") return { form: "getter", type: signature.returns, implemented: false }
  if (element.kind === "set") return { form: "setter", type: signature.parameters[0]?.type ?? any, implemented: false }
  return { form: "method", type: { kind: "function", signature }, implemented }
}

function readField(
  element: PropertyDefinition,
  code: string,
): Pick<SourceMember, "form" | "type" | "readonly" | "implemented"> {
  const type = annotatedType(element, code) ?? expressionType(element.value, code) ?? any
  const isMethod = type.kind === "function" && !element.typeAnnotation
  return { form: isMethod ? "method" : "field", type, readonly: !isMethod && element.readonly, implemented: false }
}

/** Returns the constructor, the fields its parameters declare, and the fields it assigns that are not declared. */
function constructorMembers(element: MethodDefinition, code: string, doc: string | undefined): SourceMember[] {
  const { value } = element
  const signature = signatureOf(value, code)
  const typeOf = new Map(signature.parameters.map((parameter) => [parameter.name, parameter.type]))
  const shared = { form: "field", implemented: false } as const
  const members: SourceMember[] = []
  if ((element.accessibility ?? "public") === "public") {
    const type: TypeTree = { kind: "function", signature }
    members.push({
      name: "constructor",
      form: "constructor",
      type,
      doc,
      implemented: childNode(value, "body") !== undefined,
    })
  }
  // The tree contains parameter properties, which acorn's types lack.
  for (const param of value.params as (Node | ParameterProperty)[]) {
    if (param.type !== "TSParameterProperty" || !("parameter" in param)) continue
    const name = parameterName(param.parameter)
    const hidden = Reflect.get(param, "accessibility") ?? "public"
    if (!name || hidden !== "public" || isPrivateName(name)) continue
    const readonly = Reflect.get(param, "readonly") === true
    members.push({ ...shared, name: propertyName(name), type: typeOf.get(name) ?? any, readonly })
  }
  for (const { name, value: assigned } of thisAssignments(value)) {
    if (isPrivateName(name)) continue
    const parameterType = assigned.type === "Identifier" ? typeOf.get(assigned.name) : undefined
    const type =
      parameterType && parameterType.kind !== "name"
        ? parameterType
        : (expressionType(assigned, code) ?? parameterType ?? any)
    members.push({ ...shared, name: propertyName(name), type: isUnknown(type) ? any : type })
  }
  return members
}

function parameterName(param: Node): string | undefined {
  const named = param.type === "AssignmentPattern" ? childNode(param, "left") : param
  return named?.type === "Identifier" && "name" in named && typeof named.name === "string" ? named.name : undefined
}

function thisAssignments({ body }: MethodDefinition["value"]): { name: string; value: Expression }[] {
  return (body?.body ?? []).flatMap((statement) => {
    if (statement.type !== "ExpressionStatement" || statement.expression.type !== "AssignmentExpression") return []
    const { left, right } = statement.expression
    if (left.type !== "MemberExpression" || left.object.type !== "ThisExpression" || left.computed) return []
    return left.property.type === "Identifier" ? [{ name: left.property.name, value: right }] : []
  })
}

/** Merges members by name: a getter and setter become a field, and a declared field wins over an assignment. */
function mergeMembers(members: SourceMember[]): SourceMember[] {
  const found = new Map<string, SourceMember[]>()
  for (const member of members) {
    const key = `${member.static ? "static " : ""}${member.name}`
    const same = found.get(key) ?? []
    const [first] = same
    found.set(key, same)
    if (!first || (member.form === first.form && member.form !== "field")) same.push(member)
    else if (first.form === "getter" && member.form === "setter") same[0] = mergeAccessors(first, member)
    else if (first.form === "setter" && member.form === "getter") same[0] = mergeAccessors(member, first)
    else if (first.form === "field" && isAny(first.type)) same[0] = { ...member, doc: member.doc ?? first.doc }
    else if (first.form === "field" && !first.doc) same[0] = { ...first, doc: member.doc }
  }
  return [...found.values()].flat()
}

function mergeAccessors(getter: SourceMember, setter: SourceMember): SourceMember {
  return {
    ...getter,
    form: "field",
    type: isAny(getter.type) && !isUnknown(setter.type) ? setter.type : getter.type,
    doc: getter.doc ?? setter.doc,
  }
}

/** Drops the implementations of members that have overloads. */
function withoutImplementations(members: SourceMember[]): Member[] {
  const declared = new Set(members.filter((member) => !member.implemented).map((member) => member.name))
  return members
    .filter((member) => !member.implemented || !declared.has(member.name))
    .map(({ implemented: _, ...member }) => member)
}

function keyOf({ key, computed }: MethodDefinition | PropertyDefinition): string | undefined {
  if (key.type === "PrivateIdentifier") return undefined
  if (key.type === "Identifier" && !computed) return key.name
  return key.type === "Literal" && (typeof key.value === "string" || typeof key.value === "number")
    ? String(key.value)
    : undefined
}

function isAny(type: TypeTree): boolean {
  return type.kind === "name" && type.text === "any"
}

function isUnknown(type: TypeTree): boolean {
  return type.kind === "name" && type.text === "unknown"
}
