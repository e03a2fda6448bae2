// Checks a configuration: returns a sentence for each unknown key and wrong type, which names the key in backticks.
import { agentChecks } from "../agent/agent-option-checks.ts"
import { attempt } from "../core/attempt.ts"
import * as check from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import { isRecord } from "../core/object.ts"
import { promptLanguages } from "../core/prompt-texts.ts"
import { baseUrlProblem } from "../models/base-url.ts"
import { baseUrlOfId, checkModelId, resolveChecks } from "../models/resolve.ts"
import { cliNameProblem } from "../providers/cli-names.ts"
import { cliChecks, tierChecks } from "../providers/option-checks.ts"
import { isAgent } from "../runtime/bindings.ts"
import { mustBeNamedArchive } from "../sessions/archive-source-check.ts"
import { type Workspace, workspaceMethods } from "../workspaces/workspace.ts"
import type { AgentDefinition, Config, EndpointDefinition, ModelDefinition } from "./define-config.ts"

/** Returns what is wrong with a configuration, one sentence for each mistake. */
export function configProblems(config: unknown): string[] {
  return check.optionProblems(config, configChecks)
}

/** Returns what is wrong with the definition of an agent. `path` is its place in the configuration. */
export function definitionProblems(definition: unknown, path: string): string[] {
  return check.optionProblems(definition, definitionChecks, path)
}

const mustBeTiers = check.mustBeOptions(tierChecks)

const { apiKey, contextWindow, images, price, providerOptions, retry, timeouts } = resolveChecks

const endpointChecks: check.OptionChecks<EndpointDefinition> = {
  id: mustBeModelId,
  apiKey,
  baseURL: mustBeBaseUrl,
  headers: mustBeSecrets,
}

const modelChecks: check.OptionChecks<ModelDefinition> = {
  ...endpointChecks,
  contextWindow,
  images,
  price,
  providerOptions,
  retry,
  timeouts,
  endpoints: mustBeListOf(check.mustBeOptions(endpointChecks)),
  shuffle: check.mustBeBoolean,
}

const {
  model: _model,
  name: _name,
  now: _now,
  onEvent: _onEvent,
  agents: _agents,
  runtime: _runtime,
  skills: _skills,
  workspace: _workspace,
  ...takenChecks
} = agentChecks

const definitionChecks: check.OptionChecks<AgentDefinition> = {
  ...takenChecks,
  model: check.mustBeText,
  promptName: check.mustBeText,
  runtime: check.mustBeEither(
    '"process", "js", "python" or a runtime',
    check.mustBeOneOf("process", "js", "python"),
    check.mustBeFunction,
    check.mustImplement(["execute"], "a runtime"),
  ),
  workspace: check.mustBeEither(
    "a folder or a workspace",
    check.mustBeText,
    check.mustImplement<Workspace>(workspaceMethods, "a workspace"),
  ),
  mcp: check.mustBeTextList,
  agents: check.mustBeTextList,
  skills: mustBeSkills,
  provider: mustBeProvider,
  reasoning: check.mustBeText,
  allow: cliChecks.allow,
  permissions: cliChecks.permissions,
}

const configChecks: check.OptionChecks<Config> = {
  model: check.mustBeText,
  models: check.mustBeRecordOf(mustBeModel),
  agent: check.mustBeText,
  agents: check.mustBeRecordOf(mustBeAgent),
  language: check.mustBeOneOf(...promptLanguages),
  skills: mustBeSkills,
  mcpServers: check.mustBeRecordOf(mustBeMcpServer),
  providers: mustBeListOf(mustBeCliName),
  tiers: check.mustBeOptions({ claude: mustBeTiers, codex: mustBeTiers, opencode: mustBeTiers, gemini: mustBeTiers }),
  archive: mustBeNamedArchive,
  limits: check.mustBeOptions(limitChecks),
  hooks: check.mustBeEither("an object of hooks or a list of them", check.mustBeObject, check.mustBeList),
}

