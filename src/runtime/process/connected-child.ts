// One running child and the connection with it.
import { AgentError, ConfigError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { isObject } from "../../core/object.ts"
import { type Binding, boundValue } from "../bindings.ts"
import { javaScriptCodec } from "../handles/codec/javascript-codec.ts"
import type { NameReference } from "../handles/live-references.ts"
import { type Connection, type ConnectionOptions, openConnection, type PeerAnswer } from "../handles/peer-connection.ts"
import { CannotCross, type Frame, type WireObject } from "../handles/wire.ts"
import { formatThrown } from "../js/cell-errors.ts"
import { crossingProblem } from "./binding-registry.ts"
import type { BindEntry } from "./child-protocol.ts"
import type { PeerProcess } from "./peer-process.ts"

export interface ConnectedChild {
  readonly process: PeerProcess
  readonly connection: Connection
  /** Sends a request other than `execute`. Throws the child's error, or an `AgentError` if the child ended. */
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** Injects bindings, or updates the values of existing names. */
  bind(op: "inject" | "update", entries: Iterable<readonly [string, Binding]>): Promise<void>
  /** Kills the child because it sent something that our own code never sends. Returns the error to throw. */
  killForViolation(what: string): AgentError
  /** True if a cell has run in the child. */
  used: boolean
}

export interface ConnectedChildOptions extends Pick<ConnectionOptions, "access" | "maxHandles" | "onUnawaitedFailure"> {
  onMessage(message: WireObject, frame: Frame, live: ConnectedChild): void
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
    encodeFailure: encodeHostError,
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
      // If the process has ended, its exit reports the reason soon. If it is alive without a connection, kill it.
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
      // All values go in one message, so that names share objects in the child as on the host. A function binding is
      // sent as its gated function, because one function may have two bindings.
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

/** Encodes an error of a host function. If it cannot be encoded, sends only its message. */
function encodeHostError(error: unknown, encode: (value: unknown, name: string) => Json): WireObject {
  try {
    return { error: encode(error, "the error") }
  } catch {
    return { error: encode(new Error(formatThrown(error)), "the error") }
  }
}

/** Errors that children answered with. */
const childErrors = new WeakSet<object>()

/** Converts an error of the child into an error of the host. Only known error codes are taken over. */
function hostErrorFrom(error: unknown): AgentError {
  if (!(error instanceof Error)) return new AgentError("The runtime's process failed.", { code: "runtime" })
  if (error.name === "ConfigError") return new ConfigError(error.message)
  if (error.name === "CannotCross") return new AgentError(error.message, { code: "cannot-cross" })
  const isInvalid = "code" in error && error.code === "invalid-snapshot"
  return new AgentError(error.message, { code: isInvalid ? "invalid-snapshot" : "runtime" })
}

function endedError({ ending }: PeerProcess): AgentError {
  return new AgentError(`The runtime's process ended before it answered: ${ending?.why ?? "it is gone"}. Try again.`, {
    code: "crash",
    retryable: true,
  })
}
