/** A name that the host's declarations declare. */
export interface HostName {
  kind: "variable" | "function" | "class" | "enum" | "type"
  /** Whether its author said what it is; otherwise it was read off a running value and may have more to it. */
  certain: boolean
  /** The text of its declaration; of what is a type and a value, of both. */
  text: string
}

/** Reads the names off a block of declarations, as `declare` writes them: each begins a line. */
export function parseHostNames(declarations: string): Map<string, HostName> {
  const names = new Map<string, HostName>()
  const heads = [...declarations.matchAll(declarationHead)]
  heads.forEach((match, index) => {
    const [whole, word = "", name = ""] = match
    const text = declarations.slice(match.index, heads[index + 1]?.index)
    const before = names.get(name)
    // A class may be shown without its members.
    const hidden = word === "class" && text.slice(whole.length).trimStart().startsWith("{}")
    const certain = !hidden && !text.includes("// inferred") && before?.certain !== false
    const kind = before?.kind ?? kindByKeyword[word] ?? "type"
    names.set(name, { kind, certain, text: before && kind !== "function" ? before.text + text : text })
  })
  return names
}

const declarationHead =
  /^(?:declare )?(?:abstract )?(let|const|function|class|enum|interface|type|namespace) ([\w$]+)/gm

const kindByKeyword: Record<string, HostName["kind"]> = {
  let: "variable",
  const: "variable",
  function: "function",
  class: "class",
  enum: "enum",
}
