// Chooses the model of a command: the one that was named, the configuration's, or one whose key is in the environment.
import { findModel, isModelId } from "../../config/agents/named-models.ts"
import type { LoadedConfig } from "../../config/load-config.ts"
import { compatibleServices, providerPackages } from "../../models/compatible-services.ts"
import type { Model, ReasoningEffort } from "../../models/model.ts"
import { resolveModel } from "../../models/resolve.ts"
import { UsageError } from "../usage-error.ts"

/** Returns the model. A missing key or package of a model that is named by its id is reported now. `use` says in error
 *  messages where the model was named. */
export async function chooseModel(
  requested: string | undefined,
  loaded: LoadedConfig,
  reasoning: ReasoningEffort | undefined,
  use = "--model",
): Promise<Model> {
  const id = requested ?? loaded.config.model ?? firstWithKey(process.env)
  if (id === undefined) throw noModelError(process.env)
  const isName = Object.hasOwn(loaded.config.models ?? {}, id) || !isModelId(id)
  const model = isName ? findModel(requested, loaded, use) : await resolveModel(id)
  return reasoning === undefined ? model : withReasoning(model, reasoning)
}

function withReasoning(model: Model, reasoning: ReasoningEffort): Model {
  return { ...model, stream: (request) => model.stream({ ...request, reasoning }) }
}

// Tried in this order: one capable model per provider at a moderate price.
const defaults: Record<string, string> = {
  openai: "gpt-5.2",
  anthropic: "claude-sonnet-5",
  google: "gemini-3.8-flash",
  openrouter: "openai/gpt-5.2",
  deepseek: "deepseek-v4-flash",
  xai: "grok-4",
  mistral: "mistral-large-2512",
  moonshot: "kimi-k3",
}

function firstWithKey(env: NodeJS.ProcessEnv): string | undefined {
  const provider = Object.keys(defaults).find((name) => keysOf(name).some((key) => env[key]))
  return provider && `${provider}/${defaults[provider]}`
}

function noModelError(env: NodeJS.ProcessEnv): UsageError {
  const providers = [...Object.keys(providerPackages), ...Object.keys(compatibleServices)]
  for (const provider of providers) {
    const key = keysOf(provider).find((name) => env[name])
    if (key === undefined) continue
    return new UsageError(
      `No model was chosen. ${key} is set, but there is no default model for "${provider}". ` +
        `Name one: --model ${provider}/<model>, or KARST_MODEL.`,
    )
  }
  return new UsageError(
    "No model was chosen and no provider's key is in the environment. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or " +
      "another provider's key, or name a model: --model ollama/qwen3, or KARST_MODEL. `karst demo` needs neither.",
  )
}

function keysOf(provider: string): readonly string[] {
  return providerPackages[provider] ?? compatibleServices[provider]?.keys ?? []
}
