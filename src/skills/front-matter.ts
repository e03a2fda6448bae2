// Parses a SKILL.md: its YAML front matter and the text below it.
import { attempt } from "../core/attempt.ts"
/** The fields of the front matter, each a text, list or map of texts, and the text below. */
export interface SkillText {
  fields: Record<string, unknown>
  body: string
  /** What was repaired to read it. */
  remarks: string[]
}

/** Parses the text of a SKILL.md, or returns its problem. Never throws because of its content. */
export async function parseSkillText(bytes: Uint8Array): Promise<SkillText | { problem: string }> {
  const text = decode(bytes)
  if (text === undefined) return { problem: "is not UTF-8 text" }
  const [opening] = /^---[ \t]*(?:\r?\n|$)/.exec(text) ?? []
  if (opening === undefined) return { problem: 'has no front matter: its first line must be "---"' }
  const closing = /^---[ \t]*$/m.exec(text.slice(opening.length).replaceAll("\r\n", " \n"))
  if (!closing) return { problem: 'has front matter without an end: a line of "---" closes it' }
  const source = text.slice(opening.length, opening.length + closing.index)
  if (source.length > maxFrontMatterChars) {
    return { problem: `has front matter of ${source.length} characters; the most is ${maxFrontMatterChars}` }
  }
  const body = text.slice(opening.length + closing.index).replace(/^---[ \t]*(?:\r?\n|$)/, "")
  const read = await readYaml(source)
  return "problem" in read ? read : { ...read, body: body.replaceAll("\r\n", "\n").trim() }
}

const maxFrontMatterChars = 32_768

function decode(bytes: Uint8Array): string | undefined {
  const text = attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  return text?.includes("\0") ? undefined : text
}

async function readYaml(source: string): Promise<Omit<SkillText, "body"> | { problem: string }> {
  const first = await parseYaml(source)
  if ("fields" in first) return { ...first, remarks: [] }
  const quoted = await parseYaml(quotePlainValues(source))
  if (!("fields" in quoted)) return first
  return {
    ...quoted,
    remarks: [`has front matter that is not YAML as it stands: put the text in quotes. ${first.why}`],
  }
}

async function parseYaml(
  source: string,
): Promise<{ fields: Record<string, unknown> } | { problem: string; why: string }> {
  const broken = (why: string) => ({ problem: `has front matter that is not YAML: ${why}`, why })
  try {
    // Loaded here, so that a program without skills never loads it.
    const { parseDocument } = await import("yaml")
    // Every scalar is text: a version of 1.0 stays "1.0", and tags have no effect.
    const document = parseDocument(source, { schema: "failsafe", logLevel: "silent" })
    const [error] = document.errors
    if (error) return broken(yamlErrorText(error))
    const fields: unknown = document.toJS({ maxAliasCount: maxAliases })
    if (typeof fields === "object" && fields !== null && !Array.isArray(fields)) return { fields: { ...fields } }
    return broken("it must be a map of fields, such as name: my-skill")
  } catch (error) {
    // Too many aliases, or nested too deeply.
    return broken(error instanceof Error ? error.message : String(error))
  }
}

const maxAliases = 20

/** Returns the reason in one line, with the line number in the file. */
function yamlErrorText({ message, linePos }: { message: string; linePos?: [{ line: number }, ...unknown[]] }): string {
  const [reason = ""] = message.split(/ at line \d|\n/)
  return linePos ? `${reason} (line ${linePos[0].line + 1})` : reason
}

/** Quotes plain values that YAML would misread, such as `description: Use when: …`. Other readers accept them. */
function quotePlainValues(source: string): string {
  return source.replace(/^([\w-]+):[ \t]+([^\s"'|>[{&*!#].*)$/gm, (line, key: string, value: string) =>
    /:(\s|$)|\s#|^[@`%]/.test(value) ? `${key}: ${JSON.stringify(value.trim())}` : line,
  )
}
