// Lists the values of a configuration with their origins, as `karst config show` prints them. Secrets stay hidden.
import { isRecord } from "../core/object.ts"
import { hidden, hideArgument, hideInAddresses, hideSecret, isSecretName } from "../core/text/hide-secrets.ts"
import { isAgent } from "../runtime/bindings.ts"
import { isModelObject } from "./config-checks.ts"
import type { Config } from "./define-config.ts"
import type { Origin } from "./merge-config.ts"

/** One value. `value` is JSON, without secrets. */
export interface ConfigEntry {
  key: string
  value: ShownValue
  origin: Origin
}

export type ShownValue = string | number | boolean | null | ShownValue[] | { [name: string]: ShownValue }

/** Returns a row for each value, and for each important key that is not set, with the value null. */
export function configEntries(config: Config, originOf: (key: string) => Origin): ConfigEntry[] {
  const entries = keys.flatMap((key): ConfigEntry[] => {
    const value = config[key]
    if (isRecord(value) && key === "tiers") return tierRows(value)
    if (isRecord(value) && namedKeys.includes(key)) {
      return Object.entries(value).map(([name, each]) => row(`${key}.${name}`, shown(each, key)))
    }
    if (value === undefined) return alwaysShown.includes(key) ? [row(key, null)] : []
    return [row(key, key === "hooks" ? countText(value) : shown(value, key))]
  })
  return entries

  function tierRows(tiers: Record<string, unknown>): ConfigEntry[] {
    return Object.entries(tiers).flatMap(([cli, models]) =>
      Object.entries(isRecord(models) ? models : {}).map(([tier, each]) =>
        row(`tiers.${cli}.${tier}`, shown(each, tier)),
      ),
    )
  }

  function row(key: string, value: ShownValue): ConfigEntry {
    return { key, value, origin: originOf(key) }
  }
}

const keys = [
  "model",
  "models",
  "agent",
  "agents",
  "language",
  "skills",
  "mcpServers",
  "providers",
  "tiers",
  "archive",
  "limits",
  "hooks",
] as const satisfies readonly (keyof Config)[]
const namedKeys: readonly string[] = ["models", "agents", "mcpServers", "limits"]
const alwaysShown: readonly string[] = ["model", "agent", "language", "providers", "archive"]

/** Returns a value as JSON: secrets are hidden, and things made in code are named in parentheses. */
function shown(value: unknown, name: string): ShownValue {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value
  if (typeof value === "string") return isSecretName(name) ? hideSecret(value) : hideInAddresses(value)
  if (typeof value === "function") return "(a function)"
  if (isModelObject(value)) return "(a model made in code)"
  if (isAgent(value)) return "(an agent made in code)"
  if (Array.isArray(value))
    return value.map((each) => (name === "args" && typeof each === "string" ? hideArgument(each) : shown(each, name)))
  if (!isRecord(value) || !isPlain(value)) return "(made in code)"
  if (secretGroups.has(name)) return mapEntries(value, (each) => (typeof each === "string" ? hideSecret(each) : hidden))
  return mapEntries(value, shown)
}

function mapEntries(value: Record<string, unknown>, change: (each: unknown, name: string) => ShownValue) {
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(entries.map(([name, each]) => [name, change(each, name)]))
}

const secretGroups = new Set(["headers", "env"])

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function countText(value: unknown): string {
  const count = Array.isArray(value) ? value.length : 1
  return count === 1 ? "(1 object of hooks)" : `(${count} objects of hooks)`
}
