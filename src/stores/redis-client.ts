// Connections to Redis, and the translation of its errors.
import { AgentError, ConfigError } from "../core/errors.ts"
import { importOptionalPackage } from "../core/optional-package.ts"
import type { RedisScript } from "./redis-scripts.ts"
import { noSpaceError } from "./store-errors.ts"

type Argument = string | number | Buffer

/** The members of an ioredis client (5 or newer, `Redis` or `Cluster`) that the store uses. */
export interface RedisClient {
  readonly status: string
  readonly options: { keyPrefix?: string | undefined }
  // Named commands instead of `call`, which fails in a client with automatic pipelines.
  evalsha(sha: string, keys: number, ...args: Argument[]): Promise<unknown>
  eval(script: string, keys: number, ...args: Argument[]): Promise<unknown>
  get(key: string): Promise<string | null>
  info(section: string): Promise<string>
  hmgetBuffer(key: string, ...fields: string[]): Promise<unknown>
  zrangebylex(key: string, from: string, to: string, limit: "LIMIT", offset: number, count: number): Promise<unknown>
  subscribe(...channels: string[]): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  duplicate(): RedisClient
  on(event: string, listener: (...args: string[]) => void): unknown
  quit(): Promise<unknown>
  disconnect(): void
}

/** Opens a connection that the store closes. While the server is unreachable, commands wait for about eight seconds. */
export async function connectRedis(url: string): Promise<RedisClient> {
  const { Redis } = await importOptionalPackage("ioredis", "redisStore")
  if (typeof Redis !== "function")
    throw new ConfigError('The package "ioredis" is too old for redisStore. Install 5 or newer.')
  const retryStrategy = (attempt: number) => Math.min(50 * attempt, 500)
  return ignoreErrors(Reflect.construct(Redis, [url, { retryStrategy, maxRetriesPerRequest: 20 }]))
}

/** Opens another connection to the same server, for messages. The store closes it. */
export function duplicate(client: RedisClient): RedisClient {
  return ignoreErrors(client.duplicate())
}

export async function closeClient(client: RedisClient): Promise<void> {
  if (client.status !== "ready") return client.disconnect()
  await client.quit().catch(() => client.disconnect())
}

/** Sends the text of the script only if the server does not know it yet. */
export async function evalScript(
  client: RedisClient,
  script: RedisScript,
  keys: string[],
  args: Argument[],
): Promise<unknown> {
  try {
    return await client.evalsha(script.sha, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error
    return client.eval(script.text, keys.length, ...keys, ...args)
  }
}

/** Translates an error of ioredis or of the server to an `AgentError`. */
export function redisError(error: unknown, name: string): unknown {
  if (error instanceof AgentError || !(error instanceof Error)) return error
  const kind = /^[A-Z]+(?= )/.exec(error.message)?.[0] ?? ""
  if (kind === "OOM") return noSpaceError(name, error)
  const known = knownReplies[kind]
  const isAnswer = error.name === "ReplyError"
  const { code, retryable, cure } = known ?? (isAnswer ? unexpected : unreachable)
  const what = code === "corrupt" ? "is damaged" : "is out of reach"
  return new AgentError(`${name} ${what}: ${withFullStop(error.message)} ${cure}`, {
    code,
    retryable,
    cause: error,
  })
}

/** Adds a full stop to the message of another program, if it has none. */
export function withFullStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

interface RedisErrorKind {
  code: string
  retryable: boolean
  cure: string
}

const unreachable: RedisErrorKind = {
  code: "connection",
  retryable: true,
  cure: "Whether a commit under way was done is not known: read again before you repeat it. Check that the server runs.",
}
const unexpected: RedisErrorKind = { code: "server-error", retryable: false, cure: "See the cause." }
const accessDenied: RedisErrorKind = {
  code: "authentication",
  retryable: false,
  cure: "Check the user and password of the connection.",
}
const later: RedisErrorKind = { code: "server-error", retryable: true, cure: "Try again later." }
const knownReplies: { [kind: string]: RedisErrorKind } = {
  NOAUTH: accessDenied,
  WRONGPASS: accessDenied,
  NOPERM: {
    ...accessDenied,
    code: "permission-denied",
    cure: "Give the user the commands and keys that the store needs.",
  },
  MISCONF: {
    code: "no-space",
    retryable: true,
    cure: "The server cannot save to its disk: make room there, then try again.",
  },
  WRONGTYPE: {
    code: "corrupt",
    retryable: false,
    cure: "Another program wrote to a key of the store. Give the store a prefix of its own, or restore it from a backup.",
  },
  LOADING: later,
  BUSY: { ...later, code: "busy" },
  READONLY: { ...later, cure: "It is a replica: connect to the primary." },
  CLUSTERDOWN: later,
  TRYAGAIN: later,
  MASTERDOWN: later,
}

/** Without a listener, ioredis prints every failed attempt to connect. Pending commands still get the error. */
export function ignoreErrors<T extends Pick<RedisClient, "on">>(client: T): T {
  client.on("error", () => {})
  return client
}
