// Reads the names and kinds of the injected values from their declarations.
export interface HostName {
  kind: "variable" | "function" | "class" | "enum" | "type"
  /** True if the author wrote the type. Otherwise it was inferred from the value, which may have more members. */
  certain: boolean
  /** Its declaration. If the name is both a type and a value, both declarations. */
  text: string
}

/** Parses declarations as `declare` writes them: each one starts a line. */
export function parseHostNames(declarations: string): Map<string, HostName> {
  const names = new Map<string, HostName>()
  const heads = [...declarations.matchAll(declarationHead)]
  heads.forEach((match, index) => {
    const [wholeHead, keyword = "", name = ""] = match
    const text = declarations.slice(match.index, heads[index + 1]?.index)
    const earlier = names.get(name)
    // A class may be declared without its members.
    const isHiddenClass = keyword === "class" && text.slice(wholeHead.length).trimStart().startsWith("{}")
    const certain = !isHiddenClass && !text.includes("// inferred") && earlier?.certain !== false
    const kind = earlier?.kind ?? kindByKeyword[keyword] ?? "type"
    names.set(name, { kind, certain, text: earlier && kind !== "function" ? earlier.text + text : text })
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
