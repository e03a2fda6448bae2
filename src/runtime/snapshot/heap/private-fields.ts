import type { AnyNode } from "acorn"
import { parseTypeScript } from "../../compiler/typescript-parser.ts"
import { classOfPrototype } from "./object-kinds.ts"

/** Whether an instance with this prototype may have `#private` state, which only its class can see. */
export function hasPrivateState(prototype: object): boolean {
  for (let at: object | null = prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const maker = classOfPrototype(at)
    if (maker && privateFieldsOf(maker).ofInstances) return true
  }
  return false
}

/** Whether a class itself has `static #private` state. */
export function hasPrivateStatics(value: object): boolean {
  return privateFieldsOf(value).ofClass
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
  // What nobody can read may hold anything.
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
