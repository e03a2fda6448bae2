// Discovers the data resources in the `.karst` folders of the project and the user: agents and prompts in Markdown,
// and skills. No code is loaded from there.
import type { Dirent } from "node:fs"
import { readdir, realpath } from "node:fs/promises"
import { join } from "node:path"
import { hasCode } from "../../skills/inject-skill.ts"
import { readWithin } from "../../skills/read-within.ts"
import { loadSkills, type Skill } from "../../skills.ts"
import type { AgentDefinition } from "../define-config.ts"
import type { Diagnostic } from "../diagnostics.ts"
import type { ResourceFolder } from "../load-config.ts"
import { readMarkdownAgent } from "./markdown-agent.ts"

/** A resource and the folder that it was found in. */
export interface Discovered<T> {
  name: string
  source: "project" | "user"
  path: string
  value: T
}

export interface Resources {
  /** The project's first; likewise the prompts. */
  agents: readonly Discovered<AgentDefinition>[]
  prompts: readonly Discovered<string>[]
  skills: readonly Skill[]
  diagnostics: readonly Diagnostic[]
}

/** Reads all resources. The folders are in order of precedence: of two resources with the same name, the first is used.
 *  Never throws because of their content: every problem is in `diagnostics`. */
export async function discoverResources(folders: readonly ResourceFolder[]): Promise<Resources> {
  const diagnostics: Diagnostic[] = []
  const agents: Discovered<AgentDefinition>[] = []
  const prompts: Discovered<string>[] = []
  for (const { source, path } of folders) {
    for (const file of await markdownFiles(join(path, "agents"), diagnostics)) {
      const definition = await readMarkdownAgent(file.name, file.bytes, (severity, message) =>
        diagnostics.push({ severity, path: file.path, message }),
      )
      if (definition) agents.push({ name: file.name, source, path: file.path, value: definition })
    }
    for (const { name, path: file, bytes } of await markdownFiles(join(path, "prompts"), diagnostics)) {
      const text = new TextDecoder().decode(bytes).trim()
      if (text === "") diagnostics.push({ severity: "error", path: file, message: "is empty, and is left out" })
      else prompts.push({ name, source, path: file, value: text })
    }
    for (const name of codeNames) await warnOfCode(path, name, diagnostics)
  }
  return { agents, prompts, skills: await discoverDataSkills(folders, diagnostics), diagnostics }
}

interface MarkdownFile {
  name: string
  path: string
  bytes: Uint8Array
}

const maxBytes = 256 * 1024

async function markdownFiles(folder: string, diagnostics: Diagnostic[]): Promise<MarkdownFile[]> {
  const root = await realpath(folder).catch(() => undefined)
  const entries = root === undefined ? [] : await listFolder(folder, diagnostics)
  const files: MarkdownFile[] = []
  for (const { name } of entries.filter((entry) => entry.name.endsWith(".md") && !entry.isDirectory())) {
    const path = join(folder, name)
    const read = await readWithin(root ?? folder, path, maxBytes)
    if ("problem" in read) diagnostics.push({ severity: "error", path, message: read.problem })
    else files.push({ name: name.slice(0, -".md".length), path, bytes: read.bytes })
  }
  return files
}

async function listFolder(folder: string, diagnostics: Diagnostic[]): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "ENOENT") diagnostics.push({ severity: "error", path: folder, message: `cannot be read (${code})` })
    return []
  }
}

/** Loads the skills of the `skills` folders without their code. */
export async function discoverDataSkills(
  folders: readonly ResourceFolder[],
  diagnostics: Diagnostic[],
): Promise<Skill[]> {
  const paths: string[] = []
  for (const { path } of folders) {
    if (await realpath(join(path, "skills")).catch(() => undefined)) paths.push(join(path, "skills"))
  }
  const { skills, problems } = await loadSkills(paths)
  diagnostics.push(...problems)
  return skills.map((skill) => {
    if (hasCode(skill)) {
      diagnostics.push({
        severity: "warning",
        path: skill.directory ?? skill.name,
        message:
          "has code, which is not run: code is loaded only from folders that the configuration names. Add the folder to `skills` there",
      })
    }
    return { ...skill, directory: undefined, code: undefined, bindings: undefined, trusted: false }
  })
}

const codeNames = ["hooks", "tools", "agents.json", "mcp.json"]

const dataCures = new Map([
  ["agents.json", "Write each agent as agents/<name>.md, or in the configuration under `agents`"],
  ["mcp.json", "Write the servers in the configuration under `mcpServers`"],
])

// Other frameworks load these from such a folder.
async function warnOfCode(folder: string, name: string, diagnostics: Diagnostic[]): Promise<void> {
  const path = join(folder, name)
  if (!(await realpath(path).catch(() => undefined))) return
  const cure = dataCures.get(name) ?? `Import it in the configuration and set \`${name}\` there`
  diagnostics.push({ severity: "warning", path, message: `is not read. ${cure}` })
}
