// Connections of the BullMQ backend: the parts of bullmq and ioredis that it uses.
import { ConfigError } from "../../core/errors.ts"
import { importOptionalPackage } from "../../core/optional-package.ts"
import { ignoreErrors } from "../../stores/redis-client.ts"

/** The members of an ioredis client (5 or newer, `Redis` or `Cluster`) that the backend uses. */
export interface RedisConnection {
  readonly status: string
  readonly isCluster?: boolean | undefined
  duplicate(...args: never[]): RedisConnection
  on(event: string, listener: (...args: never[]) => void): unknown
  ping(): Promise<unknown>
  quit(): Promise<unknown>
  disconnect(): void
}

/** The members of BullMQ's `Queue` that the backend uses. */
export interface BullQueue {
  add(name: string, data: object, options: object): Promise<unknown>
  getJobCounts(...types: string[]): Promise<Record<string, number>>
  on(event: "error", listener: (error: Error) => void): unknown
  close(): Promise<void>
}

export interface BullWorker {
  on(event: "error", listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  /** Waits for the jobs under way. */
  close(): Promise<void>
}

type Constructor = new (...args: never[]) => unknown

export async function loadBullmq(): Promise<{ Queue: Constructor; Worker: Constructor }> {
  const { Queue, Worker } = await importOptionalPackage("bullmq", "bullmqBackend")
  if (!isConstructor(Queue) || !isConstructor(Worker)) {
    throw new ConfigError('The package "bullmq" is not what bullmqBackend knows. Install 6 or newer.')
  }
  return { Queue, Worker }
}

/** A client that the backend closes, together with the copies that BullMQ made of it. */
export interface OwnConnection {
  client: RedisConnection
  isReady(): boolean
  /** Closes all of them, also while the server is unreachable. Pending commands fail. */
  close(): Promise<void>
}

/** `maxRetriesPerRequest` limits the attempts of a command while the server is unreachable (20 take about eight
 *  seconds); null waits until the server is back. */
export async function connectForBullmq(
  server: string | RedisConnection,
  maxRetriesPerRequest: number | null,
): Promise<OwnConnection> {
  let isLeaving = false
  // A client that waits to reconnect never ends by `disconnect`; only its next attempt can end it.
  const retryStrategy = (attempt: number) => (isLeaving ? null : Math.min(50 * attempt, 500))
  const client = await createClient(server, { retryStrategy, maxRetriesPerRequest })
  const clients = [ignoreErrors(client)]
  const duplicate = client.duplicate.bind(client)
  client.duplicate = (...args) => {
    const copy = ignoreErrors(duplicate(...args))
    clients.push(copy)
    return copy
  }
  return {
    client,
    isReady: () => clients.every(({ status }) => status === "ready"),
    async close() {
      isLeaving = true
      await Promise.all(clients.map(closeClient))
    },
  }
}

async function createClient(server: string | RedisConnection, options: object): Promise<RedisConnection> {
  if (typeof server !== "string") return duplicateClient(server, options)
  const { Redis } = await importOptionalPackage("ioredis", "bullmqBackend")
  if (!isConstructor(Redis)) throw new ConfigError('The package "ioredis" is too old. Install 5 or newer.')
  return Reflect.construct(Redis, [server, options])
}

// A cluster takes the options of its nodes separately.
function duplicateClient(client: RedisConnection, options: object): RedisConnection {
  const args = client.isCluster ? [undefined, { redisOptions: options }] : [options]
  return client.duplicate(...(args as never[]))
}

async function closeClient(client: RedisConnection): Promise<void> {
  if (client.status === "end") return
  const ended = new Promise<void>((resolve) => client.on("end", () => resolve()))
  if (client.status === "ready") client.quit().catch(() => client.disconnect())
  await ended
}

function isConstructor(value: unknown): value is Constructor {
  return typeof value === "function"
}
