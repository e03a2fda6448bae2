// Checks of the options of agents, runs and sessions: unknown names and wrong types are errors with a suggestion.
import type { ToolPolicy } from "../actions/tool-policy.ts"
import * as check from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import { ConfigError } from "../core/errors.ts"
import { promptLanguages } from "../core/prompt-texts.ts"
import { nearestWord } from "../core/text/nearest-word.ts"
import { memoryChecks } from "../memory.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { mustBeArchive } from "../sessions/archive-source-check.ts"
import { builtinNames } from "../tools/builtin-names.ts"
import { shellChecks } from "../tools/shell/shell-option-checks.ts"
import type { Tool } from "../tools/tool.ts"
import { type Workspace, workspaceMethods } from "../workspaces/workspace.ts"
import type { AgentOptions } from "./agent-config.ts"
import type { CodeRunOptions, CodeSessionOptions } from "./create-agent.ts"
import type { PromptSections } from "./prompt/system-prompt.ts"
import { mustBeBudget } from "./session-budget.ts"

const sectionChecks: check.OptionChecks<PromptSections> = {
  instructions: check.mustBeFunction,
  rules: check.mustBeFunction,
  skills: check.mustBeFunction,
  objects: check.mustBeFunction,
  workspace: check.mustBeFunction,
}

const policyChecks: check.OptionChecks<ToolPolicy> = {
  allow: check.mustBeTextList,
  deny: check.mustBeTextList,
  only: check.mustBeFunction,
}

const runtimeMethods = [
  "inject",
  "update",
  "retrieve",
  "execute",
  "describe",
  "names",
  "keep",
  "reset",
  "close",
] as const

// `anything` marks an option that is checked where it is resolved, because its type alone does not suffice.
export const agentChecks: check.OptionChecks<AgentOptions> = {
  model: check.anything,
  name: check.mustBeText,
  description: check.mustBeText,
  instructions: check.mustBeText,
  runtime: check.anything,
  tools: check.anything,
  toolPolicy: check.mustBeOptions(policyChecks),
  workspace: check.anything,
  shell: check.mustBeBooleanOrOptions(shellChecks),
  images: check.mustBeBoolean,
  noTool: check.mustBeOneOf("answer", "continue", "wait"),
  todos: check.mustBeBoolean,
  compactMemory: check.mustBeBoolean,
  stopOn: check.mustBeEither(
    '"first-tool" or a list of names of tools',
    check.mustBeOneOf("first-tool"),
    check.mustBeTextList,
  ),
  agents: check.mustBeObject,
  maxParallelTools: check.mustBeLimit(1),
  maxOutputChars: check.mustBeLimit(0),
  cellTimeoutMs: check.mustBeLimit(1),
  typeGate: check.mustBeOneOf("off", "hint", "block"),
  fence: check.mustBeText,
  contextWindow: check.mustBeIntegerFrom(1),
  memory: check.mustBeOptions(memoryChecks),
  skills: check.mustBeList,
  messages: check.mustBeList,
  language: check.mustBeOneOf(...promptLanguages),
  prompt: check.mustBeOptions(sectionChecks),
  transaction: check.mustBeBooleanOrOptions({ check: check.mustBeFunction }),
  approver: check.anything,
  approvalTimeoutMs: check.mustBeLimit(1),
  hooks: check.anything,
  temperature: check.mustBeNumber,
  maxOutputTokens: check.mustBeIntegerFrom(1),
  providerOptions: check.mustBeObject,
  now: check.mustBeFunction,
  limits: check.mustBeOptions(limitChecks),
  metadata: check.mustBeMetadata,
  onEvent: check.mustBeFunction,
}

const runChecks: check.OptionChecks<CodeRunOptions> = {
  ...agentChecks,
  signal: check.mustBeSignal,
  from: check.mustBeObject,
  outputs: check.mustBeObject,
  values: check.mustBeObject,
  state: check.mustBeObject,
  compact: check.mustBeBoolean,
  verify: check.mustBeFunction,
}

const sessionChecks: check.OptionChecks<CodeSessionOptions> = {
  ...agentChecks,
  signal: check.mustBeSignal,
  archive: mustBeArchive,
  id: check.mustBeText,
  budget: mustBeBudget,
  resume: check.mustBeText,
  recording: check.mustBeBoolean,
  keepSnapshots: check.mustBeIntegerFrom(0),
  keepPrompt: check.mustBeBoolean,
}