export function isModelObject(value: unknown): boolean {
  return isRecord(value) && (typeof value.stream === "function" || "specificationVersion" in value)
}

function mustBeModel(value: unknown, path: string): ReturnType<check.OptionCheck> {
  if (typeof value === "string") return mustBeModelId(value)
  if (isModelObject(value)) return undefined
  if (!isRecord(value)) return `is not a model id, a definition or a model: it is ${check.describeValue(value)}`
  if (value.id === undefined) return 'has no `id`. Write the model as id: "provider/model"'
  const problems = check.optionProblems(value, modelChecks, path)
  return problems.length > 0 ? problems : undefined
}

function mustBeModelId(value: unknown): string | undefined {
  if (typeof value !== "string") return `is not a model id: it is ${check.describeValue(value)}`
  if (attempt(() => [checkModelId(value)])) {
    const problem = baseUrlProblem(baseUrlOfId(value) ?? "https://host/v1")
    return problem === undefined ? undefined : `has a base URL that ${problem}`
  }
  return `is not a model id: it is ${check.describeValue(value)}. Write provider/model, as "openai/gpt-5.2", or "openai-compatible:https://host/v1#model"`
}

function mustBeBaseUrl(value: unknown): string | undefined {
  return typeof value === "string" ? baseUrlProblem(value) : `is not a text: it is ${check.describeValue(value)}`
}

function mustBeAgent(value: unknown, path: string): ReturnType<check.OptionCheck> {
  if (isAgent(value)) return undefined
  const problems = definitionProblems(value, path)
  return problems.length > 0 ? problems : undefined
}

function mustBeProvider(value: unknown, path: string): ReturnType<check.OptionCheck> {
  if (Array.isArray(value)) return mustBeListOf(mustBeCliName)(value, path)
  return value === "auto" ? undefined : mustBeCliName(value)
}

function mustBeCliName(value: unknown): string | undefined {
  if (typeof value !== "string") return `is not a name: it is ${check.describeValue(value)}`
  const problem = cliNameProblem(value)
  return problem && `names the ${problem}`
}

function mustBeMcpServer(value: unknown, path: string): ReturnType<check.OptionCheck> {
  if (!isRecord(value)) return `is not an MCP server: it is ${check.describeValue(value)}`
  if ("url" in value) return check.mustBeOptions(addressChecks)(value, path)
  if ("command" in value) return check.mustBeOptions(commandChecks)(value, path)
  return "has neither `command` nor `url`. Name the program that serves, or its address"
}

const addressChecks = { url: mustBeAddress, headers: mustBeSecrets }
const commandChecks = {
  command: check.mustBeText,
  args: check.mustBeTextList,
  env: mustBeSecrets,
  cwd: check.mustBeText,
}

function mustBeAddress(value: unknown): string | undefined {
  if (typeof value === "string" && /^(https?:\/\/|\$\{\w+\})/i.test(value)) return undefined
  return `is not an address: it is ${check.describeValue(value)}. Write it whole, as https://host/mcp`
}

// The message does not contain the values, which may be secrets.
function mustBeSecrets(value: unknown): string | undefined {
  if (isRecord(value) && Object.values(value).every((each) => typeof each === "string")) return undefined
  return "is not an object of texts"
}

function mustBeSkills(value: unknown): string | undefined {
  const isSource = (each: unknown) => typeof each === "string" || (typeof each === "object" && each !== null)
  if (Array.isArray(value) && value.every(isSource)) return undefined
  return `is not a list of folders or skills: it is ${check.describeValue(value)}`
}

function mustBeListOf(each: check.OptionCheck): check.OptionCheck {
  return (value, path) => {
    if (!Array.isArray(value)) return `is not a list: it is ${check.describeValue(value)}`
    const problems = value.flatMap((item: unknown, index) => {
      const problem = each(item, `${path}.${index}`) ?? []
      return typeof problem === "string" ? `\`${path}.${index}\` ${problem}` : problem
    })
    return problems.length > 0 ? problems : undefined
  }
}
