import type { ToolPolicy } from "../actions/tool-policy.ts"
import {
  anything,
  checkOptions,
  mustBeAtLeast,
  mustBeBoolean,
  mustBeEither,
  mustBeFunction,
  mustBeIntegerFrom,
  mustBeList,
  mustBeNumber,
  mustBeObject,
  mustBeOneOf,
  mustBeOptions,
  mustBePositive,
  mustBeSignal,
  mustBeText,
  mustBeTextList,
  mustImplement,
  type OptionChecks,
} from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import { ConfigError } from "../core/errors.ts"
import { nearestWord } from "../core/text/nearest-word.ts"
import { memoryChecks } from "../memory.ts"
import { builtinNames } from "../tools/builtin-names.ts"
import { shellChecks } from "../tools/shell/shell-option-checks.ts"
import type { Tool } from "../tools/tool.ts"
import { workspaceMethods } from "../workspaces/workspace.ts"
import type { AgentOptions } from "./agent-config.ts"
import type { CodeRunOptions, CodeSessionOptions } from "./create-agent.ts"
import type { PromptSections } from "./prompt/system-prompt.ts"

const sectionChecks: OptionChecks<PromptSections> = {
  instructions: mustBeFunction,
  rules: mustBeFunction,
  skills: mustBeFunction,
  objects: mustBeFunction,
}

const policyChecks: OptionChecks<ToolPolicy> = { allow: mustBeTextList, deny: mustBeTextList, only: mustBeFunction }

const runtimeMethods = ["inject", "update", "retrieve", "execute", "describe", "names", "keep", "reset", "close"]

// `anything`: the value is checked where it is resolved, with more knowledge than its type.
const agentChecks: OptionChecks<AgentOptions> = {
  model: anything,
  name: mustBeText,
  description: mustBeText,
  instructions: mustBeText,
  runtime: anything,
  tools: anything,
  toolPolicy: mustBeOptions(policyChecks),
  workspace: anything,
  shell: (value, path) => (typeof value === "boolean" ? undefined : mustBeOptions(shellChecks)(value, path)),
  images: mustBeBoolean,
  noTool: mustBeOneOf("continue", "answer", "wait"),
  stopOn: mustBeEither('"first-tool" or a list of names of tools', mustBeOneOf("first-tool"), mustBeTextList),
  agents: mustBeObject,
  maxParallelTools: mustBeAtLeast(1),
  maxOutputChars: mustBeAtLeast(0),
  cellTimeoutMs: mustBeAtLeast(1),
  typeGate: mustBeOneOf("off", "hint", "block"),
  fence: mustBeText,
  contextWindow: mustBeAtLeast(1),
  memory: mustBeOptions(memoryChecks),
  skills: mustBeList,
  messages: mustBeList,
  prompt: mustBeOptions(sectionChecks),
  transaction: mustBeEither("true, false or { check }", mustBeBoolean, mustBeObject),
  approver: anything,
  approvalTimeoutMs: mustBePositive,
  hooks: anything,
  temperature: mustBeNumber,
  maxOutputTokens: mustBeIntegerFrom(1),
  providerOptions: mustBeObject,
  now: mustBeFunction,
  limits: mustBeOptions(limitChecks),
  metadata: mustBeObject,
  onEvent: mustBeFunction,
}

const runChecks: OptionChecks<CodeRunOptions> = {
  ...agentChecks,
  signal: mustBeSignal,
  from: mustBeObject,
  outputs: mustBeObject,
  values: mustBeObject,
  state: mustBeObject,
  verify: mustBeFunction,
}

const sessionChecks: OptionChecks<CodeSessionOptions> = {
  ...agentChecks,
  signal: mustBeSignal,
  archive: mustBeEither("a folder or a store", mustBeText, mustImplement(["get", "commit", "keys", "read"], "a store")),
  resume: mustBeText,
  recording: mustBeBoolean,
  keepPrompt: mustBeBoolean,
}

export const checkAgentOptions = (use: string, options: AgentOptions) => checkOptions(use, options, agentChecks)
export const checkRunOptions = (use: string, options: object) => checkOptions<object>(use, options, runChecks)
export const checkSessionOptions = (options: CodeSessionOptions) =>
  checkOptions("agent.session()", options, sessionChecks)
export const checkOverrides = (overrides: Partial<AgentOptions>) =>
  checkOptions<Partial<AgentOptions>>("agent.with()", overrides, agentChecks)

/** Refuses names of tools that the agent cannot have. */
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

/** Refuses an object that lacks methods of a workspace. */
export function checkWorkspace(workspace: unknown): void {
  if (workspace === undefined) return
  if (typeof workspace !== "object" || workspace === null) {
    const dir = typeof workspace === "string" ? JSON.stringify(workspace) : "dir"
    throw new ConfigError(`workspace: this is no workspace. Use localWorkspace(${dir}).`)
  }
  const problem = mustImplement(workspaceMethods, "a workspace")(workspace, "workspace")
  if (problem !== undefined)
    throw new ConfigError(`workspace: this ${String(problem)}. Use localWorkspace(dir), or implement Workspace whole.`)
}

/** Refuses what is neither a runtime nor a function that makes one. */
export function checkRuntime(runtime: unknown): void {
  if (runtime === undefined || typeof runtime === "function") return
  const isObject = typeof runtime === "object" && runtime !== null && "execute" in runtime
  const problem = isObject && mustImplement(runtimeMethods, "a runtime")(runtime, "runtime")
  if (problem === undefined) return
  const why = problem ? `this ${String(problem)}` : "this is neither a runtime nor a function that makes one"
  throw new ConfigError(`runtime: ${why}. Use jsRuntime({ … }).`)
}
