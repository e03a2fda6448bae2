// The store in Redis.
import { randomUUID } from "node:crypto"
import { checkOptions, mustBeText } from "../core/checks/check-options.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import type { EncodedChange } from "./encode-changes.ts"
import { checkKey, checkPosition, decodeStored, encodeChanges, parseStored } from "./encode-changes.ts"
import { type ChangeSource, createLogNotifier, type LogCursor, readCursor, watchCursor } from "./log-watch.ts"
import { closeClient, connectRedis, duplicate, evalScript, type RedisClient, redisError } from "./redis-client.ts"
import { commitScript, pageScript } from "./redis-scripts.ts"
import type { Store, StoreGuard } from "./store.ts"
import { closedError, conflictError, corruptError } from "./store-errors.ts"

export type { RedisClient } from "./redis-client.ts"

export interface RedisStoreOptions {
  /** The prefix of all keys of the store. Stores with the same prefix share their data. In a cluster a store lies in
   *  one slot, chosen by the part of the prefix in braces, or by all of it. Default `karst`. */
  prefix?: string | undefined
}

/** Stores state in Redis 6.2 or newer, for any number of machines. Takes a URL, or an ioredis client, which the caller
 *  closes. The server's settings decide what survives its crash: use `appendonly yes` and `maxmemory-policy
 *  noeviction`. */
