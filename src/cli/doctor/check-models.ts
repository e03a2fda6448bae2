// Checks of the configuration, the model that commands would use, and the keys in the environment.
import { configDiagnostics } from "../../config/agents/config-diagnostics.ts"
import { diagnosticText } from "../../config/diagnostics.ts"
import { type LoadedConfig, loadConfig } from "../../config/load-config.ts"
import { userMessage } from "../../core/message.ts"
import { compatibleServices, providerPackages } from "../../models/compatible-services.ts"
import type { Model } from "../../models/model.ts"
import { isAgent } from "../../runtime/bindings.ts"
import { chooseModel } from "../run/choose-model.ts"
import { builtInName } from "../run/prepare-agent.ts"
import { UsageError } from "../usage-error.ts"
import { type Check, failedCheck } from "./check.ts"

export interface ModelCheckOptions {
  /** Undefined: the model that `karst run` would use. */
  model: string | undefined
  live: boolean
}

/** The model is that of the configuration, so that both are checked together. */
export async function checkConfigAndModel(options: ModelCheckOptions): Promise<Check[]> {
  try {
    const loaded = await loadConfig()
    const files = loaded.files.filter(({ exists }) => exists).map(({ path }) => path)
    const errors = (await configDiagnostics(loaded, builtInName)).filter(({ severity }) => severity === "error")
    return [configCheck(files, errors.map(diagnosticText)), await checkModel(loaded, options)]
  } catch (error) {
    const broken: Check = { ...failedCheck("config", error, { remedy: configRemedy }), asked: true }
    const text = "not checked, because the configuration is broken"
    return [broken, { name: "model", state: "missing", text, remedy: "Correct the configuration first." }]
  }
}

const configRemedy = "Correct it; karst config show checks it again."

function configCheck(files: readonly string[], errors: readonly string[]): Check {
  if (errors.length > 0)
    return { name: "config", state: "broken", text: errors.join("; "), remedy: configRemedy, asked: true }
  if (files.length > 0) return { name: "config", state: "ok", text: files.join(", ") }
  return { name: "config", state: "missing", text: "no configuration file", remedy: "karst init creates a project." }
}

async function checkModel(loaded: LoadedConfig, { model: given, live }: ModelCheckOptions): Promise<Check> {
  const { agent: name = "", agents = {}, model: standard } = loaded.config
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined
  // An agent made in code has its own model; a defined one may be a coding CLI, which is checked as such.
  if (given === undefined && agent !== undefined && (isAgent(agent) || "provider" in agent))
    return { name: "model", state: "ok", text: `the agent ${name} has its own; --model checks another` }
  const wanted = given ?? (agent !== undefined && "model" in agent ? agent.model : undefined)
  const asked = wanted !== undefined || standard !== undefined
  try {
    const model = await chooseModel(wanted, loaded, undefined)
    const answer = live ? await askModel(model) : undefined
    const text = answer === undefined ? `${model.id}; --live asks it` : `${model.id} answered "${answer}"`
    return { name: "model", state: "ok", text, asked }
  } catch (error) {
    const isMissing = !asked && error instanceof UsageError
    const remedy = "Check its name and its key; --model checks another."
    return { ...failedCheck("model", error, { state: isMissing ? "missing" : "broken", remedy }), asked }
  }
}

async function askModel(model: Model): Promise<string> {
  let answer = ""
  const request = {
    system: "",
    messages: [userMessage("Answer with the one word: ok")],
    signal: AbortSignal.timeout(60_000),
  }
  for await (const part of model.stream(request)) if (part.type === "text") answer += part.text
  return answer.trim().slice(0, 40).toWellFormed()
}

/** Names the keys that are set. Their values are neither read nor shown. */
export function checkKeys(env: NodeJS.ProcessEnv): Check {
  const services = Object.values(compatibleServices).flatMap(({ keys }) => keys)
  const names = new Set([...Object.values(providerPackages).flat(), ...services])
  const found = [...names].filter((name) => env[name])
  if (found.length > 0) return { name: "keys", state: "ok", text: found.join(", ") }
  const remedy =
    "Set OPENAI_API_KEY, ANTHROPIC_API_KEY or another provider's key. Local models and karst demo need none."
  return { name: "keys", state: "missing", text: "no provider's key is in the environment", remedy }
}
