// Judges the text of a block that has no telling tag: whether it is code, in which language, or a tool call.
import type { Language } from "./tags.ts"

/** Returns the language of a text that looks like code; undefined if it looks like output, data, commands or prose. The
 *  first line must look like code, and a third of all lines. Code that both languages allow is in `session`'s. */
export function codeLanguage(text: string, session: Language): Language | undefined {
  const lines = text
    .slice(0, maxJudgedChars)
    .split("\n")
    .map((line) => line.trim().slice(0, maxLineChars))
    .filter((line) => line !== "" && !/^(?:#|\/\/|\/?\*)|^[\])},;]+$/.test(line))
  const count = { typescript: 0, python: 0, both: 0 }
  for (const [index, line] of lines.entries()) {
    const found = lineLanguage(line)
    if (found) count[found]++
    else if (index === 0) return undefined
  }
  const { typescript, python, both } = count
  if ((typescript + python + both) * 3 < Math.max(1, lines.length)) return undefined
  if (typescript === python) return session
  return typescript > python ? "typescript" : "python"
}

/** Returns true for JSON such as `{ "name": …, "arguments": { … } }`. */
export function isToolCallJson(text: string): boolean {
  const value = parseJson(text)
  if (typeof value !== "object" || value === null) return false
  const keys = Object.keys(value)
  return (
    keys.length <= 4 &&
    keys.some((key) => /^(?:name|tool|tool_name|function)$/.test(key)) &&
    keys.some((key) => /^(?:arguments|args|input|parameters|tool_input)$/.test(key))
  )
}

const maxJudgedChars = 20_000
const maxLineChars = 300

function lineLanguage(line: string): Language | "both" | undefined {
  if (pythonLine.test(line)) return "python"
  if (typescriptLine.test(line)) return "typescript"
  return eitherLine.test(line) ? "both" : undefined
}

const pythonLine = new RegExp(
  [
    String.raw`^(?:async )?(?:def|class) \w+.*:$`,
    String.raw`^(?:for .+ in|while|if|elif|with|except)\b.*:(?:\s*#.*)?$|^(?:else|try|finally|except):`,
    String.raw`^import [\w.]+(?: as \w+)?(?:,.*)?$|^from [\w.]+ import `,
    String.raw`^print\(|\blen\(|\blambda [\w, ]*:|\b(?:None|True|False)\b`,
  ].join("|"),
)

const typescriptLine = new RegExp(
  [
    String.raw`^(?:export )?(?:const|let|var) [\w$[{]`,
    String.raw`^(?:export )?(?:async )?function\b.*\(|^(?:export )?class \w+.*\{|^(?:interface|type) \w+.*[={]`,
    `^import .*from ["']|^import ["']`,
    String.raw`=> |=>$|===|!==|\bconsole\.\w+\(`,
    String.raw`^\}? ?(?:for|while|if|else if|switch|catch)(?: await)? ?\(.*\{?$|^(?:try|else|do) \{`,
    String.raw`^await |^throw new |^[\w$.]+\(.*\);$|^[\w$.]+ = .*;$`,
  ].join("|"),
)

const eitherLine = new RegExp(
  [
    String.raw`^return\b`,
    // A call: a name, perhaps with members, directly followed by a parenthesis.
    String.raw`^\.?[A-Za-z_$][\w$]*(?:\.[\w$]+|\["[^"]*"\]|\['[^']*'\]|\[[\w, :-]*\])*\(`,
    String.raw`^[A-Za-z_$][\w$]*(?:, ?[A-Za-z_$][\w$]*|\.[\w$]+|\[[^\]]*\])* [-+*/%|&]?= \S`,
    String.raw`^[A-Za-z_$][\w$]*(?:\.[\w$]+)*(?:\[[^\]]*\]|\.(?:length|size|shape|columns|dtypes|index|values))(?:[.[][\w$.[\]]*)?;?$`,
  ].join("|"),
)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
