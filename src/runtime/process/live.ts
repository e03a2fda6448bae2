import { AgentError, ConfigError } from "../../core/errors.ts"
import { type Binding, boundValue } from "../bindings.ts"
import { CannotCross, type Crossing } from "./crossing.ts"
import type { Link, Reply } from "./link.ts"
import type { Ask, Entry } from "./protocol.ts"
import { crossingProblem } from "./registry.ts"
import { Forged, type Service } from "./service.ts"

/** One child and what it was given. */
export interface Live {
  readonly link: Link
  readonly service: Service
  /** Asks for something that is no cell. Throws what went wrong there, and an `AgentError` when the child ended. */
  ask(ask: Ask, input: unknown, binding?: string): Promise<unknown>
  /** Binds, or gives new values to, names of the namespace. */
  bind(ask: "inject" | "update", entries: Iterable<readonly [string, Binding]>): Promise<void>
  /** Takes a value; one that no child of ours would send is the end of this one. */
  take(crossing: Crossing): unknown
  /** Ends it for something that no child of ours would do. */
  accuse(what: string): AgentError
  /** Whether a cell has run in it. */
  used: boolean
}

export function createLive(link: Link, service: Service): Live {
  const send = async (ask: Ask, input: Crossing): Promise<unknown> => {
    const reply = await asked(link, ask, input)
    if (!reply) throw ended(link)
    const value = live.take(reply.value)
    if (reply.ok) return value
    if (!(value instanceof Error)) throw live.accuse("a failure that is no error")
    if (value.name === "ConfigError") throw new ConfigError(value.message)
    if (value.name === "CannotCross") throw new AgentError(value.message, { code: "cannot-cross" })
    // The rest of what is thrown there has a code of its own; only what it may mean here is taken over.
    const isInvalid = "code" in value && value.code === "invalid-snapshot"
    throw new AgentError(value.message, { code: isInvalid ? "invalid-snapshot" : "runtime" })
  }

  const live: Live = {
    link,
    service,
    used: false,
    ask: (ask, input, binding = "the value") => send(ask, service.give(input, binding)),
    async bind(ask, given) {
      const entries = [...given]
      if (entries.length === 0) return
      const kinds = entries.map(([name, { kind }]): Entry => ({ name, kind: kind === "agent" ? "variable" : kind }))
      // All in one message, so that what two names share is shared there too; functions are there by their names.
      const values = entries.map(([, binding]) => (binding.kind === "function" ? undefined : boundValue(binding)))
      const names = entries.map(([name]) => name)
      const { body, ...stands } = explained(ask, entries, () => service.giveAll(values, names))
      await send(ask, { body: { entries: kinds, values: body }, ...stands })
    },
    take(crossing) {
      try {
        return service.take(crossing)
      } catch (error) {
        if (Forged.is(error)) throw live.accuse(error.message)
        throw error
      }
    },
    accuse(what) {
      link.kill({ kind: "crash", why: `it sent ${what} to its host` })
      return ended(link)
    },
  }
  return live
}

/** Says of what cannot cross under which name it is. */
function explained<T>(ask: "inject" | "update", entries: readonly (readonly [string, Binding])[], give: () => T): T {
  try {
    return give()
  } catch (error) {
    if (!(error instanceof CannotCross)) throw error
    const problems = entries.flatMap(([name, binding]) => crossingProblem(name, binding) ?? [])
    const why = problems.length > 0 ? problems.join("; ") : error.message
    throw new ConfigError(`Nothing was ${ask === "inject" ? "injected" : "updated"}: ${why}`, { cause: error })
  }
}

async function asked(link: Link, ask: Ask, input: Crossing): Promise<Reply | undefined> {
  try {
    return await link.ask(ask, input)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`The value cannot cross to the runtime's process: ${reason}`, { cause })
  }
}

function ended({ ending }: Link): AgentError {
  return new AgentError(`The runtime's process ended before it answered: ${ending?.why ?? "it is gone"}. Try again.`, {
    code: "crash",
    retryable: true,
  })
}
