// Finds the credentials of coding CLIs: files and environment variables, and when they expire.
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { ConfigError } from "../../core/errors.ts"
import { type AuthLocation, type AuthLocations, authLocations, type Variables } from "./auth-locations.ts"

/** The credentials a CLI has. Contains no secrets: only names, paths and times. */
export interface ProviderAuth {
  provider: string
  /** `ready`: there is a credential that has not expired or that the CLI renews. */
  state: "ready" | "expired" | "missing"
  files: AuthFile[]
  variables: AuthVariable[]
  /** What to do if it is not ready. */
  cure: string
}

export interface AuthFile {
  path: string
  /** The path of the file in a container, relative to the home there. */
  target: string
  kind: "credential" | "settings"
  state: "present" | "expired" | "unreadable"
  /** In milliseconds since the epoch, if known. */
  expiresAt?: number | undefined
  /** True if the CLI renews it and writes it to the file. */
  renewedByCli: boolean
}

export interface AuthVariable {
  name: string
  kind: "credential" | "settings"
}

export interface AuthOptions {
  env?: Variables | undefined
  /** The current time. Default: `Date.now`. */
  now?: (() => number) | undefined
}

/** The CLIs whose credential locations are known. */
export const authProviders: readonly string[] = Object.keys(authLocations)

/** Looks for the files and variables of each CLI. Starts no process and sends no request. */
export async function checkAuth(names: readonly string[], options: AuthOptions = {}): Promise<ProviderAuth[]> {
  return await Promise.all(names.map((name) => checkProviderAuth(name, options)))
}

async function checkProviderAuth(
  name: string,
  { env = process.env, now = Date.now }: AuthOptions,
): Promise<ProviderAuth> {
  const locations = Object.hasOwn(authLocations, name) ? authLocations[name] : undefined
  if (!locations) throw new ConfigError(`Unknown coding CLI "${name}". There are: ${authProviders.join(", ")}.`)
  const inspected = await Promise.all(
    locations.files(env, env.HOME ?? homedir()).map((location) => inspectFile(location, now())),
  )
  const found = inspected.filter((each) => each !== undefined)
  const files = found.map(({ file }) => file)
  const named = found.flatMap(({ variables }) => variables)
  const variables = variablesOf(locations, named, env)
  return { provider: name, state: authState(files, variables), files, variables, cure: locations.cure }
}

async function inspectFile(
  { path, target, read }: AuthLocation,
  now: number,
): Promise<{ file: AuthFile; variables: readonly string[] } | undefined> {
  try {
    const found = read(await readFile(path, "utf8"))
    if (!found) return undefined
    const { kind, expiresAt, renewedByCli = false, variables = [] } = found
    const state = expiresAt !== undefined && expiresAt <= now ? "expired" : "present"
    return {
      file: { path, target, kind, state, renewedByCli, ...(expiresAt !== undefined && { expiresAt }) },
      variables,
    }
  } catch (error) {
    if (isAbsent(error)) return undefined
    return { file: { path, target, kind: "credential", state: "unreadable", renewedByCli: false }, variables: [] }
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")
}

function variablesOf(locations: AuthLocations, named: readonly string[], env: Variables): AuthVariable[] {
  const { credentials, settings, conditionalSettings = {} } = locations
  const services = Object.entries(conditionalSettings).filter(([name]) => isEnabled(env[name]))
  const all: AuthVariable[] = [
    ...[...credentials, ...named].map((name) => ({ name, kind: "credential" as const })),
    // A CLI configured for another service, such as Bedrock, counts as having credentials for it.
    ...services.map(([name]) => ({ name, kind: "credential" as const })),
    ...[...settings, ...services.flatMap(([, names]) => names)].map((name) => ({ name, kind: "settings" as const })),
  ]
  const isFirst = ({ name }: AuthVariable, at: number) => all.findIndex((other) => other.name === name) === at
  return all.filter((variable, at) => isFirst(variable, at) && env[variable.name])
}

function isEnabled(value: string | undefined): boolean {
  return value !== undefined && !/^(|0|false|no|off)$/i.test(value)
}

function authState(files: readonly AuthFile[], variables: readonly AuthVariable[]): ProviderAuth["state"] {
  const credentials = files.filter(({ kind, state }) => kind === "credential" && state !== "unreadable")
  const lasting = credentials.some(({ state, renewedByCli }) => state === "present" || renewedByCli)
  if (lasting || variables.some(({ kind }) => kind === "credential")) return "ready"
  return credentials.length > 0 ? "expired" : "missing"
}
