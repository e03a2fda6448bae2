import type { AnyNode, Class, Function as FunctionNode, Node, Program } from "acorn"
import { parseCell } from "../compiler/parse-cell.ts"
import type { EnumDeclaration } from "../compiler/typescript-ast.ts"
import { type ClassSource, docCommentBefore, readClass } from "./class-source.ts"
import { attempt, globalType, parseType, signatureOf, sourceText } from "./parse-signature.ts"
import { jsDoc, named, printMembers, type Signature, type TypeTree } from "./type-tree.ts"

/** What an author's source text declares at its top level. */
export interface AuthorSource {
  /** The function of one of these names, or the only one there is; with each of its overloads. */
  functionNamed(names: readonly string[]): { signatures: Signature[]; doc: string | undefined } | undefined
  /** The same for a class. */
  classNamed(names: readonly string[]): { type: ClassSource; doc: string | undefined } | undefined
  declares(name: string): boolean
  /** The names it declares, in their order. */
  names: readonly string[]
  /** The types declared here that a text mentions, and those that they mention in turn. */
  typesMentionedIn(text: string, skip: (name: string) => boolean): SourceType[]
}

export interface SourceType {
  name: string
  text: string
}

/** Reads a module, a declaration or a function expression. Undefined where it is none of these. */
export function readAuthorSource(text: string): AuthorSource | undefined {
  const known = recent.get(text)
  if (known !== undefined) return known ?? undefined
  const source = attempt(() => parseSource(text)) ?? attempt(() => parseSource(`(${text})`))
  recent.set(text, source ?? null)
  const [oldest] = recent.keys()
  if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest)
  return source
}

// One module is given with each of its functions, so the last few are worth remembering.
const recent = new Map<string, AuthorSource | null>()
const maxRecent = 16

interface DeclaredNode {
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
  /** Where the type was given in full, with its name. */
  source?: AuthorSource | undefined
}

/** A type as its author wrote it: `Task[]`, or in full as `interface Task { name: string }`, the last one being meant. */
export function parseVariableType(text: string, owner: string): VariableType {
  const isDeclaration =
    /^\s*(?:\/\*[\s\S]*?\*\/\s*)?(?:export\s+|declare\s+)*(?:interface|type|class|enum)\s+[\w$]/.test(text)
  const source = isDeclaration ? readAuthorSource(text) : undefined
  const name = source?.names.at(-1)
  return source && name !== undefined ? { tree: named(name), source } : { tree: parseType(text, owner) }
}

function declarations(program: Program, code: string): Map<string, DeclaredNode[]> {
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
      // An overload has all a function has but the body, though its type here says only that it is a type.
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

/** A type that is not bound as a value: what a class or an enum admits is shown, not a thing to construct. */
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
  const heritage = isKnown ? ` extends ${type.base}${type.baseArguments}` : ""
  const body = printMembers(
    members.map((member) => ({ ...member, abstract: false })),
    "  ",
    false,
  )
  return `interface ${name}${type.generics}${heritage} {${body && `\n${body}\n`}}`
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
