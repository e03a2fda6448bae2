// Merges the layers of a configuration and keeps the origin of each value.
import { homedir } from "node:os"
import { resolve } from "node:path"
import type { Hooks } from "../actions/hooks.ts"
import { isRecord, withoutUndefined } from "../core/object.ts"
import { isAgent } from "../runtime/bindings.ts"
import type { SkillSource } from "../skills.ts"
import type { AgentDefinition, Config } from "./define-config.ts"
import { absoluteArchive } from "./named-archive.ts"

/** Where a value comes from, in order of precedence. */
export type ConfigSource = "option" | "environment" | "project" | "user" | "default"

export interface Origin {
  source: ConfigSource
  file?: string | undefined
  line?: number | undefined
  /** The environment variable. */
  variable?: string | undefined
}

/** One layer. `originOf` returns the origin of a key such as `models.fast`. */
export interface ConfigLayer {
  config: Config
  originOf(key: string): Origin
}

export interface MergedConfig {
  config: Config
  /** The origin of each key that is set; entries of `models`, `agents`, `mcpServers`, `limits` and `tiers` have their
   *  own. */
  origins: ReadonlyMap<string, Origin>
}

/** Merges layers, the one with the highest precedence first. `models`, `agents`, `mcpServers` and `limits` are merged
 *  by name, `tiers` by CLI and tier; `skills` and `hooks` of all layers apply, those of the lowest layer first; any
 *  other value replaces the value of the layers below. */
export function mergeLayers(layers: readonly ConfigLayer[]): MergedConfig {
  const origins = new Map<string, Origin>()
  const merged: Record<string, unknown> = {}
  for (const layer of layers.toReversed()) {
    for (const [key, value] of Object.entries(layer.config)) {
      if (value === undefined) continue
      if (namedKeys.has(key) && isRecord(value)) {
        merged[key] = mergeNamed(key, merged[key], value, (name) => origins.set(name, layer.originOf(name)))
        continue
      }
      merged[key] = joinedKeys.has(key) ? [...asList(merged[key]), ...asList(value)] : value
      origins.set(key, layer.originOf(key))
    }
  }
  return { config: merged, origins }
}

const namedKeys = new Set(["models", "agents", "mcpServers", "limits", "tiers"])
/** The values of these are merged by name themselves. */
const nestedKeys = new Set(["tiers"])
const joinedKeys = new Set(["skills", "hooks"])

/** Merges entries by name, and reports the key of each entry that was set. */
function mergeNamed(
  key: string,
  below: unknown,
  value: Record<string, unknown>,
  onSet: (key: string) => void,
): Record<string, unknown> {
  const merged: Record<string, unknown> = isRecord(below) ? { ...below } : {}
  for (const [name, each] of Object.entries(withoutUndefined(value))) {
    const path = `${key}.${name}`
    if (nestedKeys.has(key) && isRecord(each)) merged[name] = mergeNamed(path, merged[name], each, onSet)
    else {
      merged[name] = each
      onSet(path)
    }
  }
  return merged
}

function asList(value: unknown): unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

/** Returns the hooks of a configuration as a list. */
export function hooksOf({ hooks }: Config): readonly Hooks[] {
  if (hooks === undefined) return []
  // `Array.isArray` does not narrow read-only lists.
  return Array.isArray(hooks) ? (hooks as readonly Hooks[]) : [hooks as Hooks]
}

/** Makes the relative paths of a configuration absolute. `~/` is the home folder. MCP servers start in the folder. */
export function withAbsolutePaths(config: Config, folder: string): Config {
  const absolute = (path: string) => absolutePath(path, folder)
  const { skills, archive, agents, mcpServers } = config
  return {
    ...config,
    ...(skills && { skills: absoluteSkills(skills, absolute) }),
    ...(typeof archive === "string" && { archive: absoluteArchive(archive, absolute) }),
    ...(agents && {
      agents: mapValues(agents, (each) =>
        isAgent(each) ? each : withAbsoluteDefinition(each as AgentDefinition, folder),
      ),
    }),
    ...(mcpServers && {
      mcpServers: mapValues(mcpServers, (each) =>
        "command" in each ? { ...each, cwd: absolute(each.cwd ?? ".") } : each,
      ),
    }),
  }
}

/** The same for the definition of one agent. */
export function withAbsoluteDefinition(definition: AgentDefinition, folder: string): AgentDefinition {
  const absolute = (path: string) => absolutePath(path, folder)
  const { workspace, skills } = definition
  return {
    ...definition,
    ...(typeof workspace === "string" && { workspace: absolute(workspace) }),
    ...(skills && { skills: absoluteSkills(skills, absolute) }),
  }
}

function absolutePath(path: string, folder: string): string {
  return resolve(folder, path.replace(/^~(?=\/|$)/, homedir()))
}

function absoluteSkills(skills: readonly SkillSource[], absolute: (path: string) => string): SkillSource[] {
  return skills.map((source) => {
    if (typeof source === "string") return absolute(source)
    if (source instanceof URL || !("path" in source) || typeof source.path !== "string") return source
    return { ...source, path: absolute(source.path) }
  })
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}
