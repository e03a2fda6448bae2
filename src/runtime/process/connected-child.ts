import { AgentError, ConfigError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { type Binding, boundValue } from "../bindings.ts"
import { javaScriptCodec } from "../handles/codec/javascript-codec.ts"
import type { NameReference } from "../handles/live-references.ts"
import type { HostAccess } from "../handles/operations.ts"
import { type Connection, openConnection, type PeerAnswer } from "../handles/peer-connection.ts"
import { CannotCross, type Frame, isObject, type WireObject } from "../handles/wire.ts"
import { formatThrown } from "../js/cell-errors.ts"
import { crossingProblem } from "./binding-registry.ts"
import type { BindEntry } from "./child-protocol.ts"
import type { PeerProcess } from "./peer-process.ts"

/** One child and the connection with it. */
export interface ConnectedChild {
  readonly process: PeerProcess
  readonly connection: Connection
  /** Asks for something that is no cell. Throws what went wrong there, and an `AgentError` when the child ended. */
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** Binds, or gives new values to, names of the namespace. */
  bind(op: "inject" | "update", entries: Iterable<readonly [string, Binding]>): Promise<void>
  /** Ends the child for something that our own code never does. */
  killForViolation(what: string): AgentError
  /** Whether a cell has run in it. */
  used: boolean
}

export interface ConnectedChildOptions {
  access: HostAccess
  maxHandles: number
  onMessage(message: WireObject, frame: Frame, live: ConnectedChild): void
  onUnawaitedFailure(error: unknown): void
}

export function connectChild(process: PeerProcess, options: ConnectedChildOptions): ConnectedChild {
  const { access, maxHandles, onUnawaitedFailure: onForgottenFailure } = options
  const accuse = (what: string) => {
    process.kill({ kind: "crash", why: `it sent ${what} to its host` })
    return endedError(process)
  }
  const connection = openConnection({
    link: process.link,
    codec: javaScriptCodec,
    access,
    maxHandles,
    location: "in the runtime's process",
    failure: encodeHostError,
    decodeFailure({ error }, read) {
      const thrown = read(error)
      if (isObject(thrown)) childErrors.add(thrown)
      return thrown
    },
    onUnawaitedFailure: onForgottenFailure,
    onMessage: (message, frame) => options.onMessage(message, frame, live),
    onForged: (what) => void accuse(what),
    onEnd(problem) {
      if (problem !== undefined) accuse(problem)
      // A process that has ended says why in a moment; one that lives without its connection is of no use.
      else setTimeout(() => process.kill({ kind: "crash", why: "it closed its connection" }), patienceMs).unref()
    },
  })

  const ask = async (op: string, body: Record<string, unknown>, named?: NameReference): Promise<PeerAnswer> => {
    try {
      return await connection.ask(op, body, named)
    } catch (error) {
      if (process.ending) throw endedError(process)
      if (childErrors.has(Object(error))) throw hostErrorFrom(error)
      if (error instanceof CannotCross || error instanceof RangeError) {
        throw new ConfigError(`The value cannot cross to the runtime's process: ${error.message}`, { cause: error })
      }
      throw error
    }
  }

  const live: ConnectedChild = {
    process,
    connection,
    used: false,
    killForViolation: accuse,
    ask: async (op, body = {}) => (await ask(op, body)).value,
    async bind(op, given) {
      const entries = [...given]
      if (entries.length === 0) return
      const kinds = entries.map(([name, { kind }]): BindEntry => ({ name, kind: kind === "agent" ? "variable" : kind }))
      // All in one message: what two names share is shared in the child too. A function goes by its own binding, as one
      // function may have two.
      const values = entries.map(([name, binding]) =>
        binding.kind === "function" ? access.functions.find(name)?.gated : boundValue(binding),
      )
      const named: NameReference = (where) => {
        const [, index = "", rest = ""] = /^\.values\[(\d+)\](.*)$/s.exec(where) ?? []
        const binding = entries[Number(index)]?.[0] ?? where
        return { binding, title: binding + rest }
      }
      try {
        await ask(op, { entries: kinds, values }, named)
      } catch (error) {
        if (!(error instanceof ConfigError && error.cause instanceof CannotCross)) throw error
        const problems = entries.flatMap(([name, binding]) => crossingProblem(name, binding) ?? [])
        const why = problems.length > 0 ? problems.join("; ") : error.cause.message
        throw new ConfigError(`Nothing was ${op === "inject" ? "injected" : "updated"}: ${why}`, { cause: error.cause })
      }
    },
  }
  return live
}

const patienceMs = 1_000

/** An error of a host function: with everything that can cross, else with its message. */
function encodeHostError(error: unknown, encode: (value: unknown, name: string) => Json): WireObject {
  try {
    return { error: encode(error, "the error") }
  } catch {
    return { error: encode(new Error(formatThrown(error)), "the error") }
  }
}

/** Errors that children answered with. */
const childErrors = new WeakSet<object>()

/** What the child says went wrong, as an error of the host. Of its code, only what has a meaning here is taken over. */
function hostErrorFrom(error: unknown): AgentError {
  if (!(error instanceof Error)) return new AgentError("The runtime's process failed.", { code: "runtime" })
  if (error.name === "ConfigError") return new ConfigError(error.message)
  if (error.name === "CannotCross") return new AgentError(error.message, { code: "cannot-cross" })
  const isInvalid = "code" in error && error.code === "invalid-snapshot"
  return new AgentError(error.message, { code: isInvalid ? "invalid-snapshot" : "runtime" })
}

export function endedError({ ending }: PeerProcess): AgentError {
  return new AgentError(`The runtime's process ended before it answered: ${ending?.why ?? "it is gone"}. Try again.`, {
    code: "crash",
    retryable: true,
  })
}
