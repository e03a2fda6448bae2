// Finds a model by its name in the configuration, or by its id.
import { ConfigError } from "../../core/errors.ts"
import { withoutUndefined } from "../../core/object.ts"
import { nearestWord } from "../../core/text/nearest-word.ts"
import type { Model } from "../../models/model.ts"
import { lazyModel, toModel } from "../../models/model-source.ts"
import { modelFacts } from "../../models/prices.ts"
import { modelDisplayId, type ResolveOptions, resolveModel } from "../../models/resolve.ts"
import { withRetry } from "../../models/retry.ts"
import { rotateModels } from "../../models/rotate.ts"
import { isModelObject } from "../config-checks.ts"
import type { Config, EndpointDefinition, ModelDefinition } from "../define-config.ts"
import { expandRecord, expandVariables } from "../expand-variables.ts"
import type { Environment } from "../find-files.ts"
import { environmentOf, type LoadedConfig } from "../load-config.ts"
import { originPlace } from "../read-config-file.ts"

/** Returns the model of an exact name in `models`, or of an id with a "/". Keys are read at the first request. `use`
 *  says in the error message who needs the model. */
export function findModel(name: string | undefined, loaded: LoadedConfig, use: string): Model {
  const { models = {}, model: standard } = loaded.config
  const wanted = name ?? standard
  if (wanted === undefined) {
    throw new ConfigError(`${use} has no model. Set \`model\` in the configuration, or KARST_MODEL.`)
  }
  const entry = Object.hasOwn(models, wanted) ? models[wanted] : undefined
  const env = environmentOf(loaded)
  if (entry === undefined && !isModelId(wanted)) {
    // A wrong default model is a mistake in `model`, not in the agent or option that uses the default.
    const place = name === undefined ? `${originPlace(loaded.originOf("model"))}\`model\`` : use
    throw unknownModel(wanted, loaded.config, place)
  }
  if (entry === undefined) return modelOfId(wanted, env)
  if (typeof entry === "string") return modelOfId(entry, env)
  return isDefinition(entry) ? definedModel(wanted, entry, env) : toModel(entry)
}

export function isModelId(name: string): boolean {
  return name.includes("/") || name.startsWith("openai-compatible:")
}

function isDefinition(entry: NonNullable<Config["models"]>[string]): entry is ModelDefinition {
  return typeof entry === "object" && !isModelObject(entry)
}

function unknownModel(name: string, { models = {} }: Config, use: string): ConfigError {
  const names = Object.keys(models)
  const near = nearestWord(name, names)
  const hint = near === undefined ? "" : ` Did you mean "${near}"?`
  const there = names.length === 0 ? "The configuration names no models" : `There are: ${names.join(", ")}`
  return new ConfigError(
    `${use} names the model "${name}", which is neither in \`models\` of the configuration nor an id.${hint} ${there}; an id is written provider/model, as "openai/gpt-5.2".`,
  )
}

function modelOfId(id: string, env: Environment): Model {
  // Reports an invalid id now; `resolveModel` checks it only at the first request.
  const { id: shown, price, contextWindow } = toModel(id)
  return lazyModel({ id: shown, price, contextWindow }, () => resolveModel(id, { env }))
}

function definedModel(name: string, definition: ModelDefinition, env: Environment): Model {
  const { endpoints, shuffle, contextWindow, price, images, providerOptions, retry, timeouts } = definition
  const { apiKey, baseURL, headers } = definition
  const id = modelDisplayId(definition.id)
  const facts = modelFacts(id)
  const shared = withoutUndefined({ contextWindow, price, images, providerOptions, timeouts, env })
  const own: EndpointDefinition = withoutUndefined({ id: definition.id, apiKey, baseURL, headers })

  async function endpoint(each: EndpointDefinition, retries: ResolveOptions["retry"]): Promise<Model> {
    const merged = { ...own, ...withoutUndefined(each) }
    const secrets = expandEndpoint(merged, env, `The model "${name}"`)
    return resolveModel(merged.id ?? definition.id, { ...shared, ...secrets, ...withoutUndefined({ retry: retries }) })
  }

  async function load(): Promise<Model> {
    if (!endpoints || endpoints.length === 0) return endpoint({}, retry)
    const models = await Promise.all(endpoints.map((each) => endpoint(each, false)))
    const rotated = rotateModels(models, { shuffle })
    return retry === false ? rotated : withRetry(rotated, retry)
  }

  return lazyModel({ id, price: price ?? facts?.price, contextWindow: contextWindow ?? facts?.contextWindow }, load)
}

function expandEndpoint(
  { apiKey, baseURL, headers }: EndpointDefinition,
  env: Environment,
  use: string,
): ResolveOptions {
  return withoutUndefined({
    apiKey: apiKey === undefined ? undefined : expandVariables(apiKey, env, use),
    baseURL: baseURL === undefined ? undefined : expandVariables(baseURL, env, use),
    headers: headers && expandRecord(headers, env, use),
  })
}
