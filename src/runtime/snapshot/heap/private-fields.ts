// Detects `#private` members in the source of classes: other code can neither read nor restore them.
import { types } from "node:util"
import type { AnyNode } from "acorn"
import { parseTypeScript } from "../../compiler/typescript-parser.ts"
import { classOfPrototype } from "./object-kinds.ts"

/** Returns true if an instance with this prototype may have `#private` fields, or, with "members", `#private` methods
 *  and accessors: they have no state, but only a constructor adds them. */
export function mayHavePrivate(what: "fields" | "members", prototype: object): boolean {
  for (let at: object | null = prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    if (someClass(classOfPrototype(at), (each) => privateMembersOf(each)[what])) return true
  }
  return false
}

/** Names the `#private` state of a class that is not on its instances; undefined if there is none. */
export function privateStateOfClass(classOrFunction: object): string | undefined {
  const { statics, members } = privateMembersOf(classOrFunction)
  if (statics) return "static #private fields"
  const isOnOthers = members && someClass(Object.getPrototypeOf(classOrFunction), mayReturnObject)
  return isOnOthers ? "#private members on objects that the constructor of its superclass returned" : undefined
}

interface PrivateMembers {
  /** Instance fields. */
  fields: boolean
  /** Instance fields, methods and accessors. */
  members: boolean
  /** Static fields. */
  statics: boolean
}

const none: PrivateMembers = { fields: false, members: false, statics: false }
const privateMembersCache = new WeakMap<object, PrivateMembers>()

function privateMembersOf(value: object): PrivateMembers {
  const found = privateMembersCache.get(value) ?? readPrivateMembers(sourceOf(value))
  privateMembersCache.set(value, found)
  return found
}

function readPrivateMembers(source: string): PrivateMembers {
  if (!source.startsWith("class") || !/#[\p{ID_Start}$_\\]/u.test(source)) return none
  const members = membersOf(source)
  // If the class cannot be parsed, assume private fields.
  if (!members) return { fields: true, members: true, statics: true }
  const has = (isStatic: boolean, ...kinds: AnyNode["type"][]) =>
    members.some(
      (member) =>
        (member.type === "PropertyDefinition" || member.type === "MethodDefinition") &&
        kinds.includes(member.type) &&
        member.key.type === "PrivateIdentifier" &&
        member.static === isStatic,
    )
  return {
    fields: has(false, "PropertyDefinition"),
    members: has(false, "PropertyDefinition", "MethodDefinition"),
    statics: has(true, "PropertyDefinition"),
  }
}

function mayReturnObject(classOrFunction: object): boolean {
  const source = sourceOf(classOrFunction)
  const isConstructor = (member: AnyNode) => member.type === "MethodDefinition" && member.kind === "constructor"
  const made = source.startsWith("class")
    ? membersOf(source)?.find(isConstructor)
    : { start: 1, end: source.length + 1 }
  return made !== undefined && /\breturn\b\s*[^;}\s]/.test(source.slice(made.start - 1, made.end - 1))
}

/** Tests a class and the classes that it extends. */
function someClass(at: unknown, test: (each: object) => boolean): boolean {
  return typeof at === "function" && !types.isProxy(at) && (test(at) || someClass(Object.getPrototypeOf(at), test))
}

const sourceOf = (value: object): string => Function.prototype.toString.call(value)

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
