// Classifies types by their text, as TypeScript prints them.
/** `vague`: values of the type may have more members than it shows: a union, `any`, `object`, a type parameter. */
export type TypeKind =
  | { kind: "vague" }
  | { kind: "promise" }
  | { kind: "library" }
  | { kind: "anonymous" }
  | { kind: "intersection"; parts: TypeKind[] }
  /** `static`: the class or enum itself, not an instance. */
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

/** Returns true for the name of a built-in type. */
export function isLibraryType(name: string): boolean {
  return libraryTypes.has(name) || (name !== "globalThis" && name in globalThis)
}

const vagueTypes = new Set("any unknown never object {} this void undefined null Object Function".split(" "))

const libraryTypes = new Set(
  `string number boolean bigint symbol true false Console ReadonlyArray ReadonlyMap ReadonlySet ArrayIterator MapIterator
  SetIterator StringIterator IteratorObject Generator AsyncGenerator RegExpMatchArray RegExpExecArray
  RegExpStringIterator`.split(/\s+/),
)

/** Returns the members of a union; for any other type, the type itself. */
function alternativesOf(type: string): string[] {
  const { parts, separators } = splitType(type)
  return separators.has("|") && !separators.has("?") ? parts : [type]
}

/** Splits a union, intersection or conditional type at its outermost level. */
function splitType(type: string): { parts: string[]; separators: Set<string> } {
  const parts = [""]
  const separators = new Set<string>()
  let depth = 0
  let quote = ""
  let isResult = false
  for (const [index, character] of [...type].entries()) {
    const isOutside = depth === 0 && !quote && !isResult
    if (quote) {
      if (character === quote) quote = ""
    } else if (character === '"' || character === "`") quote = character
    else if ("{([<".includes(character)) depth++
    else if ("})]".includes(character) || (character === ">" && type[index - 1] !== "=")) depth--
    // Everything after an arrow is the result of a function type.
    else if (isOutside && character === "=") isResult = true
    if (isOutside && (character === "|" || character === "&" || character === "?")) {
      separators.add(character)
      parts.push("")
    } else parts[parts.length - 1] += character
  }
  return { parts: parts.map((part) => part.trim()).filter((part) => part !== ""), separators }
}

/** Returns true if no value of this type can be called. */
export function isNeverCallable(type: string): boolean {
  return typeKind(type).kind === "promise" || alternativesOf(type).every((each) => primitiveOf(each) !== undefined)
}

/** Returns true if a value has a primitive type and the parameter accepts only other primitive types. */
export function isOtherPrimitive(given: string, wanted: string): boolean {
  const accepted = alternativesOf(wanted).map(primitiveOf)
  const types = alternativesOf(given).map(primitiveOf)
  return !accepted.includes(undefined) && types.every((type) => type !== undefined && !accepted.includes(type))
}

function primitiveOf(type: string): string | undefined {
  if (/^["`]/.test(type)) return "string"
  if (/^-?\d[\d.e+-]*$/.test(type)) return "number"
  if (type === "true" || type === "false") return "boolean"
  return ["string", "number", "boolean"].includes(type) ? type : undefined
}
