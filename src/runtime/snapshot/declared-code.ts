// Reads the source of a function or class without the parts that run at declaration, so that it can be redeclared.
import type { AnyNode, Class } from "acorn"
import { unwrapExpression } from "../compiler/destructuring.ts"
import { CellSyntaxError, type ParsedCell, parseCell } from "../compiler/parse-cell.ts"
import { isCodeExpression } from "./code-origins.ts"

export interface DeclaredCode {
  /** The declaration without static blocks and static field initialisers, which would run at once. */
  source: string
  parsed: ParsedCell
  name: string
  /** The name of the base class. */
  superclass: string | undefined
  /** Static members that the declaration itself creates. */
  statics: ReadonlySet<string>
}

/** Reads a declaration; returns a string with the reason if it cannot be declared again. */
export function readDeclaredCode(source: string): DeclaredCode | string {
  const parsed = parse(source)
  if (typeof parsed === "string") return parsed
  const [statement, ...others] = parsed.program.body as AnyNode[]
  const declared = statement && others.length === 0 ? declaredIn(statement) : undefined
  if (!declared) return "it is no declaration of a function or a class"
  const { name, value } = declared
  if (!isClass(value)) return { source, parsed, name, superclass: undefined, statics: new Set() }
  const { superClass } = value
  if (superClass && superClass.type !== "Identifier") return "its superclass is an expression"
  if (value.body.body.some(hasComputedKey)) return "the name of a member is an expression"
  const inert = withoutStaticInitializers(source, value)
  const inertCell = inert === source ? parsed : parse(inert)
  if (typeof inertCell === "string") return inertCell
  return { source: inert, parsed: inertCell, name, superclass: superClass?.name, statics: inertStatics(value) }
}

/** The properties of a class or its prototype that its declaration does not create. */
export function addedMembers(holder: object, owner: object, declared: ReadonlySet<unknown> = new Set()) {
  const source = Function.prototype.toString.call(owner)
  return Reflect.ownKeys(holder).flatMap((key): [string | symbol, PropertyDescriptor][] => {
    const property = Object.getOwnPropertyDescriptor(holder, key)
    if (!property) return []
    const isExpected = property.enumerable
      ? declared.has(key) && isCodeIn(source, property)
      : builtInKeys.has(key) || isCodeIn(source, property)
    return isExpected ? [] : [[key, property]]
  })
}

function isCodeIn(source: string, { value, get, set }: PropertyDescriptor): boolean {
  const code = [value, get, set].filter((part) => typeof part === "function")
  return code.length > 0 && code.every((part) => source.includes(Function.prototype.toString.call(part)))
}

const builtInKeys = new Set<unknown>(["length", "name", "prototype", "constructor", "arguments", "caller"])

function parse(source: string): ParsedCell | string {
  try {
    return parseCell(source)
  } catch (error) {
    if (error instanceof CellSyntaxError) return `it does not parse: ${error.message}`
    throw error
  }
}

function declaredIn(statement: AnyNode): { name: string; value: AnyNode } | undefined {
  if (statement.type === "FunctionDeclaration" || statement.type === "ClassDeclaration") {
    return statement.id ? { name: statement.id.name, value: statement } : undefined
  }
  if (statement.type !== "VariableDeclaration" || statement.kind !== "const") return undefined
  const [declarator, ...others] = statement.declarations
  if (!declarator?.init || others.length > 0 || declarator.id.type !== "Identifier") return undefined
  const value = unwrapExpression(declarator.init)
  return isCodeExpression(value) ? { name: declarator.id.name, value } : undefined
}

function isClass(node: AnyNode): node is Extract<AnyNode, Class> {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression"
}

function hasComputedKey(member: AnyNode): boolean {
  if (member.type !== "MethodDefinition" && member.type !== "PropertyDefinition") return false
  if (!member.computed) return false
  const key: AnyNode = member.key
  if (key.type === "Literal") return false
  return !(key.type === "MemberExpression" && !key.computed && isNamed(key.object, "Symbol"))
}

function isNamed(node: AnyNode, name: string): boolean {
  return node.type === "Identifier" && node.name === name
}

function withoutStaticInitializers(source: string, { body }: Class): string {
  let text = ""
  let from = 0
  for (const member of body.body as AnyNode[]) {
    const removed = staticInitializer(member)
    if (!removed) continue
    text += source.slice(from, removed.start)
    from = removed.end
  }
  return text + source.slice(from)
}

/** Returns the part of a member that runs when its class is declared. */
function staticInitializer(member: AnyNode): { start: number; end: number } | undefined {
  if (member.type === "StaticBlock") return member
  if (member.type !== "PropertyDefinition" || !member.static || !member.value || isInert(member.value)) return undefined
  // A private field must stay declared, because methods refer to it.
  const { start, end } = member
  return member.key.type === "PrivateIdentifier" ? { start: member.key.end, end: member.value.end } : { start, end }
}

function inertStatics({ body }: Class): Set<string> {
  const names = new Set<string>()
  for (const member of body.body as AnyNode[]) {
    if (member.type !== "PropertyDefinition" || !member.static || !member.value || !isInert(member.value)) continue
    if (member.key.type === "Identifier" && !member.computed) names.add(member.key.name)
  }
  return names
}

function isInert(node: AnyNode): boolean {
  const value = unwrapExpression(node)
  return value.type === "Literal" || value.type === "ArrowFunctionExpression" || value.type === "FunctionExpression"
}
