// Checks the properties of a skill by the rules of the Agent Skills standard.
/** The checked fields of the front matter. */
export interface SkillProperties {
  name: string
  description: string
  license: string | undefined
  compatibility: string | undefined
  metadata: Record<string, string>
  allowedTools: string[]
  /** Whether the model may activate it. */
  offered: boolean
}

export interface Finding {
  severity: "error" | "warning"
  message: string
}

/** Checks the fields of a skill and returns every problem. `folder`, if any, must have the name of the skill. */
export function checkSkillProperties(
  fields: Record<string, unknown>,
  folder: string | undefined,
): { properties: SkillProperties; findings: Finding[] } {
  const findings: Finding[] = []
  const error = (message: string) => void findings.push({ severity: "error", message })
  const warn = (message: string) => void findings.push({ severity: "warning", message })
  const name = checkName(fields.name, folder, error)
  const description = checkDescription(fields.description, error)
  const properties: SkillProperties = {
    name,
    description,
    license: optionalText("license", fields.license, Infinity, error),
    compatibility: optionalText("compatibility", fields.compatibility, 500, error),
    metadata: checkMetadata(fields.metadata, error, warn),
    allowedTools: checkTools(fields["allowed-tools"], error),
    offered: String(fields["disable-model-invocation"] ?? "false") !== "true",
  }
  for (const field of Object.keys(fields)) {
    if (!standardFields.has(field) && field !== "disable-model-invocation") {
      warn(`the field "${field}" is not in the standard and is ignored`)
    }
  }
  if (!properties.offered) warn("disable-model-invocation is set, so the model is not offered it")
  return { properties, findings }
}

/** Returns why a path is not valid inside a skill; undefined if it is. */
export function pathProblem(path: unknown): string | undefined {
  if (typeof path !== "string" || path === "") return "must be the path of a file in the skill"
  if (/^[/\\]|^[A-Za-z]:|\\|\0/.test(path)) return 'must begin in the skill\'s folder and have "/" between its parts'
  if (path.split("/").includes("..")) return 'must not have ".." in it'
  if (/(^|\/)\.[^/]/.test(path)) return "is hidden"
  return undefined
}

const standardFields = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"])

function checkName(given: unknown, folder: string | undefined, error: (message: string) => void): string {
  if (typeof given !== "string" || given.trim() === "") {
    error(given === undefined || given === "" ? "name is missing" : "name must be text")
    return ""
  }
  const name = given.trim().normalize("NFKC")
  const say = (problem: string) => error(`name "${shortText(name)}" ${problem}`)
  if (characterCount(name) > 64) say(`has ${characterCount(name)} characters; the most is 64`)
  if (name !== name.toLowerCase()) say("must be lower case")
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) say("may have letters, digits and hyphens only")
  if (name.startsWith("-") || name.endsWith("-")) say("must not begin or end with a hyphen")
  if (name.includes("--")) say("must not have two hyphens in a row")
  if (folder !== undefined && folder.normalize("NFKC") !== name) {
    say(`must be the name of its folder, "${folder}": rename one of them`)
  }
  return name
}

function checkDescription(given: unknown, error: (message: string) => void): string {
  if (given === undefined || given === "" || (typeof given === "string" && given.trim() === "")) {
    error("description is missing: say what the skill does and when to use it")
    return ""
  }
  return optionalText("description", given, 1024, error) ?? ""
}

function optionalText(
  field: string,
  given: unknown,
  most: number,
  error: (message: string) => void,
): string | undefined {
  if (given === undefined) return undefined
  if (typeof given !== "string") {
    error(`${field} must be text`)
    return undefined
  }
  const text = given.trim()
  if (characterCount(text) > most) error(`${field} has ${characterCount(text)} characters; the most is ${most}`)
  return text === "" ? undefined : text
}

function checkMetadata(
  given: unknown,
  error: (message: string) => void,
  warn: (message: string) => void,
): Record<string, string> {
  if (given === undefined || given === "") return {}
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    error("metadata must be a map of texts")
    return {}
  }
  const entries = Object.entries(given).map(([key, value]): [string, string] => {
    if (typeof value === "string") return [key, value]
    warn(`metadata.${key} is not text and is kept as JSON`)
    return [key, JSON.stringify(value)]
  })
  return Object.fromEntries(entries)
}

/** A list, or one text with spaces or commas between the names. Parentheses belong to the name before them. */
function checkTools(given: unknown, error: (message: string) => void): string[] {
  if (given === undefined) return []
  if (typeof given === "string") return given.match(/(?:[^\s,(]|\([^)]*(?:\)|$))+/g) ?? []
  if (Array.isArray(given) && given.every((tool) => typeof tool === "string")) return given
  error("allowed-tools must be text or a list of texts")
  return []
}

/** Counts code points, not UTF-16 units. */
function characterCount(text: string): number {
  return Array.from(text).length
}

function shortText(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
