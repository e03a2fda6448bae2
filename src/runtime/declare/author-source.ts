// Parses the source text an author attached to a binding and finds the functions, classes and types it declares.
import type { AnyNode, Class, Function as FunctionNode, Node, Program } from "acorn"
import { attempt } from "../../core/attempt.ts"
import { parseCell } from "../compiler/parse-cell.ts"
import type { EnumDeclaration } from "../compiler/typescript-ast.ts"
import { type ClassSource, docCommentBefore, readClass } from "./class-source.ts"
import { globalType, parseType, signatureOf, sourceText } from "./parse-signature.ts"
import { jsDoc, named, printMembers, type Signature, type TypeTree } from "./type-tree.ts"

export interface AuthorSource {
  /** Returns the function with one of these names, or the only function, with all its overloads. */
  functionNamed(names: readonly string[]): { signatures: Signature[]; doc: string | undefined } | undefined
  /** Returns the class with one of these names, or the only class. */
  classNamed(names: readonly string[]): { type: ClassSource; doc: string | undefined } | undefined
  declares(name: string): boolean
  /** The declared names in source order. */
  names: readonly string[]
  /** Returns the types declared here that a text mentions, directly or through other types. */
  typesMentionedIn(text: string, skip: (name: string) => boolean): SourceType[]
}

export interface SourceType {
  name: string
  text: string
}

/** Reads a module, a declaration or a function expression. Returns undefined for anything else. */
export function readAuthorSource(text: string): AuthorSource | undefined {
  const known = recent.get(text)
  if (known !== undefined) return known ?? undefined
  const source = attempt(() => parseSource(text)) ?? attempt(() => parseSource(`(${text})`))
  recent.set(text, source ?? null)
  const [oldest] = recent.keys()
  if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest)
  return source
}

// Several functions often come from the same module, so the last few parsed sources are cached.
const recent = new Map<string, AuthorSource | null>()
const maxRecent = 16

/** A top-level declaration with the comment before it. */
export interface DeclaredNode {
  node: AnyNode
  doc: string | undefined
}

function parseSource(code: string): AuthorSource {
  const declared = declarations(parseCell(code).program, code)
  const functions = new Map(
    [...declared].flatMap(([name, found]) => {
      const bodies = found.filter(({ node }) => functionIn(node))
      return bodies.length ? [[name, bodies] as const] : []
    }),
  )
  return {
    functionNamed(names) {
      const name = names.find((candidate) => functions.has(candidate))
      const only = functions.size === 1 ? [...functions.values()][0] : undefined
      const found = name === undefined ? only : functions.get(name)
      return found && readFunction(found, code)
    },
    classNamed(names) {
      const classes = [...declared].flatMap(([name, found]) => {
        const first = found.find(({ node }) => classIn(node))
        return first ? [{ name, ...first }] : []
      })
      const found = classes.find(({ name }) => names.includes(name)) ?? (classes.length === 1 ? classes[0] : undefined)
      const type = found && classIn(found.node)
      return type && { type: readClass(type, code), doc: found.doc }
    },
    declares: (name) => declared.has(name),
    names: [...declared.keys()],
    typesMentionedIn(text, skip) {
      const found: SourceType[] = []
      const visited = new Set<string>()
      const visit = (mentioning: string) => {
        for (const name of identifiersIn(mentioning)) {
          if (visited.has(name) || skip(name)) continue
          visited.add(name)
          const own = declared
            .get(name)
            ?.map((each) => typeDeclarationText(name, each, code, declared))
            .filter((each) => each !== undefined)
          if (!own?.length) continue
          const whole = own.join("\n")
          visit(whole)
          found.push({ name, text: whole })
        }
      }
      visit(text)
      return found
    },
  }
}

export interface VariableType {
  tree: TypeTree
  /** Set if the text is a full declaration of the type. */
  source?: AuthorSource | undefined
}

/** Parses a type such as `Task[]`, or the last of declarations such as `interface Task { name: string }`. */
export function parseVariableType(text: string, owner: string): VariableType {
  const isDeclaration =
    /^\s*(?:\/\*[\s\S]*?\*\/\s*)?(?:export\s+|declare\s+)*(?:interface|type|class|enum)\s+[\w$]/.test(text)
  const source = isDeclaration ? readAuthorSource(text) : undefined
  const name = source?.names.at(-1)
  return source && name !== undefined ? { tree: named(name), source } : { tree: parseType(text, owner) }
}

