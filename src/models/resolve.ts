// Finds the model for an id such as `openai/gpt-5.2`: its package or service, its API key, retries and time-outs.

import * as check from "../core/checks/check-options.ts"
import { mustBePrice } from "../core/checks/limit-checks.ts"
import { ConfigError, MissingPackageError } from "../core/errors.ts"
import { withoutUndefined } from "../core/object.ts"
import { importOptionalPackage } from "../core/optional-package.ts"
import { hideInAddresses } from "../core/text/hide-secrets.ts"
import { editDistance } from "../core/text/nearest-word.ts"
import { type AiSdkOptions, aiSdk } from "./ai-sdk.ts"
import type { AiSdkModel } from "./ai-sdk-types.ts"
import { baseUrlProblem, shownBaseUrl } from "./base-url.ts"
import { compatibleServices, providerPackages } from "./compatible-services.ts"
import type { Model } from "./model.ts"
import { type RetryOptions, retryChecks, withRetry } from "./retry.ts"
import { type TimeoutOptions, timeoutChecks, withTimeouts } from "./timeouts.ts"

export interface ResolveOptions extends Pick<AiSdkOptions, "price" | "contextWindow" | "providerOptions" | "images"> {
  /** Default: the provider's environment variable. */
  apiKey?: string | undefined
  /** The address of the endpoint. Default: the provider's. */
  baseURL?: string | undefined
  /** Sent with each request. */
  headers?: Record<string, string> | undefined
  /** Used in place of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** An AI SDK provider such as `createMistral({ … })` that creates the model. The part of the id before the slash
   *  is then only a label. */
  provider?: AiSdkProvider | undefined
  /** Retry options; false for no retries. */
  retry?: RetryOptions | false | undefined
  /** Time-out options; false for no time-outs. */
  timeouts?: TimeoutOptions | false | undefined
  /** Where API keys are looked up. Default `process.env`. */
  env?: Record<string, string | undefined> | undefined
}

export const resolveChecks: check.OptionChecks<ResolveOptions> = {
  apiKey: check.mustBeSecret,
  baseURL: check.mustBeText,
  headers: mustBeSecretRecord,
  fetch: check.mustBeFunction,
  provider: check.mustBeEither("an AI SDK provider", check.mustBeFunction, check.mustBeObject),
  price: mustBePrice,
  contextWindow: check.mustBeIntegerFrom(1),
  providerOptions: check.mustBeObject,
  images: check.mustBeBoolean,
  retry: (value, path) => (value === false ? undefined : check.mustBeOptions(retryChecks)(value, path)),
  timeouts: (value, path) => (value === false ? undefined : check.mustBeOptions(timeoutChecks)(value, path)),
  env: mustBeSecretRecord,
}

function mustBeSecretRecord(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? undefined : "is not an object"
}

/** An AI SDK provider: a function of the model's name, or an object with `languageModel`. */
export type AiSdkProvider = ((modelId: string) => AiSdkModel) | { languageModel(modelId: string): AiSdkModel }

/** Returns the model for an id, with retries and time-outs:
 *  - `openai/…`, `anthropic/…`, `google/…` and any other installed AI SDK provider package as `<provider>/<model>`;
 *  - a compatible service of our table, as `groq/…` or `ollama/…`; the table takes precedence over packages;
 *  - `openai-compatible:<base URL>#<model>`, with the API key in `OPENAI_COMPATIBLE_API_KEY` if it needs one.
 *  Rejects with a `ConfigError` or `MissingPackageError` that names the missing key, package or name. */
export async function resolveModel(id: string, options: ResolveOptions = {}): Promise<Model> {
  check.checkOptions("resolveModel()", options, resolveChecks)
  checkModelId(id, options)
  const { languageModel, apiKey, baseURL } = await findLanguageModel(id, options)
  const { price, contextWindow, providerOptions, images } = options
  const secrets = apiKey === undefined ? [] : [apiKey]
  return withRetryAndTimeouts(
    aiSdk(languageModel, { id: modelDisplayId(id), price, contextWindow, providerOptions, images, secrets }),
    {
      retry: options.retry,
      timeouts: options.timeouts !== false && {
        ...(isLocalAddress(baseURL) && { connectMs: 300_000 }),
        ...options.timeouts,
      },
    },
  )
}

