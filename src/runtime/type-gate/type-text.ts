/** What a type is, told from its text. `vague` is anything that may hold more than it says: a union, `any`, `object`, a
 *  type parameter. */
export type TypeKind =
  | { kind: "vague" }
  | { kind: "promise" }
  | { kind: "library" }
  | { kind: "anonymous" }
  /** All of these at once. */
  | { kind: "intersection"; parts: TypeKind[] }
  /** A type of that name; `static` when it is the class or enum itself. */
  | { kind: "named"; name: string; static: boolean }

export function typeKind(text: string): TypeKind {
  const type = text.replace(/^readonly /, "")
  if (vagueTypes.has(type)) return { kind: "vague" }
  const { parts, separators } = splitType(type)
  if (separators.has("|") || separators.has("?")) return { kind: "vague" }
  if (separators.has("&")) return { kind: "intersection", parts: parts.map(typeKind) }
  if (/^Promise(Like)?</.test(type)) return { kind: "promise" }
  if (type.endsWith("[]") || type.startsWith("[")) return { kind: "library" }
  if (/^(?:[{(<]|new )/.test(type)) return { kind: "anonymous" }
  if (/^["`\d-]/.test(type)) return { kind: "library" }
  const [, isStatic, name = ""] = /^(typeof )?([A-Za-z_$][\w$]*)/.exec(type) ?? []
  if (name === "") return { kind: "vague" }
  return { kind: "named", name, static: isStatic !== undefined }
}

/** Whether a type of this name is the language's own. */
export function isLibraryType(name: string): boolean {
  return libraryTypes.has(name) || (name !== "globalThis" && name in globalThis)
}

const vagueTypes = new Set("any unknown never object {} this void undefined null Object Function".split(" "))

const libraryTypes = new Set(
  `string number boolean bigint symbol true false Console ReadonlyArray ReadonlyMap ReadonlySet ArrayIterator MapIterator
  SetIterator StringIterator IteratorObject Generator AsyncGenerator RegExpMatchArray RegExpExecArray
  RegExpStringIterator`.split(/\s+/),
)

/** The types that a union is of; a type that is none is alone. */
function alternativesOf(type: string): string[] {
  const { parts, separators } = splitType(type)
  return separators.has("|") && !separators.has("?") ? parts : [type]
}

/** The parts of a union, intersection or condition on its outermost level. */
function splitType(type: string): { parts: string[]; separators: Set<string> } {
  const parts = [""]
  const separators = new Set<string>()
  let depth = 0
  let quote = ""
  let isResult = false
  for (const [index, letter] of [...type].entries()) {
    const isOutside = depth === 0 && !quote && !isResult
    if (quote) {
      if (letter === quote) quote = ""
    } else if (letter === '"' || letter === "`") quote = letter
    else if ("{([<".includes(letter)) depth++
    else if ("})]".includes(letter) || (letter === ">" && type[index - 1] !== "=")) depth--
    // From an arrow on, all is the result of a function.
    else if (isOutside && letter === "=") isResult = true
    if (isOutside && (letter === "|" || letter === "&" || letter === "?")) {
      separators.add(letter)
      parts.push("")
    } else parts[parts.length - 1] += letter
  }
  return { parts: parts.map((part) => part.trim()).filter((part) => part !== ""), separators }
}

/** Whether a value of this type cannot be called, whatever anybody gave it. */
export function isNeverCallable(type: string): boolean {
  return typeKind(type).kind === "promise" || alternativesOf(type).every((each) => primitiveOf(each) !== undefined)
}

/** Whether a value is of a primitive type and the parameter takes only others. */
export function isOtherPrimitive(given: string, wanted: string): boolean {
  const takes = alternativesOf(wanted).map(primitiveOf)
  const types = alternativesOf(given).map(primitiveOf)
  return !takes.includes(undefined) && types.every((type) => type !== undefined && !takes.includes(type))
}

function primitiveOf(type: string): string | undefined {
  if (/^["`]/.test(type)) return "string"
  if (/^-?\d[\d.e+-]*$/.test(type)) return "number"
  if (type === "true" || type === "false") return "boolean"
  return ["string", "number", "boolean"].includes(type) ? type : undefined
}