/** Returns the top-level declarations of a program by name. Overloads and merged interfaces have several. */
export function declarations(program: Program, code: string): Map<string, DeclaredNode[]> {
  const declared = new Map<string, DeclaredNode[]>()
  let from = 0
  for (const statement of program.body) {
    const doc = docCommentBefore(code, from, statement.start)
    from = statement.end
    for (const [name, node] of namesOf(statement)) {
      const same = declared.get(name) ?? []
      declared.set(name, [...same, { node, doc }])
    }
  }
  return declared
}

function namesOf(statement: AnyNode): [string, AnyNode][] {
  switch (statement.type) {
    case "ExportNamedDeclaration":
      return statement.declaration ? namesOf(statement.declaration) : []
    case "ExportDefaultDeclaration":
      return namesOf(statement.declaration)
    case "VariableDeclaration":
      return statement.declarations.flatMap(({ id, init }): [string, AnyNode][] =>
        id.type === "Identifier" && init ? [[id.name, init]] : [],
      )
    case "ExpressionStatement":
      return namesOf(statement.expression)
    case "ArrowFunctionExpression":
      return [["default", statement]]
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ClassDeclaration":
    case "ClassExpression":
    case "TSDeclareFunction":
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSEnumDeclaration":
      return [[statement.id?.name ?? "default", statement]]
    default:
      return []
  }
}

function functionIn(node: AnyNode): FunctionNode | undefined {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return node
    case "TSDeclareFunction":
      // An overload has every part of a function except the body, but acorn's types do not know it.
      return node as Node as FunctionNode
    default:
      return undefined
  }
}

function classIn(node: AnyNode): Class | undefined {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression" ? node : undefined
}

function readFunction(
  found: readonly DeclaredNode[],
  code: string,
): { signatures: Signature[]; doc: string | undefined } {
  const overloads = found.filter(({ node }) => node.type === "TSDeclareFunction")
  const shown = overloads.length ? overloads : found.slice(-1)
  const signatures = shown.flatMap(({ node }) => functionIn(node) ?? []).map((node) => signatureOf(node, code))
  return { signatures, doc: found.find(({ doc }) => doc)?.doc }
}

/** Returns the text of a type. Classes and enums are shown as types, because they are not bound as values. */
function typeDeclarationText(
  name: string,
  { node, doc }: DeclaredNode,
  code: string,
  declared: ReadonlyMap<string, unknown>,
): string | undefined {
  const type = classIn(node)
  if (type) return jsDoc(doc) + instanceInterface(name, readClass(type, code), declared)
  if (node.type === "TSEnumDeclaration") return `${jsDoc(doc)}type ${name} = ${enumText(node, code)}`
  if (node.type !== "TSInterfaceDeclaration" && node.type !== "TSTypeAliasDeclaration") return undefined
  return jsDoc(doc) + sourceText(node, code).replace(/;$/, "")
}

function instanceInterface(name: string, type: ClassSource, declared: ReadonlyMap<string, unknown>): string {
  const members = type.members.filter((member) => !member.static && member.form !== "constructor")
  const isKnown = type.base !== undefined && (declared.has(type.base) || globalType(type.base))
  const extendsClause = isKnown ? ` extends ${type.base}${type.baseArguments}` : ""
  const body = printMembers(
    members.map((member) => ({ ...member, abstract: false })),
    "  ",
    false,
  )
  return `interface ${name}${type.generics}${extendsClause} {${body && `\n${body}\n`}}`
}

function enumText({ members }: EnumDeclaration, code: string): string {
  let next: number | undefined = 0
  const values = members.map(({ initializer }) => {
    const text: string = initializer ? sourceText(initializer, code) : String(next)
    const value = Number(text)
    next = Number.isFinite(value) ? value + 1 : undefined
    return /^(?:-?[\d.]+|"[^"\\]*"|'[^'\\]*')$/.test(text) ? text : "number"
  })
  return [...new Set(values)].join(" | ") || "never"
}

function identifiersIn(text: string): Set<string> {
  const code = text.replace(/\/\*[\s\S]*?(?:\*\/|$)|\/\/.*|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/g, " ")
  return new Set(code.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu))
}