export function redisStore(server: string | RedisClient, options: RedisStoreOptions = {}): Store {
  if (!server) throw new ConfigError("redisStore needs a URL such as redis://localhost:6379, or a client of ioredis.")
  checkOptions("redisStore()", options, { prefix: mustBeText })
  const { prefix = "karst" } = options
  checkPrefix(prefix)
  const keys = redisKeys(prefix)
  const name = `The store "${prefix}" in Redis`
  const id = randomUUID()
  const answered: number[] = []
  let lastNumber = 0
  let epoch: string | undefined
  let hasWarned = false
  let connecting: Promise<RedisClient> | undefined
  let closed = false
  const notifier = createLogNotifier(startListening, lingerMs)

  async function open(): Promise<RedisClient> {
    if (closed) throw closedError(name)
    if (typeof server !== "string") return server
    connecting ??= connectRedis(server)
    const client = await connecting
    if (closed) throw closedError(name)
    return client
  }

  async function ask<T>(question: (client: RedisClient) => Promise<T>): Promise<T> {
    try {
      return await question(await open())
    } catch (error) {
      throw closed ? closedError(name) : redisError(error, name)
    }
  }

  async function commit(
    changes: readonly EncodedChange[],
    guard: StoreGuard | undefined,
    evenIfFull: boolean,
  ): Promise<number> {
    const number = ++lastNumber
    const known = answered.splice(0)
    const [isDone, revision, found] = await ask(async (client) => {
      const channel = channelOf(client)
      const named = [keys.revision, keys.index, keys.client(id), keys.epoch]
      const head = [
        number,
        known.join(),
        guard ? named.push(keys.value(guard.key)) : 0,
        guard?.ifRevision ?? 0,
        channel,
        evenIfFull ? 1 : 0,
        epoch ?? "",
        randomUUID(),
      ]
      const fields = changes.flatMap((change) => fieldsOf(change, named))
      return (await evalScript(client, commitScript, named, [...head, ...fields])) as [number, number, string?]
    })
    answered.push(number)
    if (Number(isDone) < 0) throw emptiedError(name)
    epoch ??= found
    warnWithoutFile()
    if (guard && Number(isDone) === 0) throw conflictError(guard, Number(revision))
    return Number(revision)
  }

  /** Throws if the store was emptied since this process first used it. */
  async function checkEpoch(): Promise<void> {
    const found = (await ask((client) => client.get(keys.epoch))) ?? undefined
    if (epoch !== undefined && found !== epoch) throw emptiedError(name)
    epoch = found
  }

  // No warning if the server does not report its settings.
  function warnWithoutFile(): void {
    if (hasWarned) return
    hasWarned = true
    ask((client) => client.info("persistence")).then(
      (text) => {
        if (/^aof_enabled:0/m.test(text))
          process.emitWarning(noAppendOnlyFileMessage(name), { code: "KARST_REDIS_NO_AOF" })
      },
      () => undefined,
    )
  }

  /** The fields of a change for the script. Its keys are added to `named`. */
  function fieldsOf(change: EncodedChange, named: string[]): (string | number | Buffer)[] {
    switch (change.type) {
      case "put": {
        const { key, value } = change
        const [kind, stored] =
          typeof value === "string"
            ? ["json", value]
            : ["bytes", Buffer.from(value.buffer, value.byteOffset, value.byteLength)]
        return ["put", named.push(keys.value(key)), key, kind, stored]
      }
      case "append":
        return ["append", named.push(keys.log(change.log)), change.log, change.items.length, ...change.items]
      case "delete":
        return ["delete", named.push(keys.value(change.key)), named.push(keys.log(change.key)), change.key]
    }
  }

  function createCursor(log: string, from: number, isLive: boolean): LogCursor {
    checkKey(log)
    let at = checkPosition(from)
    let mark: string | undefined
    let end: number | undefined
    return {
      async next() {
        const stop = end ?? Number.MAX_SAFE_INTEGER
        const page = (await ask((client) =>
          evalScript(client, pageScript, [keys.log(log)], [at, stop, pageSize]),
        )) as string[]
        const [found, length, ...items] = page
        if (found === undefined || epoch === undefined) await checkEpoch()
        if (mark !== undefined && found !== mark) return undefined
        mark = found
        if (!isLive) end ??= Number(length ?? 0)
        at += items.length
        return items.map((item) => parseStored(item, `${name}, log "${log}"`))
      },
    }
  }

  function channelOf(client: RedisClient): string {
    return `${client.options.keyPrefix ?? ""}${keys.channel}`
  }

  /** Subscribes to one channel for each watched log, so that a watcher is not notified about other logs. */
  function startListening(notify: (log?: string) => void): ChangeSource {
    const watchedLogs = new Set<string>()
    let stopped = false
    let listener: RedisClient | undefined
    let channel = ""

    async function listen(): Promise<void> {
      const client = await open()
      if (stopped) return
      channel = channelOf(client)
      listener = duplicate(client)
      listener.on("message", (_channel: string, log: string) => notify(log))
      // Messages before the subscription, or during a lost connection, are missed; a read after it finds the items.
      listener.on("ready", () => subscribe([...watchedLogs]))
      subscribe([...watchedLogs])
    }

    function subscribe(logs: readonly string[]): void {
      if (!listener || logs.length === 0) return
      listener.subscribe(...logs.map((log) => `${channel}:${log}`)).then(
        () => logs.forEach((log) => void notify(log)),
        () => {},
      )
    }

    listen().catch(() => notify())
    // An emptied server sends no message, so watchers read again now and then.
    const rechecking = setInterval(() => notify(), recheckMs).unref()
    return {
      onSubscribed(log, isSubscribed) {
        if (isSubscribed) {
          watchedLogs.add(log)
          return subscribe([log])
        }
        watchedLogs.delete(log)
        listener?.unsubscribe(`${channel}:${log}`).catch(() => {})
      },
      stop() {
        stopped = true
        clearInterval(rechecking)
        listener?.disconnect()
      },
    }
  }

  async function close(): Promise<void> {
    if (closed) return
    closed = true
    notifier.close()
    const client = await connecting?.catch(() => undefined)
    if (client) await closeClient(client)
  }

  return {
    async get(key) {
      checkKey(key)
      const fields = ["revision", "kind", "value"]
      // Both commands are sent together, so that a store that was emptied and filled again is noticed too.
      const [found] = await Promise.all([ask((client) => client.hmgetBuffer(keys.value(key), ...fields)), checkEpoch()])
      const [revision, kind, value] = found as (Buffer | null)[]
      if (!revision && !kind && !value) return undefined
      if (!revision || !kind || !value) throw corruptError(name, `the record of "${key}" is incomplete`, cure)
      const stored = String(kind) === "json" ? String(value) : new Uint8Array(value)
      return { value: decodeStored(stored, `${name}, key "${key}"`), revision: Number(revision) }
    },
    async commit(changes, guard, options = {}) {
      return commit(encodeChanges(changes, guard, options), guard, options.evenIfFull ?? false)
    },
    async *keys(prefix) {
      for (let from = `[${prefix}`; ; ) {
        const page = await ask((client) => client.zrangebylex(keys.index, from, "+", "LIMIT", 0, 500))
        const found = page as string[]
        for (const key of found) {
          if (!key.startsWith(prefix)) return
          yield key
        }
        if (found.length === 0) return await checkEpoch()
        from = `(${found.at(-1)}`
      }
    },
    async *read(log, from = 0) {
      yield* readCursor(createCursor(log, from, false))
    },
    async *watch(log, from, signal) {
      await open()
      yield* watchCursor(createCursor(log, from, true), notifier.subscribe(log), signal, () => closed)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function redisKeys(prefix: string) {
  const base = /\{.+\}/.test(prefix) ? prefix : `{${prefix}}`
  return {
    revision: `${base}:revision`,
    /** A random id written with the first commit. Another id means that the store was emptied. */
    epoch: `${base}:epoch`,
    index: `${base}:keys`,
    channel: `${base}:logs`,
    client: (id: string) => `${base}:client:${id}`,
    value: (key: string) => `${base}:value:${key}`,
    log: (log: string) => `${base}:log:${log}`,
  }
}

function checkPrefix(prefix: string): void {
  const isText = typeof prefix === "string" && prefix.length > 0 && prefix.length <= 200 && prefix.isWellFormed()
  if (isText && !/[\u0000-\u001f\u007f]/.test(prefix) && /^[^{}]*(\{[^{}]+\}[^{}]*)?$/.test(prefix)) return
  throw new ConfigError(
    `redisStore: the prefix ${JSON.stringify(prefix)} cannot be used. It is 1 to 200 characters, without control ` +
      "characters, with at most one pair of braces around some of them.",
  )
}

function emptiedError(name: string): AgentError {
  const message =
    `${name} was emptied since this process first used it: by a flush, or by a server that keeps nothing on disk and was ` +
    "restarted. Restore it from a backup, or start this process again to go on with an empty store."
  return new AgentError(message, { code: "gone" })
}

const noAppendOnlyFileMessage = (name: string) =>
  `${name} is not kept on disk: the server has no append-only file, so runs are lost when it ends. Set \`appendonly yes\`.`

const cure = "Restore it from a backup, or delete it."
const recheckMs = 5_000
const pageSize = 1_000_000

// Workers subscribe again and again, so the connection for messages stays open for a while.
const lingerMs = 5_000
