// Shortens JSDoc comments to what a caller needs: the first paragraph and the descriptions of the parameters.

/** Returns the text of the JSDoc comment that ends right before a position. */
export function docBefore(code: string, position: number): string | undefined {
  const before = code.slice(0, position).trimEnd()
  if (!before.endsWith("*/")) return undefined
  const start = before.lastIndexOf("/*")
  if (!before.startsWith("/**", start) || before.length - start < "/***/".length) return undefined
  return before
    .slice(start + "/**".length, -"*/".length)
    .replace(/^[ \t]*\* ?/gm, "")
    .trim()
}

export function shortDoc(doc: string | undefined): string | undefined {
  if (doc === undefined) return undefined
  const [text = "", ...tags] = doc.split(
    /(?:^[ \t]*(?=@\w)|\s(?=@(?:param|returns?|throws|example|see|deprecated)\b))/m,
  )
  const [summary = ""] = text.trim().split(/\n[ \t]*\n/)
  const parameters = tags.flatMap((tag) => {
    const [, name, about = ""] = parameterTag.exec(tag) ?? []
    const line = about.replace(/\s+/g, " ").trim()
    return name !== undefined && line ? [`@param ${name} ${line}`] : []
  })
  // The lines of a list stay apart.
  const lines = summary.split("\n").map((each) => each.trim())
  const isList = lines.slice(1).some((each) => /^(?:[-*]|\d+\.)\s/.test(each))
  const line = isList ? summary.trim() : lines.filter(Boolean).join(" ")
  return [line, ...parameters].filter((line) => line).join("\n") || undefined
}

const parameterTag = /^@param\s+(?:\{(?:[^{}]|\{[^{}]*\})*\}\s*)?\[?([\w$.]+)[^\s\]]*\]?\s*(?:-\s*)?([\s\S]*)$/
