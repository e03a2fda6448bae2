// TypeScript types as trees, and the printer that lays them out. Inspection, JSON Schema and authors' source all
// produce these trees, so everything shown to the model is well-formed.
export type TypeTree =
  /** A keyword or type name, with type arguments if any. */
  | { kind: "name"; text: string }
  /** Text from the author. It gets parentheses where neighbours could bind tighter. */
  | { kind: "text"; text: string }
  | { kind: "generic"; name: string; parts: TypeTree[] }
  | { kind: "array"; element: TypeTree; rows?: TableRows | undefined }
  | { kind: "tuple"; parts: TypeTree[]; required: number; rest?: TypeTree | undefined }
  | { kind: "union" | "intersection"; parts: TypeTree[] }
  | { kind: "object"; members: Member[] }
  | { kind: "function"; signature: Signature; constructs?: boolean | undefined }

/** How many rows an array of records has, and how many of them its type was read from. */
export interface TableRows {
  total: number
  counted: number
}

export interface Signature {
  /** Text such as `<T extends Row>`. */
  generics?: string | undefined
  parameters: Parameter[]
  returns: TypeTree
  /** The awaited type, if it does not follow from `returns`. */
  awaited?: TypeTree | undefined
}

export interface Parameter {
  name: string
  type: TypeTree
  optional?: boolean | undefined
  rest?: boolean | undefined
}

export interface Member {
  /** The printed form: see `propertyName`. */
  name: string
  form: "constructor" | "field" | "getter" | "setter" | "method"
  type: TypeTree
  optional?: boolean | undefined
  readonly?: boolean | undefined
  static?: boolean | undefined
  abstract?: boolean | undefined
  /** Set for properties with a getter or setter, which a copy of the object would lose. */
  isAccessor?: boolean | undefined
  doc?: string | undefined
  /** A short comment on the line of the member. */
  note?: string | undefined
}

export const any: TypeTree = { kind: "name", text: "any" }
export const unknown: TypeTree = { kind: "name", text: "unknown" }

export function named(text: string): TypeTree {
  return { kind: "name", text }
}

/** Joins types into a flat union without repetitions, `null` and `undefined` last. `any` and `unknown` absorb the
 *  rest. */
export function union(parts: readonly TypeTree[]): TypeTree {
  const [only] = parts
  if (only && parts.every((part) => part === only)) return only
  const distinct = new Map(parts.flatMap(unionParts).map((part) => [printType(part), part]))
  const covering = distinct.get("any") ?? distinct.get("unknown")
  if (covering) return covering
  if (distinct.size > 1) distinct.delete("never")
  for (const empty of ["null", "undefined"]) {
    const part = distinct.get(empty)
    if (part && distinct.delete(empty)) distinct.set(empty, part)
  }
  const [first, ...others] = distinct.values()
  if (!first) return named("never")
  return others.length ? { kind: "union", parts: [first, ...others] } : first
}

/** Returns the type of a call that passes the call gate: exactly one Promise around the result. */
export function promisedResult({ returns, awaited = returns }: Signature): TypeTree {
  const text = awaited.kind === "name" || awaited.kind === "text" ? awaited.text : ""
  if (awaited.kind === "generic" && awaited.name === "Promise") return awaited
  if (awaited.kind === "name" && /^Promise(Like)?</.test(text)) return named(text.replace(/^PromiseLike/, "Promise"))
  const result = /\bPromise(Like)?</.test(text)
    ? { kind: "generic" as const, name: "Awaited", parts: [awaited] }
    : awaited
  return { kind: "generic", name: "Promise", parts: [result] }
}

export function printType(tree: TypeTree, indent = ""): string {
  switch (tree.kind) {
    case "name":
    case "text":
      return tree.text
    case "generic":
      return `${tree.name}<${tree.parts.map((part) => printType(part, indent)).join(", ")}>`
    case "array":
      return `${printOperand(tree.element, indent)}[]`
    case "tuple":
      return printTuple(tree, indent)
    case "union":
      return tree.parts.map((part) => printPart(part, indent)).join(" | ")
    case "intersection":
      return tree.parts.map((part) => printPart(part, indent)).join(" & ")
    case "object":
      return printObject(tree.members, indent)
    case "function":
      return `${tree.constructs ? "new " : ""}${printSignature(tree.signature, " => ", indent)}`
  }
}

export function printSignature(signature: Signature, arrow: ": " | " => ", indent = ""): string {
  const { generics = "", returns } = signature
  return `${generics}(${printParameters(signature.parameters, indent)})${arrow}${printType(returns, indent)}`
}

export function printMembers(members: readonly Member[], indent: string, inClass: boolean): string {
  return members
    .map((member) => `${jsDoc(member.doc, indent)}${indent}${printMember(member, indent, inClass)}`)
    .join("\n")
}

/** Prints `declare class Light<T> extends Base { … }`. `head` is the text before the brace. */
export function printClass(head: string, members: readonly Member[], note = ""): string {
  if (!members.length) return `${head} {}${note}`
  return `${head} {${note}\n${printMembers(members, "  ", true)}\n}`
}

