// Imports the model settings of vv-agent: the literal `LLM_SETTINGS` of a Python file, or the same data as JSON.
import { checkOptionNames } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { isRecord, withoutUndefined } from "../core/object.ts"
import { readRegularFile } from "../core/read-regular-file.ts"
import { positionAt } from "../runtime/compiler/text-positions.ts"
import type { EndpointDefinition, ModelDefinition } from "./define-config.ts"
import type { Diagnostic } from "./diagnostics.ts"
import type { Environment } from "./find-files.ts"
import { parseJsonFile } from "./json-text.ts"
import { PythonLiteralError, parsePythonLiteral } from "./python-literal.ts"

export interface ImportedSettings {
  /** The models by `backend/model`, for `models` of a configuration. They contain the keys of the file. */
  models: Record<string, ModelDefinition>
  /** Models and endpoints that were left out. */
  diagnostics: Diagnostic[]
}

const maxSettingsBytes = 10_000_000

/** Reads the settings of vv-agent from a Python file with a literal `LLM_SETTINGS`, or from a JSON file. No code of the
 *  file runs. With `V_AGENT_ENABLE_BASE64_KEY_DECODE=1` in the environment, keys are decoded. */
export async function importLlmSettings(
  file: string,
  options: { env?: Environment | undefined } = {},
): Promise<ImportedSettings> {
  checkOptionNames("importLlmSettings()", options, "env")
  const { env = process.env } = options
  const found = await readRegularFile(file, maxSettingsBytes)
  if ("problem" in found) throw new ConfigError(`The settings file "${file}" ${found.problem}.`)
  const source = found.bytes.toString("utf8")
  const settings = settingsIn(
    file,
    file.endsWith(".json") ? parseJsonFile(file, source) : parsePythonSettings(file, source),
  )
  const diagnostics: Diagnostic[] = []
  const warn = (message: string) => void diagnostics.push({ severity: "warning", path: file, message })
  const decodes = env.V_AGENT_ENABLE_BASE64_KEY_DECODE === "1"
  const endpoints = readEndpoints(settings.endpoints, decodes, warn)
  const backends = settings.backends ?? settings.providers
  if (!isRecord(backends)) throw new ConfigError(`${file}: LLM_SETTINGS has neither "backends" nor "providers".`)
  const models: Record<string, ModelDefinition> = {}
  for (const [backend, value] of Object.entries(backends)) {
    const { models: named, default_endpoint: standard } = isRecord(value) ? value : {}
    for (const [name, entry] of Object.entries(isRecord(named) ? named : {})) {
      const full = `${backend}/${name}`
      const model = readModel(full, name, isRecord(entry) ? entry : {}, standard, endpoints, warn)
      if (model) models[full] = model
    }
  }
  return { models, diagnostics }
}

function parsePythonSettings(file: string, source: string): unknown {
  const found = /^LLM_SETTINGS\s*(?::[^=\n]+)?=(?!=)/m.exec(source)
  if (!found)
    throw new ConfigError(`${file}: there is no variable LLM_SETTINGS. Assign the settings to it as a literal.`)
  try {
    return parsePythonLiteral(source, found.index + found[0].length)
  } catch (error) {
    if (!(error instanceof PythonLiteralError)) throw error
    const { line, column } = positionAt(source, error.offset)
    throw new ConfigError(`${file}:${line}:${column}: LLM_SETTINGS cannot be read: ${error.message}.`, { cause: error })
  }
}

/** The settings may be nested once under their own name. */
function settingsIn(file: string, value: unknown): Record<string, unknown> {
  const settings = isRecord(value) && isRecord(value.LLM_SETTINGS) ? value.LLM_SETTINGS : value
  if (isRecord(settings)) return settings
  throw new ConfigError(`${file}: LLM_SETTINGS is not a dictionary.`)
}

interface Endpoint {
  key: string
  base: string
  protocol: "openai" | "anthropic"
}

function readEndpoints(list: unknown, decodes: boolean, warn: (message: string) => void): Map<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>()
  for (const each of Array.isArray(list) ? list : []) {
    if (!isRecord(each) || typeof each.id !== "string") {
      warn("an endpoint without an id is left out")
      continue
    }
    const { id, api_key: key, api_base: base } = each
    const type = String(each.endpoint_type ?? "default")
    const protocol = protocols[type]
    if (typeof key !== "string" || typeof base !== "string" || !key.trim() || !base.trim())
      warn(`the endpoint "${id}" is left out: it needs api_key and api_base`)
    else if (protocol === undefined) warn(`the endpoint "${id}" is left out: its type "${type}" is not supported`)
    else endpoints.set(id, { key: decodeKey(key, decodes), base: base.trim(), protocol })
  }
  return endpoints
}

const protocols: Record<string, Endpoint["protocol"]> = { default: "openai", openai: "openai", anthropic: "anthropic" }

function readModel(
  full: string,
  name: string,
  entry: Record<string, unknown>,
  standard: unknown,
  known: ReadonlyMap<string, Endpoint>,
  warn: (message: string) => void,
): ModelDefinition | undefined {
  const listed = Array.isArray(entry.endpoints) && entry.endpoints.length > 0 ? entry.endpoints : [standard]
  const usual = typeof entry.id === "string" ? entry.id : name
  const endpoints = new Map<string, EndpointDefinition & { id: string }>()
  for (const each of listed) {
    const endpointId = isRecord(each) ? each.endpoint_id : each
    const modelId = isRecord(each) && typeof each.model_id === "string" ? each.model_id : usual
    const endpoint = typeof endpointId === "string" ? known.get(endpointId) : undefined
    if (endpoint) endpoints.set(`${String(endpointId)} ${modelId}`, endpointDefinition(endpoint, modelId))
    else if (endpointId !== undefined) warn(`the model "${full}" has no endpoint ${JSON.stringify(endpointId)}`)
  }
  const [first, ...others] = endpoints.values()
  if (!first) return void warn(`the model "${full}" is left out: it has no endpoint that can be used`)
  const shared = withoutUndefined({
    contextWindow: positiveInteger(entry.context_length),
    images: entry.native_multimodal === false ? false : undefined,
  })
  return others.length === 0 ? { ...first, ...shared } : { id: first.id, ...shared, endpoints: [first, ...others] }
}

function endpointDefinition({ key, base, protocol }: Endpoint, model: string): EndpointDefinition & { id: string } {
  if (protocol === "openai") return { id: `openai-compatible:${base}#${model}`, apiKey: key }
  return { id: `anthropic/${model}`, baseURL: base, apiKey: key }
}

function positiveInteger(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined
}

/** Keys are written as `key`, `label:key`, or base64 of either. */
function decodeKey(written: string, decodes: boolean): string {
  const text = written.trim()
  const decoded = decodes ? decodeBase64(text) : undefined
  return withoutLabel(decoded ?? text)
}

function withoutLabel(text: string): string {
  const key = text.slice(text.indexOf(":") + 1)
  return text.includes(":") && key.length >= 10 && !/\s/.test(key) ? key : text
}

function decodeBase64(text: string): string | undefined {
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  const decoded = Buffer.from(text, "base64").toString("utf8").trim()
  return decoded !== "" && /^[\x21-\x7e]+$/.test(decoded) ? decoded : undefined
}
