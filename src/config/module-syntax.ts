// Rewrites TypeScript syntax that Node's type stripping does not support.
import { attempt } from "../core/attempt.ts"
import { type AnyNode, callsSuper, isTypeOnly, walk } from "../runtime/compiler/parse-cell.ts"
import type { EnumDeclaration, EnumMember, NamespaceDeclaration } from "../runtime/compiler/typescript-ast.ts"
import { parseTypeScript } from "../runtime/compiler/typescript-parser.ts"

type NodeOf<Type extends AnyNode["type"]> = Extract<AnyNode, { type: Type }>
type Program = NodeOf<"Program">

/** Rewrites enums, namespaces, parameter properties, `import x = require()` and `export =` to JavaScript. Types and
 *  line numbers stay. Returns text that cannot be parsed unchanged, so that Node reports the error. */
export function lowerModuleSyntax(source: string): string {
  if (!mayNeedLowering.test(source)) return source
  const program = tryParse(source)
  return program ? lowerProgram(source, program) : source
}

/** Returns true if a TypeScript file imports or exports values with `import` and `export`. */
export function isEsModule(source: string): boolean {
  if (!/\b(?:import|export)\b/.test(source)) return false
  return tryParse(source)?.body.some((node) => moduleStatements.has(node.type) && !isOnlyType(node)) ?? false
}

const mayNeedLowering = /\b(?:enum|namespace|module|constructor)\b|\bexport\s*=|\bimport\s+[\w$]+\s*=/

const moduleStatements = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportDefaultDeclaration",
  "ExportAllDeclaration",
])

function tryParse(source: string): Program | undefined {
  return attempt(() => parseTypeScript(source))
}

interface Edit {
  start: number
  end: number
  text: string
}

function lowerProgram(source: string, program: Program): string {
  const edits: Edit[] = []
  const replace = (start: number, end: number, text: string): void => {
    // Keep the number of lines, because stack traces refer to them.
    edits.push({ start, end, text: text + "\n".repeat(source.slice(start, end).split("\n").length - 1) })
  }
  const bodies = bodiesOf(program)
  walk(
    program,
    (node, parent) => {
      const context = { source, replace, declared: declaredBefore(node, parent, bodies) }
      if (node.type === "TSEnumDeclaration") return lowerEnum(node, parent, context)
      if (node.type === "TSModuleDeclaration") return lowerNamespace(node, parent, context)
      if (node.type === "ClassBody" && parent)
        return lowerConstructor(node, "superClass" in parent && !!parent.superClass, replace)
      if (node.type === "TSExportAssignment") return replace(node.start, node.expression.start, "module.exports = ")
      if (node.type === "TSImportEqualsDeclaration" && node.moduleReference.type === "TSExternalModuleReference") {
        replace(node.start, node.moduleReference.start, `const ${node.id.name} = `)
      }
      return undefined
    },
    { types: false },
  )
  return applyEdits(source, edits)
}

function applyEdits(source: string, edits: Edit[]): string {
  let text = ""
  let at = 0
  for (const { start, end, text: replacement } of edits.toSorted((a, b) => a.start - b.start)) {
    text += source.slice(at, start) + replacement
    at = end
  }
  return text + source.slice(at)
}

interface LoweringContext {
  source: string
  replace(start: number, end: number, text: string): void
  /** True if an earlier statement of the same block declares the name. */
  declared: boolean
}

// An enum or a namespace becomes `var E = ((object) => { …; return object })({})`.
function openWrapper(
  node: AnyNode,
  name: string,
  parent: AnyNode | undefined,
  bodyStart: number,
  context: LoweringContext,
): void {
  const isExported = parent?.type === "ExportNamedDeclaration"
  const start = context.declared && isExported ? parent.start : node.start
  context.replace(start, bodyStart, `${context.declared ? ";" : `var ${name} = `}((${holderName}) => {`)
}

function closeWrapper(node: AnyNode, name: string, context: LoweringContext): void {
  context.replace(node.end - 1, node.end, `;return ${holderName}})(${context.declared ? name : "{}"});`)
}

const holderName = "$object"

function lowerEnum(node: EnumDeclaration, parent: AnyNode | undefined, context: LoweringContext): void {
  const { source, replace } = context
  const { name } = node.id
  const [first] = node.members
  const brace = source.indexOf("{", node.id.end) + 1
  openWrapper(node, name, parent, brace, context)
  const names = node.members.map(memberName)
  const own = names.includes(name) ? "" : `const ${name} = ${holderName};`
  replace(brace, first?.start ?? node.end - 1, own)
  let before: string | undefined
  node.members.forEach((member, index) => {
    const text = JSON.stringify(names[index])
    const value = isWord(names[index] ?? "") ? names[index] : `$member${index}`
    const begin = `const ${value} = ${holderName}[${text}] = (`
    const end = `);if (typeof ${value} !== "string") ${holderName}[${value}] = ${text};`
    const next = node.members[index + 1]?.start ?? node.end - 1
    if (member.initializer) {
      replace(member.start, member.initializer.start, begin)
      replace(member.initializer.end, next, end)
    } else replace(member.start, next, `${begin}${before === undefined ? "0" : `${before} + 1`}${end}`)
    before = value
  })
  closeWrapper(node, name, context)
}

