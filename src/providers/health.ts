import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigError, type ErrorData, errorData, ProviderError } from "../core/errors.ts"
import { authProviders, checkAuth, type ProviderAuth } from "./auth/auth.ts"
import { cliAgent } from "./cli-agent.ts"
import { knownProviders } from "./coding-agent.ts"
import { findProgram } from "./find-program.ts"
import { type CliOptions, resolveOptions } from "./options.ts"
import type { Provider } from "./provider.ts"
import { startCliProcess } from "./turn/cli-process.ts"
import { type UsageLimit, usageLimitOf } from "./usage-limits.ts"

export interface HealthOptions {
  /** Whether the CLI is asked something, in a turn of its own with no tools: it takes seconds, and a few tokens. Default false. */
  live?: boolean | undefined
  /** How long that turn may take. Default 60,000. */
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
}

/** How a coding CLI is doing. Facts, and no secret: names, places and times. */
export interface ProviderHealth {
  provider: string
  title: string
  installed: boolean
  /** Where its program is. */
  program?: string
  version?: string
  /** What it has to sign in with; unknown of a CLI that Karst does not know by name. */
  auth?: ProviderAuth
  /** What came of a live turn, where one was asked for and the CLI is installed. */
  live?: LiveHealth
  /** What to do where it is not installed. */
  cure?: string
}

export interface LiveHealth {
  /** Whether it answered. */
  ok: boolean
  /** The limit of the account, where that was the reason. `until` is unknown where the CLI does not say. */
  limited?: { reason: string; until?: number }
  error?: ErrorData
}

/** How the coding CLIs are doing, all that Karst knows or those named. */
export async function checkHealth({
  providers,
  ...options
}: HealthOptions & { providers?: readonly string[] | undefined; env?: CliOptions["env"] } = {}): Promise<
  ProviderHealth[]
> {
  const names = new Set(providers ?? knownProviders.map(({ name }) => name))
  const chosen = [...names].map((name) => {
    const known = knownProviders.find((provider) => provider.name === name)
    if (known) return known
    const all = knownProviders.map((provider) => provider.name).join(", ")
    throw new ConfigError(`Unknown coding CLI "${name}". There are: ${all}.`)
  })
  const { env, ...rest } = options
  return await Promise.all(chosen.map((provider) => checkProviderHealth(provider, { env }, rest)))
}

export async function checkProviderHealth(
  provider: Provider,
  options: CliOptions,
  { live = false, ...probing }: HealthOptions = {},
): Promise<ProviderHealth> {
  const { env } = resolveOptions(provider, options).settings
  const program = findProgram(provider, { program: options.program, env })
  const [auth] = authProviders.includes(provider.name) ? await checkAuth([provider.name], { env }) : []
  const about = { provider: provider.name, title: provider.title, ...(auth && { auth }) }
  if (program === undefined) return { ...about, installed: false, cure: `Install it with \`${provider.install}\`.` }
  const version = await readVersion(program, env, probing.signal)
  const found = { ...about, installed: true, program, ...(version !== undefined && { version }) }
  return live ? { ...found, live: await liveHealth(provider, options, probing) } : found
}

/** The limit of the account behind a CLI, found out by a live turn; undefined where there is none. Rejects where the CLI fails
 *  otherwise, so that nobody takes a broken one for a free one. */
export async function probeUsageLimit(
  provider: Provider,
  options: CliOptions,
  probing: HealthOptions = {},
): Promise<Partial<UsageLimit> | undefined> {
  const failure = await runProbeTurn(provider, options, probing)
  if (failure === undefined) return undefined
  if (!isLimit(failure)) throw failure
  return usageLimitOf(failure) ?? { provider: provider.name, reason: failure.message }
}

async function liveHealth(provider: Provider, options: CliOptions, probing: HealthOptions): Promise<LiveHealth> {
  const failure = await runProbeTurn(provider, options, probing)
  if (failure === undefined) return { ok: true }
  if (!isLimit(failure)) return { ok: false, error: errorData(failure) }
  const { message: reason, retryAt: until } = failure
  return { ok: false, limited: { reason, ...(until !== undefined && { until }) }, error: errorData(failure) }
}

function isLimit(failure: unknown): failure is ProviderError {
  return failure instanceof ProviderError && failure.code === "rate-limited"
}

/** One turn that is thrown away, in an empty folder and with no tools. Gives why it failed, if it did. */
async function runProbeTurn(
  provider: Provider,
  options: CliOptions,
  { timeoutMs = 60_000, signal }: HealthOptions,
): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "karst-health-"))
  try {
    const { program, env, model, reasoning } = options
    const asked = { program, env, model, reasoning, cwd: folder, allow: [], timeoutMs, retries: 0, autoWait: false }
    const { status, error } = await cliAgent(provider, asked).run("Answer with the one word: ok", { signal }).settled
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
