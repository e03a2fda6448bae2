// Reads an agent from a Markdown file: front matter with its settings, and its instructions below.
import { parseSkillText } from "../../skills/front-matter.ts"
import type { AgentDefinition } from "../define-config.ts"

type Report = (severity: "error" | "warning", message: string) => void

/** Returns the definition of an agent; undefined if the file has an error. `name` is the name of the file without
 *  `.md`. Such a file is data that anyone who can write the folder can change, so it cannot grant tools, a shell, MCP
 *  servers or anything else that acts. */
export async function readMarkdownAgent(
  name: string,
  bytes: Uint8Array,
  report: Report,
): Promise<AgentDefinition | undefined> {
  if (!agentName.test(name)) {
    report("error", `"${name}" is no name for an agent. Use a word of letters, digits, "_" and "-"`)
    return undefined
  }
  const text = await parseSkillText(bytes)
  if ("problem" in text) {
    report("error", text.problem)
    return undefined
  }
  for (const remark of text.remarks) report("warning", remark)
  let isValid = true
  const fail = (message: string) => {
    report("error", message)
    isValid = false
  }
  const { fields } = text
  const definition: AgentDefinition = {
    description: textField("description"),
    model: textField("model"),
    temperature: numberField("temperature", /^\d+(\.\d+)?$/, "a number such as 0.2"),
    maxOutputTokens: numberField("max-output-tokens", /^[1-9]\d*$/, "a whole number of 1 or more"),
    ...limitsOf(numberField("max-cycles", /^[1-9]\d*$/, "a whole number of 1 or more")),
    ...(text.body !== "" && { instructions: text.body }),
  }
  if (definition.model?.startsWith("openai-compatible:"))
    fail("`model` must not be an address: name a model of the configuration, or write provider/model")
  const written = textField("name")
  if (written !== undefined && written !== name)
    fail(`the name "${written}" must be the name of the file, "${name}": rename one of them`)
  if (text.body === "") report("warning", "has no instructions below its front matter")
  for (const field of Object.keys(fields)) {
    if (grants.has(field))
      report(
        "warning",
        `\`${field}\` is left out: a file in this folder cannot grant it. Grant it in the configuration under agents.${name}`,
      )
    else if (!knownFields.has(field)) report("warning", `the field \`${field}\` is unknown and is left out`)
  }
  return isValid ? Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined)) : undefined

  function textField(field: string): string | undefined {
    const value = fields[field]
    if (value === undefined || value === "") return undefined
    if (typeof value === "string") return value.trim()
    fail(`\`${field}\` must be text`)
    return undefined
  }

  function numberField(field: string, pattern: RegExp, what: string): number | undefined {
    const value = fields[field]
    if (value === undefined) return undefined
    if (typeof value === "string" && pattern.test(value)) return Number(value)
    fail(`\`${field}\` must be ${what}`)
    return undefined
  }
}

const agentName = /^[\p{ID_Start}_][\p{ID_Continue}-]{0,63}$/u

const knownFields = new Set(["name", "description", "model", "temperature", "max-cycles", "max-output-tokens"])

/** Whatever lets an agent act or reach beyond its conversation, as this and other frameworks name it. */
const grants = new Set([
  ...["tools", "allowed-tools", "allowedTools", "toolPolicy", "disallowedTools", "shell", "bash", "workspace"],
  ...["mcp", "mcp-servers", "mcpServers", "runtime", "agents", "sub-agents", "skills", "hooks", "approver", "approve"],
  ...["permissions", "permissionMode", "provider", "allow", "limits"],
])

function limitsOf(cycles: number | undefined): Pick<AgentDefinition, "limits"> {
  return cycles === undefined ? {} : { limits: { cycles } }
}