function memberName({ id }: EnumMember | NamespaceDeclaration): string {
  return id.type === "Identifier" ? id.name : String(id.value)
}

function isWord(name: string): boolean {
  if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return false
  // Only the engine knows every reserved word.
  return attempt(() => new Function(`"use strict"; const ${name} = 0`)) !== undefined
}

/** Exposes a namespace's exports through getters, so that changes of a variable are visible. */
function lowerNamespace(node: NamespaceDeclaration, parent: AnyNode | undefined, context: LoweringContext): unknown {
  const { body, id } = node
  if (!body || id.type !== "Identifier" || isOnlyType(node)) return false
  if (body.type === "TSModuleDeclaration") {
    openWrapper(node, id.name, parent, body.start, context)
    context.replace(body.start, body.start, exportGetters([memberName(body)]))
    context.replace(node.end, node.end, `;return ${holderName}})({});`)
    return undefined
  }
  const exported = body.body.flatMap((statement) => (statement.type === "ExportNamedDeclaration" ? [statement] : []))
  const values = exported.filter((statement) => !isOnlyType(statement))
  openWrapper(node, id.name, parent, body.start + 1, context)
  context.replace(body.start + 1, body.start + 1, exportGetters(values.flatMap(exportedNames)))
  for (const { start, declaration } of values) if (declaration) context.replace(start, declaration.start, "")
  closeWrapper(node, id.name, context)
  return undefined
}

function exportGetters(names: readonly string[]): string {
  return [...new Set(names)]
    .map(
      (name) =>
        `Object.defineProperty(${holderName}, "${name}", { get: () => ${name}, enumerable: true, configurable: true });`,
    )
    .join("")
}

function exportedNames({ declaration }: NodeOf<"ExportNamedDeclaration">): string[] {
  if (!declaration) return []
  if (declaration.type !== "VariableDeclaration") return nameOf(declaration)
  return declaration.declarations.flatMap(({ id }) => boundNames(id))
}

function boundNames(pattern: AnyNode): string[] {
  const names: string[] = []
  walk(
    pattern,
    (node, parent) => {
      const isKey = parent?.type === "Property" && parent.key === node && parent.value !== node
      if (node.type === "Identifier" && !isKey) names.push(node.name)
      if (node.type === "AssignmentPattern") {
        names.push(...boundNames(node.left))
        return false
      }
      return !isKey
    },
    { types: false },
  )
  return names
}

function lowerConstructor(body: NodeOf<"ClassBody">, isDerived: boolean, replace: LoweringContext["replace"]): void {
  for (const member of body.body) {
    if (member.type !== "MethodDefinition" || member.kind !== "constructor" || !member.value.body) continue
    const params: readonly AnyNode[] = member.value.params
    const properties = params.filter((param) => param.type === "TSParameterProperty")
    const names = properties.map(({ parameter }) => boundNames(parameter)[0])
    const statements = member.value.body.body
    const superCall = isDerived ? statements.find(callsSuper) : undefined
    if (names.length === 0 || (isDerived && !superCall)) continue
    for (const { start, parameter } of properties) {
      const name: AnyNode = parameter.type === "AssignmentPattern" ? parameter.left : parameter
      replace(start, name.start, "")
    }
    const at = superCall?.end ?? member.value.body.start + 1
    replace(at, at, `;${names.map((name) => `this.${name} = ${name};`).join("")}`)
  }
}

/** Returns true if Node removes the whole statement. */
function isOnlyType(node: AnyNode): boolean {
  if (isTypeOnly(node)) return true
  if (node.type === "ExportNamedDeclaration") return !!node.declaration && isOnlyType(node.declaration)
  if (node.type !== "TSModuleDeclaration") return false
  if (!node.body) return true
  return node.body.type === "TSModuleDeclaration" ? isOnlyType(node.body) : node.body.body.every(isOnlyType)
}

/** Maps each statement to the list of statements that contains it. */
function bodiesOf(program: Program): Map<AnyNode, readonly AnyNode[]> {
  const bodies = new Map<AnyNode, readonly AnyNode[]>()
  walk(
    program,
    (node) => {
      if (node.type !== "Program" && node.type !== "BlockStatement" && node.type !== "TSModuleBlock") return
      for (const statement of node.body) bodies.set(statement, node.body)
    },
    { types: false },
  )
  return bodies
}

function declaredBefore(node: AnyNode, parent: AnyNode | undefined, bodies: Map<AnyNode, readonly AnyNode[]>): boolean {
  const statement = parent?.type === "ExportNamedDeclaration" ? parent : node
  const body = bodies.get(statement) ?? []
  const [name] = nameOf(node)
  return body.slice(0, body.indexOf(statement)).some((earlier) => {
    const declaration = earlier.type === "ExportNamedDeclaration" ? earlier.declaration : earlier
    return declaration && !isOnlyType(declaration) && name !== undefined && nameOf(declaration).includes(name)
  })
}

function nameOf(node: AnyNode): string[] {
  if (!("id" in node) || !node.id || node.type === "VariableDeclarator") return []
  return node.id.type === "Identifier" ? [node.id.name] : []
}
