// Checks whether coding CLIs are installed, signed in and answering.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkOptionNames } from "../core/checks/check-options.ts"
import { type ErrorData, errorData, ProviderError } from "../core/errors.ts"
import { authProviders, checkAuth, type ProviderAuth } from "./auth/auth.ts"
import { cliAgent } from "./cli-agent.ts"
import { knownProviders, requireCli } from "./coding-agent.ts"
import { findProgram } from "./find-program.ts"
import { type CliOptions, resolveOptions } from "./options.ts"
import type { Provider } from "./provider.ts"
import { startCliProcess } from "./turn/cli-process.ts"
import { type UsageLimit, usageLimitOf } from "./usage-limits.ts"

export interface HealthOptions {
  /** Sends the CLI a short prompt without tools, which takes seconds and a few tokens. Default false. */
  live?: boolean | undefined
  /** How long the live turn may take. Default 60,000. */
  timeoutMs?: number | undefined
  /** Aborts the check. */
  signal?: AbortSignal | undefined
}

/** The state of a coding CLI. Contains no secrets: only names, paths and times. */
export interface ProviderHealth {
  provider: string
  title: string
  installed: boolean
  /** The path of its program. */
  program?: string
  version?: string
  /** Its credentials; missing for a CLI that Karst does not know by name. */
  auth?: ProviderAuth
  /** The result of the live turn, if one was requested and the CLI is installed. */
  live?: LiveHealth
  /** What to do if it is not installed. */
  cure?: string
}

export interface LiveHealth {
  /** True if it answered. */
  ok: boolean
  /** The usage limit of the account, if that was the reason. `until` is missing if the CLI does not report it. */
  limited?: { reason: string; until?: number }
  error?: ErrorData
}

/** Checks the named coding CLIs, or all that Karst knows. */
export async function checkHealth(
  options: HealthOptions & { providers?: readonly string[] | undefined; env?: CliOptions["env"] } = {},
): Promise<ProviderHealth[]> {
  checkOptionNames("checkHealth()", options, "providers", "env", "live", "timeoutMs", "signal")
  const { providers, env, ...rest } = options
  const names = new Set(providers ?? knownProviders.map(({ name }) => name))
  const chosen = [...names].map((name) => requireCli(name).provider)
  return await Promise.all(chosen.map((provider) => checkProviderHealth(provider, { env }, rest)))
}

export async function checkProviderHealth(
  provider: Provider,
  options: CliOptions,
  health: HealthOptions = {},
): Promise<ProviderHealth> {
  checkOptionNames("checkHealth()", health, "live", "timeoutMs", "signal")
  const { live = false, ...probe } = health
  const { env } = resolveOptions(provider, options).settings
  const program = findProgram(provider, { program: options.program, env })
  const [auth] = authProviders.includes(provider.name) ? await checkAuth([provider.name], { env }) : []
  const about = { provider: provider.name, title: provider.title, ...(auth && { auth }) }
  if (program === undefined) return { ...about, installed: false, cure: `Install it with \`${provider.install}\`.` }
  const version = await readVersion(program, env, probe.signal)
  const found = { ...about, installed: true, program, ...(version !== undefined && { version }) }
  return live ? { ...found, live: await liveHealth(provider, options, probe) } : found
}

/** Finds the usage limit of a CLI's account by a live turn; undefined if there is none. Rejects if the CLI fails for
 *  another reason, so that a broken CLI does not look unlimited. */
export async function probeUsageLimit(
  provider: Provider,
  options: CliOptions,
  probe: HealthOptions = {},
): Promise<Partial<UsageLimit> | undefined> {
  checkOptionNames("checkLimit()", probe, "timeoutMs", "signal")
  const failure = await runProbeTurn(provider, options, probe)
  if (failure === undefined) return undefined
  if (!isLimit(failure)) throw failure
  return usageLimitOf(failure) ?? { provider: provider.name, reason: failure.message }
}

async function liveHealth(provider: Provider, options: CliOptions, probe: HealthOptions): Promise<LiveHealth> {
  const failure = await runProbeTurn(provider, options, probe)
  if (failure === undefined) return { ok: true }
  if (!isLimit(failure)) return { ok: false, error: errorData(failure) }
  const { message: reason, retryAt: until } = failure
  return { ok: false, limited: { reason, ...(until !== undefined && { until }) }, error: errorData(failure) }
}

function isLimit(failure: unknown): failure is ProviderError {
  return failure instanceof ProviderError && failure.code === "rate-limited"
}

/** Runs one turn in an empty folder without tools. Returns its failure, or undefined. */
async function runProbeTurn(
  provider: Provider,
  options: CliOptions,
  { timeoutMs = 60_000, signal }: HealthOptions,
): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "karst-health-"))
  try {
    const { program, env, model, reasoning } = options
    const probeOptions = {
      program,
      env,
      model,
      reasoning,
      cwd: folder,
      allow: [],
      timeoutMs,
      maxRetries: 0,
      autoWait: false,
    }
    const { status, error } = await cliAgent(provider, probeOptions).run("Answer with the one word: ok", { signal })
      .settled
    if (status === "aborted") signal?.throwIfAborted()
    return status === "done" ? undefined : (error?.cause ?? error)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function readVersion(
  program: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal = new AbortController().signal,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "karst-health-"))
  try {
    let version: string | undefined
    const child = startCliProcess({
      program,
      args: ["--version"],
      cwd: folder,
      env,
      folder,
      signal,
      timeoutMs: 20_000,
      onLine(text) {
        version ??= /(?<!\d)\d+\.\d+\S*/.exec(text)?.[0]
      },
    })
    child.endInput()
    await child.ended
    return version
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
