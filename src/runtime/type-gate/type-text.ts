/** What a type is, told from its text. `vague` is anything that may hold more than it says: a union, `any`, `object`, a
 *  type parameter. */
export type TypeKind =
  | { kind: "vague" }
  | { kind: "promise" }
  | { kind: "library" }
  | { kind: "anonymous" }
  /** A type of that name; `static` when it is the class or enum itself. */
  | { kind: "named"; name: string; static: boolean }

export function typeKind(text: string): TypeKind {
  const type = text.replace(/^readonly /, "")
  if (vague.has(type) || isCombined(type)) return { kind: "vague" }
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

const vague = new Set("any unknown never object {} this void undefined null Object Function".split(" "))

const libraryTypes = new Set(
  `string number boolean bigint symbol true false Console ReadonlyArray ReadonlyMap ReadonlySet ArrayIterator MapIterator
  SetIterator StringIterator IteratorObject Generator AsyncGenerator RegExpMatchArray RegExpExecArray
  RegExpStringIterator`.split(/\s+/),
)

/** Whether it is a union, intersection or condition on its outermost level. */
function isCombined(type: string): boolean {
  let depth = 0
  let quote = ""
  for (const [index, letter] of [...type].entries()) {
    if (quote) {
      if (letter === quote) quote = ""
    } else if (letter === '"' || letter === "`") quote = letter
    else if ("{([<".includes(letter)) depth++
    else if ("})]".includes(letter) || (letter === ">" && type[index - 1] !== "=")) depth--
    else if (depth === 0 && (letter === "|" || letter === "&" || letter === "?")) return true
    // From an arrow on, all is the result of a function.
    else if (depth === 0 && letter === "=") return false
  }
  return false
}