export const checkAgentOptions = (use: string, options: AgentOptions) => check.checkOptions(use, options, agentChecks)
export const checkRunOptions = (use: string, options: object) => check.checkOptions<object>(use, options, runChecks)
export const checkSessionOptions = (options: CodeSessionOptions) =>
  check.checkOptions("agent.session()", options, sessionChecks)
export const checkOverrides = (overrides: Partial<AgentOptions>) =>
  check.checkOptions<Partial<AgentOptions>>("agent.with()", overrides, agentChecks)

/** Whether an agent has tools by its own options. */
export function hasTools({ tools = [], agents = {}, workspace, shell }: Partial<AgentOptions>): boolean {
  return tools.length > 0 || Object.keys(agents).length > 0 || workspace !== undefined || Boolean(shell)
}

/** Throws for an option that has no effect beside the others. An agent without a runtime may still get a workspace from
 *  the run that starts it. */
export function checkCombinations(options: AgentOptions): void {
  const { runtime, noTool } = options
  const isSet = (name: keyof AgentOptions) => ![undefined, false, "off"].some((unset) => options[name] === unset)
  const unused = runtime || !hasTools(options) ? undefined : cellOptions.find(isSet)
  const needsTools = runtime && !hasTools(options) ? toolOptions.find(isSet) : undefined
  let problem: string | undefined
  if (unused)
    problem = `${unused}: this agent has tools and no runtime, so it runs no cells. Leave it out, or give the agent a runtime: runtime: () => jsRuntime().`
  else if (runtime && noTool !== undefined && noTool !== "answer")
    problem = `noTool: an agent with a runtime ends with an answer without code. Leave out noTool, or the runtime.`
  else if (needsTools)
    problem = `${needsTools}: this agent has no tools. Give it tools, agents or a workspace, or leave out ${needsTools}.`
  if (problem !== undefined) throw new ConfigError(problem)
}

const toolOptions = ["stopOn", "todos", "compactMemory"] as const

/** The options of cells. */
const cellOptions = ["cellTimeoutMs", "typeGate", "fence", "transaction"] as const

export function checkStopOn(stopOn: AgentOptions["stopOn"], tools: readonly Tool[]): void {
  if (stopOn === undefined || stopOn === "first-tool") return
  const known = [...tools.map(({ name }) => name), ...builtinNames]
  const unknown = stopOn.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const near = nearestWord(unknown, known)
  const hint = near === undefined ? "" : ` (did you mean "${near}"?)`
  const listed = [...new Set(known)].toSorted().join(", ")
  throw new ConfigError(`stopOn: there is no tool "${unknown}"${hint}. There are: ${listed}.`)
}

export function checkWorkspace(workspace: unknown): void {
  if (workspace === undefined) return
  if (typeof workspace !== "object" || workspace === null) {
    const dir = typeof workspace === "string" ? JSON.stringify(workspace) : "dir"
    throw new ConfigError(`workspace: this is no workspace. Use localWorkspace(${dir}).`)
  }
  const problem = check.mustImplement<Workspace>(workspaceMethods, "a workspace")(workspace, "workspace")
  if (problem !== undefined)
    throw new ConfigError(`workspace: this ${String(problem)}. Use localWorkspace(dir), or implement Workspace whole.`)
}

/** Throws for a value that is neither a runtime nor a function that creates one. */
export function checkRuntime(runtime: unknown): void {
  if (runtime === undefined || typeof runtime === "function") return
  const isObject = typeof runtime === "object" && runtime !== null && "execute" in runtime
  const problem = isObject && check.mustImplement<Runtime>(runtimeMethods, "a runtime")(runtime, "runtime")
  if (problem === undefined) return
  const why = problem ? `this ${String(problem)}` : "this is neither a runtime nor a function that makes one"
  throw new ConfigError(`runtime: ${why}. Use jsRuntime({ … }).`)
}

/** A session has one runtime and one conversation, so these options would have no effect on a send. */
export function refuseSessionOptions(sent: CodeRunOptions): void {
  for (const option of ["runtime", "workspace", "messages", "from"] as const) {
    if (sent[option] === undefined) continue
    throw new ConfigError(
      `session.send: \`${option}\` belongs to the session. Give it to agent.session() or agent.run().`,
    )
  }
}

/** Whether options change the system prompt. */
export const changesPrompt = (overrides: Partial<AgentOptions>) =>
  promptOptions.some((name) => overrides[name] !== undefined)

const promptOptions = ["instructions", "language", "prompt", "skills", "maxOutputChars", ...cellOptions] as const
