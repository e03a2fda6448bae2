// The built-in agent of the commands. Its cells run with `safeRules`, and in an isolated process except for the demo,
// whose point is that they change the objects of the program.
import { statSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Hooks } from "../../actions/hooks.ts"
import { type CodeAgent, createAgent } from "../../agent/create-agent.ts"
import { type PromptLanguage, textsIn } from "../../core/prompt-texts.ts"
import type { Model } from "../../models/model.ts"
import type { Bindings } from "../../runtime/bindings.ts"
import { jsRuntime } from "../../runtime/js.ts"
import { processRuntime } from "../../runtime/process.ts"
import { safeRules } from "../../runtime/rules/safe-rules.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { SkillSource } from "../../skills.ts"
import type { Tool } from "../../tools/tool.ts"
import { localWorkspace } from "../../workspaces/local.ts"
import { UsageError } from "../usage-error.ts"

export interface BuiltInOptions {
  model: Model
  bindings: Bindings
  skills?: readonly SkillSource[] | undefined
  tools?: readonly Tool[] | undefined
  hooks?: readonly Hooks[] | undefined
  /** A folder. */
  workspace?: string | undefined
  shell?: boolean | undefined
  instructions?: string | undefined
  temperature?: number | undefined
  language?: PromptLanguage | undefined
  inProcess: boolean
}

export function builtInAgent({ bindings, skills = [], inProcess, ...options }: BuiltInOptions): CodeAgent {
  const { workspace: folder, shell = false, tools = [] } = options
  const texts = textsIn(options.language)
  const { instructions = texts.codeInstructions } = options
  if (shell && folder === undefined) throw new UsageError("--shell needs a folder to run commands in: --workspace .")
  return createAgent({
    name: "karst",
    model: options.model,
    instructions: `${instructions}\n\n${folder === undefined ? texts.cellsConfined(tools.length > 0) : texts.filesByTools}`,
    skills,
    tools,
    hooks: options.hooks,
    ...(folder !== undefined && { workspace: openFolder(folder), shell }),
    temperature: options.temperature,
    language: options.language,
    runtime: builtInRuntime(bindings, { inProcess, read: skills.flatMap(foldersOf) }),
    // In this process, Ctrl-C is handled only between turns of the event loop: an endless loop must time out.
    cellTimeoutMs: 60_000,
  })
}

/** The paths that a skill reads its files from. */
function foldersOf(source: SkillSource): string[] {
  if (typeof source === "string") return [source]
  if (source instanceof URL) return [fileURLToPath(source)]
  if ("path" in source) return foldersOf(source.path)
  return source.directory === undefined ? [] : [source.directory]
}

/** Creates runtimes for cells that a model writes. `read`: paths that an isolated process can read. */
export function builtInRuntime(
  bindings: Bindings,
  { inProcess, read = [] }: { inProcess: boolean; read?: readonly string[] },
): () => Runtime {
  const rules = safeRules()
  return () =>
    inProcess ? jsRuntime(bindings, { rules }) : processRuntime(bindings, { rules, isolation: "auto", read })
}

function openFolder(folder: string) {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return localWorkspace(resolve(folder))
  throw new UsageError(`--workspace: there is no folder ${folder}.`)
}