/** Prints a doc comment. Escapes `*\/` in the text, so that it cannot end early. */
export function jsDoc(text: string | undefined, indent = ""): string {
  if (!text) return ""
  const lines = text
    .replaceAll("*/", "*\\/")
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.trimEnd())
  while (lines.length && !lines[0]) lines.shift()
  while (lines.length && !lines.at(-1)) lines.pop()
  const [first, ...others] = lines
  if (!first) return ""
  if (!others.length) return `${indent}/** ${first.trimStart()} */\n`
  const body = lines.map((line) => `${indent} *${line && ` ${line}`}\n`)
  return `${indent}/**\n${body.join("")}${indent} */\n`
}

/** Returns a key as written in a type: plain if possible, otherwise quoted. */
export function propertyName(key: string): string {
  return identifierName.test(key) && key !== "new" && key !== "constructor" ? key : JSON.stringify(key)
}

export function capitalize(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1)
}

/** Returns true if a module can declare this name. */
export function isIdentifier(name: string): boolean {
  return identifierName.test(name) && !reserved.has(name)
}

const identifierName = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u

const reserved = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export extends false
   finally for function if implements import in instanceof interface let new null package private protected public return
   static super switch this throw true try typeof var void while with yield`.split(/\s+/),
)

/** Object types up to this length are printed on one line. */
const lineLength = 80

function printObject(members: Member[], indent: string): string {
  if (!members.length) return "{}"
  const inner = `${indent}  `
  const texts = members.map((member) => printMember(member, inner, false))
  const line = `{ ${texts.join("; ")} }`
  const fits = line.length <= lineLength && !line.includes("\n")
  if (fits && members.every((member) => !member.doc && !noteOf(member))) return line
  return `{\n${texts.map((text, index) => `${jsDoc(members[index]?.doc, inner)}${inner}${text}`).join("\n")}\n${indent}}`
}

function printMember(member: Member, indent: string, inClass: boolean): string {
  const { name, form, type } = member
  const before = `${member.abstract ? "abstract " : ""}${member.static ? "static " : ""}`
  const optional = member.optional ? "?" : ""
  if (form === "constructor" && type.kind === "function") {
    return `constructor(${printParameters(type.signature.parameters, indent)})`
  }
  if (form === "method" && type.kind === "function") {
    return `${before}${name}${optional}${printSignature(type.signature, ": ", indent)}`
  }
  const text = printType(type, indent)
  if (form === "getter" && inClass) return `${before}get ${name}(): ${text}`
  if (form === "setter") return `${before}set ${name}(value: ${text})`
  const readonly = member.readonly || form === "getter" ? "readonly " : ""
  return addNote(`${before}${readonly}${name}${optional}: ${text}`, noteOf(member))
}

/** The note of a member; for an array of records, also the number of its rows. */
function noteOf({ note, type }: Member): string {
  const rows = type.kind === "array" && type.rows
  return [rows && rowsNote(rows), note].filter(Boolean).join(", ")
}

/** `891 rows`, or `120,000 rows (types and counts of the first 5,000)`. */
export function rowsNote({ total, counted }: TableRows): string {
  const part = counted < total ? ` (types and counts of the first ${counted.toLocaleString("en-US")})` : ""
  return `${total.toLocaleString("en-US")} ${total === 1 ? "row" : "rows"}${part}`
}

/** Appends a comment to the first line. */
export function addNote(text: string, note: string): string {
  return note ? text.replace(/\n|$/, ` // ${note}$&`) : text
}

function printParameters(parameters: readonly Parameter[], indent: string): string {
  const lastRequired = parameters.findLastIndex((parameter) => !parameter.optional && !parameter.rest)
  const used = new Set<string>()
  const texts = parameters.map(({ name: wanted, type, optional, rest }, index) => {
    const name = used.has(wanted) ? `arg${index + 1}` : wanted
    used.add(name)
    if (rest) return `...${name}: ${printType(type, indent)}`
    if (!optional) return `${name}: ${printType(type, indent)}`
    // TypeScript allows no optional parameter before a required one, but JavaScript allows a default there.
    if (index < lastRequired) return `${name}: ${printType(union([type, named("undefined")]), indent)}`
    return `${name}?: ${printType(type, indent)}`
  })
  return texts.join(", ")
}

function printTuple({ parts, required, rest }: Extract<TypeTree, { kind: "tuple" }>, indent: string): string {
  const items = parts.map((part, index) =>
    index < required ? printType(part, indent) : `${printOperand(part, indent)}?`,
  )
  if (rest) items.push(`...${printOperand(rest, indent)}[]`)
  return `[${items.join(", ")}]`
}

/** Adds parentheses where `[]` or `?` follows. */
function printOperand(tree: TypeTree, indent: string): string {
  const text = printPart(tree, indent)
  return text.startsWith("-") ? `(${text})` : text
}

/** Adds parentheses where `|` or `&` is a neighbour. */
function printPart(tree: TypeTree, indent: string): string {
  const text = printType(tree, indent)
  const loose =
    tree.kind === "text" || tree.kind === "union" || tree.kind === "intersection" || tree.kind === "function"
  return loose ? `(${text})` : text
}

function unionParts(tree: TypeTree): TypeTree[] {
  return tree.kind === "union" ? tree.parts.flatMap(unionParts) : [tree]
}
