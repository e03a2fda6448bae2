// loadConfig: finds, reads and merges the configuration: options, environment, project, user, defaults.
import { resolve } from "node:path"
import * as check from "../core/checks/check-options.ts"
import { type ConfigEntry, configEntries } from "./config-entries.ts"
import type { Config } from "./define-config.ts"
import { configOfEnvironment } from "./environment.ts"
import { type ConfigPlace, type Environment, explicitPlace, findProject, findUser } from "./find-files.ts"
import { type ConfigLayer, mergeLayers, type Origin, withAbsolutePaths } from "./merge-config.ts"
import { checkConfig, readConfigFile } from "./read-config-file.ts"
import { type ConfirmTrust, requireTrust } from "./trust.ts"
import type { TrustedFiles } from "./trusted-files.ts"

export interface LoadConfigOptions {
  /** The path of a configuration file, which is then loaded without confirmation; or the configuration itself, and no
   *  file or resource is read. Default: `KARST_CONFIG`, or the file of the project. */
  config?: string | Config | undefined
  /** Where the search for the project begins, and where relative paths of options and of the environment start.
   *  Default: the working directory. */
  cwd?: string | undefined
  /** Default `process.env`. */
  env?: Environment | undefined
  /** Values with the highest precedence, such as those of a command line. */
  overrides?: Config | undefined
  /** Asks whether a new or changed configuration file may be loaded. Default: it is refused with a `ConfigError`. */
  confirm?: ConfirmTrust | undefined
}

export const loadConfigChecks: check.OptionChecks<LoadConfigOptions> = {
  config: check.mustBeEither("a path or a configuration", check.mustBeText, check.mustBeObject),
  cwd: check.mustBeText,
  env: (value) => (typeof value === "object" && value !== null ? undefined : "is not an object"),
  overrides: check.mustBeObject,
  confirm: check.mustBeFunction,
}

/** A configuration file and whether it exists. */
export interface ConfigFile {
  source: "project" | "user"
  path: string
  exists: boolean
}

/** The merged configuration. It was read once: later changes of files have no effect. */
export interface LoadedConfig {
  /** The merged values. Paths are absolute. */
  readonly config: Config
  /** The files, the project's first; of a missing file, where it would be. Empty if a configuration was given. */
  readonly files: readonly ConfigFile[]
  /** The folders with `agents/`, `prompts/` and `skills/`, the project's first. Empty if a configuration was given. */
  readonly resourceFolders: readonly ResourceFolder[]
  /** Returns the origin of a key such as `model` or `agents.analyst`. */
  originOf(key: string): Origin
  /** Lists every value with its origin. Secrets are not in it: keys are shown by the names of their variables. */
  entries(): ConfigEntry[]
}

export interface ResourceFolder {
  source: "project" | "user"
  path: string
}

/** Loads the configuration. Precedence: `overrides`, environment, project, user, defaults. Throws a `ConfigError` with
 *  file and line for every mistake, and for a file that is new or has changed and was not confirmed. */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  check.checkOptions("loadConfig()", options, loadConfigChecks)
  const { env = process.env, overrides = {}, confirm } = options
  const cwd = resolve(options.cwd ?? ".")
  checkConfig(overrides, () => "overrides")
  const given = typeof options.config === "object" ? options.config : undefined
  const path = typeof options.config === "string" ? options.config : env.KARST_CONFIG || undefined
  const user = findUser(env)
  const project = path === undefined || given ? findProject(cwd, user) : explicitPlace(resolve(cwd, path))
  const fileLayers = given
    ? [givenLayer(given, cwd)]
    : [
        await placeLayer("project", project, async (file) =>
          path === undefined ? await requireTrust(file, env, confirm) : undefined,
        ),
        await placeLayer("user", user, (file) => requireTrust(file, env, confirm)),
      ]
  const layers = [
    { config: withAbsolutePaths(overrides, cwd), originOf: (): Origin => ({ source: "option" }) },
    environmentLayer(env, cwd),
    ...fileLayers.filter((layer) => layer !== undefined),
  ]
  const { config, origins } = mergeLayers(layers)
  const originOf = (key: string): Origin => origins.get(key) ?? { source: "default" }
  const loaded: LoadedConfig = {
    config,
    files: given ? [] : [fileOf("project", project), fileOf("user", user)],
    resourceFolders: given
      ? []
      : [
          { source: "project", path: project.resources },
          { source: "user", path: user.resources },
        ],
    originOf,
    entries: () => configEntries(config, originOf),
  }
  environments.set(loaded, env)
  return loaded
}

// Not a property, so that no one prints the environment with the configuration.
const environments = new WeakMap<LoadedConfig, Environment>()

/** The environment that a configuration was loaded with. Secrets are read from it at first use. */
export function environmentOf(loaded: LoadedConfig): Environment {
  return environments.get(loaded) ?? process.env
}

async function placeLayer(
  source: "project" | "user",
  { file, folder }: ConfigPlace,
  trust: (file: string) => Promise<TrustedFiles | undefined>,
): Promise<ConfigLayer | undefined> {
  if (file === undefined) return undefined
  const { config, lineOf } = await readConfigFile(file, await trust(file))
  return {
    config: withAbsolutePaths(config, folder),
    originOf: (key) => ({ source, file, line: lineOf(key) }),
  }
}

function givenLayer(config: Config, cwd: string): ConfigLayer {
  checkConfig(config, () => "config")
  return { config: withAbsolutePaths(config, cwd), originOf: () => ({ source: "option" }) }
}

function environmentLayer(env: Environment, cwd: string): ConfigLayer {
  const { config, variables } = configOfEnvironment(env)
  return {
    config: withAbsolutePaths(config, cwd),
    originOf: (key) => ({ source: "environment", variable: variables.get(key) }),
  }
}

/** The configuration file of a place; if there is none, the file to create. */
export function fileOf(source: "project" | "user", { file, usualFile }: ConfigPlace): ConfigFile {
  return { source, path: file ?? usualFile, exists: file !== undefined }
}
