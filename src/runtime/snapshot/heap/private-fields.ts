// Detects `#private` fields in the source of classes: their state can be neither read nor restored.
import type { AnyNode } from "acorn"
import { parseTypeScript } from "../../compiler/typescript-parser.ts"
import { classOfPrototype } from "./object-kinds.ts"

/** Returns true if an instance with this prototype may have `#private` fields. */
export function mayHavePrivateInstanceFields(prototype: object): boolean {
  for (let at: object | null = prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const owner = classOfPrototype(at)
    if (owner && privateFieldsOf(owner).ofInstances) return true
  }
  return false
}

/** Returns true if a class has `static #private` fields. */
export function hasPrivateStaticFields(classOrFunction: object): boolean {
  return privateFieldsOf(classOrFunction).ofClass
}

interface PrivateFields {
  ofInstances: boolean
  ofClass: boolean
}

const none: PrivateFields = { ofInstances: false, ofClass: false }
const privateFieldsCache = new WeakMap<object, PrivateFields>()

function privateFieldsOf(value: object): PrivateFields {
  const found = privateFieldsCache.get(value) ?? readPrivateFields(Function.prototype.toString.call(value))
  privateFieldsCache.set(value, found)
  return found
}

function readPrivateFields(source: string): PrivateFields {
  if (!source.startsWith("class") || !/#[\p{ID_Start}$_\\]/u.test(source)) return none
  const members = membersOf(source)
  // If the class cannot be parsed, assume private fields.
  if (!members) return { ofInstances: true, ofClass: true }
  const fields = members.filter(
    (member) => member.type === "PropertyDefinition" && member.key.type === "PrivateIdentifier",
  )
  const isStatic = (member: AnyNode) => member.type === "PropertyDefinition" && member.static
  return { ofInstances: fields.some((field) => !isStatic(field)), ofClass: fields.some(isStatic) }
}

function membersOf(source: string): readonly AnyNode[] | undefined {
  try {
    const [statement] = parseTypeScript(`(${source})`).body
    if (statement?.type !== "ExpressionStatement") return undefined
    const { expression } = statement
    return expression.type === "ClassExpression" ? expression.body.body : undefined
  } catch {
    return undefined
  }
}