/** The id of a model for display, without the address, which may contain a password. */
export function modelDisplayId(id: string): string {
  return id.replace(/^openai-compatible:.*#/s, "openai-compatible/")
}

/** Throws a `ConfigError` for ids that cannot be valid, whatever is installed. */
export function checkModelId(
  id: string,
  { provider, baseURL }: Pick<ResolveOptions, "provider" | "baseURL"> = {},
): void {
  if (provider !== undefined) return
  const [, address] = /^openai-compatible:([^#]*)#?$/.exec(id) ?? []
  if (address !== undefined) {
    const example = `openai-compatible:${shownBaseUrl(address || (baseURL ?? "https://host/v1"))}#model`
    throw new ConfigError(
      `"${hideInAddresses(id)}" lacks the name of the model. Write it after a "#", as "${example}".`,
    )
  }
  if (!/^[^/]+\/.+/.test(id)) throw new ConfigError(malformedIdMessage(id))
}

/** The base URL in an id `openai-compatible:<base URL>#<model>`; undefined for other ids. */
export function baseUrlOfId(id: string): string | undefined {
  return compatibleId.exec(id)?.[1]
}

const compatibleId = /^openai-compatible:(.+)#(.+)$/

/** Adds the wrappers that every model made by Karst has. */
export function withRetryAndTimeouts(model: Model, options: Pick<ResolveOptions, "retry" | "timeouts"> = {}): Model {
  const timed = options.timeouts === false ? model : withTimeouts(model, options.timeouts)
  return options.retry === false ? timed : withRetry(timed, options.retry)
}

interface FoundModel {
  languageModel: AiSdkModel
  apiKey?: string | undefined
  baseURL?: string | undefined
}

async function findLanguageModel(id: string, options: ResolveOptions): Promise<FoundModel> {
  const [, address, model] = compatibleId.exec(id) ?? []
  const { baseURL = address } = options
  if (baseURL !== undefined) checkBaseUrl(baseURL)
  if (baseURL !== undefined && model !== undefined) {
    const { env = process.env, apiKey = env.OPENAI_COMPATIBLE_API_KEY } = options
    return compatibleModel("openai-compatible", model, { ...options, apiKey, baseURL })
  }
  const slash = id.indexOf("/")
  const [provider, name] = [id.slice(0, Math.max(0, slash)), id.slice(slash + 1)]
  if (options.provider) return { languageModel: takeLanguageModel(options.provider, name, id) }
  if (!provider || !name) throw new ConfigError(malformedIdMessage(id))
  const service = Object.hasOwn(compatibleServices, provider) ? compatibleServices[provider] : undefined
  if (!service) return modelFromPackage(id, provider, name, options)
  const settings = {
    baseURL: service.baseURL,
    ...withoutUndefined(options),
    apiKey: findApiKey(id, service.keys, options),
  }
  return compatibleModel(provider, name, settings, service.includeUsage)
}

function checkBaseUrl(baseURL: string): void {
  const problem = baseUrlProblem(baseURL)
  if (problem !== undefined) throw new ConfigError(`The base URL "${shownBaseUrl(baseURL)}" ${problem}.`)
}

async function compatibleModel(
  name: string,
  model: string,
  options: ResolveOptions & { baseURL: string },
  includeUsage = true,
): Promise<FoundModel> {
  const { apiKey, baseURL } = options
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
  const settings = {
    name,
    baseURL,
    includeUsage,
    ...withoutUndefined({ apiKey, headers: options.headers, fetch: options.fetch }),
  }
  return { languageModel: createOpenAICompatible(settings)(model), apiKey, baseURL }
}

async function modelFromPackage(
  id: string,
  provider: string,
  name: string,
  options: ResolveOptions,
): Promise<FoundModel> {
  const { baseURL, headers, fetch } = options
  const module = await importProvider(id, provider)
  const apiKey = findApiKey(id, providerPackages[provider] ?? [], options)
  const create = findProviderFactory(module, provider)
  const settings = withoutUndefined({ apiKey, baseURL, headers, fetch })
  const instance: unknown = create ? create(settings) : module[camelCase(provider)]
  return { languageModel: takeLanguageModel(instance, name, id), apiKey, baseURL }
}

async function importProvider(id: string, provider: string): Promise<Record<string, unknown>> {
  const unknown = () => {
    const known = [...Object.keys(providerPackages), ...Object.keys(compatibleServices)]
    const near = known.filter((candidate) => editDistance(candidate, provider) <= (provider.length < 4 ? 1 : 2))
    const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Known: ${known.toSorted().join(", ")}.`
    return `Unknown provider "${provider}" in the model "${id}". ${hint}`
  }
  if (!/^[a-z0-9][a-z0-9-]*$/.test(provider)) throw new ConfigError(unknown())
  try {
    return await importOptionalPackage(`@ai-sdk/${provider}`, `the model "${id}"`)
  } catch (error) {
    if (!(error instanceof MissingPackageError) || Object.hasOwn(providerPackages, provider)) throw error
    throw new ConfigError(`${unknown()} Or install its AI SDK package: npm install @ai-sdk/${provider}`, {
      cause: error,
    })
  }
}

/** Finds `createOpenAI` for `openai`, by convention; otherwise the package's shortest `create…` function. */
function findProviderFactory(
  module: Record<string, unknown>,
  provider: string,
): ((settings: object) => unknown) | undefined {
  const names = Object.keys(module).filter((name) => /^create[A-Z]/.test(name) && typeof module[name] === "function")
  const wanted = `create${provider.replaceAll("-", "")}`
  const name = names.find((name) => name.toLowerCase() === wanted) ?? names.toSorted((a, b) => a.length - b.length)[0]
  // The filter selected functions; their parameter is an AI SDK convention.
  return name === undefined ? undefined : (module[name] as (settings: object) => unknown)
}

function takeLanguageModel(provider: unknown, name: string, id: string): AiSdkModel {
  // A provider is a function or an object with methods; aiSdk() checks the result.
  if (typeof provider === "function") return (provider as (modelId: string) => AiSdkModel)(name)
  if (typeof provider === "object" && provider !== null && "languageModel" in provider) {
    return (provider as { languageModel(modelId: string): AiSdkModel }).languageModel(name)
  }
  throw new ConfigError(
    `The provider of the model "${id}" is not an AI SDK provider: it is no function and has no languageModel method.`,
  )
}

function findApiKey(id: string, names: readonly string[], options: ResolveOptions): string | undefined {
  const { apiKey, headers, env = process.env } = options
  if (apiKey !== undefined) return apiKey
  const found = names.map((name) => env[name]).find(Boolean)
  if (found || names.length === 0) return found
  // With a credential in the headers no API key is needed, but the package requires some value.
  if (Object.keys(headers ?? {}).some((name) => /^(authorization|x-api-key|x-goog-api-key)$/i.test(name))) return ""
  const others = names.length > 1 ? ` (or ${names.slice(1).join(", ")})` : ""
  throw new ConfigError(
    `The model "${id}" needs an API key. Set the environment variable ${names[0]}${others}, or pass apiKey.`,
    { code: "missing-key", details: { variable: names[0] ?? "" } },
  )
}

function malformedIdMessage(id: string): string {
  const family = /^(gpt|o\d|claude|gemini)/i.exec(id)?.[1]?.toLowerCase()
  const owner = family === "claude" ? "anthropic" : family === "gemini" ? "google" : "openai"
  const example = family ? `${owner}/${id}` : "openai/gpt-5.2"
  return `"${hideInAddresses(id)}" is not a model id. Write provider/model, as "${example}", or "openai-compatible:https://host/v1#model".`
}

function isLocalAddress(baseURL: string | undefined): boolean {
  return baseURL !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/.test(new URL(baseURL).hostname)
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
