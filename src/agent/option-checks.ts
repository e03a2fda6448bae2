import type { ToolPolicy } from "../actions/tool-policy.ts"
import {
  anything,
  checkOptions,
  isAboveZero,
  isEither,
  isFlag,
  isFrom,
  isFunction,
  isImplementation,
  isList,
  isNumber,
  isOneOf,
  isOptions,
  isRecord,
  isSignal,
  isText,
  isTexts,
  isWholeFrom,
  type OptionChecks,
} from "../core/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { limitChecks } from "../core/limit-checks.ts"
import { nearestOf } from "../core/nearest.ts"
import { memoryChecks } from "../memory.ts"
import { builtinNames } from "../tools/builtin-names.ts"
import { shellChecks } from "../tools/shell-checks.ts"
import type { Tool } from "../tools/tool.ts"
import { workspaceMethods } from "../workspace/workspace.ts"
import type { AgentOptions } from "./config.ts"
import type { CodeRunOptions, CodeSessionOptions } from "./create-agent.ts"
import type { PromptSections } from "./prompt.ts"

const sectionChecks: OptionChecks<PromptSections> = {
  instructions: isFunction,
  rules: isFunction,
  skills: isFunction,
  objects: isFunction,
}

const policyChecks: OptionChecks<ToolPolicy> = { allow: isTexts, deny: isTexts, only: isFunction }

const runtimeMethods = ["inject", "update", "retrieve", "execute", "describe", "names", "keep", "reset", "close"]

// `anything`: the value is checked where it is resolved, with more knowledge than its type.
const agentChecks: OptionChecks<AgentOptions> = {
  model: anything,
  name: isText,
  description: isText,
  instructions: isText,
  runtime: anything,
  tools: anything,
  toolPolicy: isOptions(policyChecks),
  workspace: anything,
  shell: (value, path) => (typeof value === "boolean" ? undefined : isOptions(shellChecks)(value, path)),
  images: isFlag,
  noTool: isOneOf("continue", "answer", "wait"),
  stopOn: isEither('"first-tool" or a list of names of tools', isOneOf("first-tool"), isTexts),
  agents: isRecord,
  maxParallelTools: isFrom(1),
  maxOutputChars: isFrom(0),
  cellTimeoutMs: isFrom(1),
  typeGate: isOneOf("off", "hint", "block"),
  fence: isText,
  contextWindow: isFrom(1),
  memory: isOptions(memoryChecks),
  skills: isList,
  messages: isList,
  prompt: isOptions(sectionChecks),
  transaction: isEither("true, false or { check }", isFlag, isRecord),
  approver: anything,
  approve: isFunction,
  approvalTimeoutMs: isAboveZero,
  hooks: anything,
  temperature: isNumber,
  maxOutputTokens: isWholeFrom(1),
  providerOptions: isRecord,
  now: isFunction,
  limits: isOptions(limitChecks),
  metadata: isRecord,
  onEvent: isFunction,
}

const runChecks: OptionChecks<CodeRunOptions> = {
  ...agentChecks,
  signal: isSignal,
  from: isRecord,
  outputs: isRecord,
  values: isRecord,
  state: isRecord,
  verify: isFunction,
}

const sessionChecks: OptionChecks<CodeSessionOptions> = {
  ...agentChecks,
  signal: isSignal,
  archive: isEither("a folder or a store", isText, isImplementation(["get", "commit", "keys", "read"], "a store")),
  resume: isText,
  recording: isFlag,
  keepPrompt: isFlag,
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
  const near = nearestOf(unknown, known)
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
  const problem = isImplementation(workspaceMethods, "a workspace")(workspace, "workspace")
  if (problem !== undefined)
    throw new ConfigError(`workspace: this ${String(problem)}. Use localWorkspace(dir), or implement Workspace whole.`)
}

/** Refuses what is neither a runtime nor a function that makes one. */
export function checkRuntime(runtime: unknown): void {
  if (runtime === undefined || typeof runtime === "function") return
  const isObject = typeof runtime === "object" && runtime !== null && "execute" in runtime
  const problem = isObject && isImplementation(runtimeMethods, "a runtime")(runtime, "runtime")
  if (problem === undefined) return
  const why = problem ? `this ${String(problem)}` : "this is neither a runtime nor a function that makes one"
  throw new ConfigError(`runtime: ${why}. Use jsRuntime({ … }).`)
}
