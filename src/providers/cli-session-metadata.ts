// The metadata stored with a session of a coding CLI, and checks of session keys and handles.
import { ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { createHiddenField } from "../core/values/hidden-field.ts"
import type { CliOptions } from "./options.ts"
import type { Provider } from "./provider.ts"
import { objectAt, textAt, textsAt, valueAt } from "./read-json.ts"

/** Stored with a session, in addition to its events. */
export interface CliSessionMetadata {
  provider: string
  /** The CLI's id of the conversation. */
  key?: string | undefined
  /** The CLI's id of the conversation that the first turn copies. */
  forkOf?: string | undefined
  cwd?: string | undefined
  approved: string[]
  /** The options it was opened with that can be stored. */
  options: Pick<CliOptions, "model" | "reasoning" | "instructions" | "systemPrompt">
}

export function sessionMetadata({ provider, key, forkOf, cwd, approved, options }: CliSessionMetadata): Json {
  const { model, reasoning, instructions, systemPrompt } = options
  return {
    version: 1,
    provider,
    approved: [...approved],
    options: {
      ...(model !== undefined && { model }),
      ...(reasoning !== undefined && { reasoning }),
      ...(instructions !== undefined && { instructions }),
      ...(systemPrompt !== undefined && { systemPrompt }),
    },
    ...(key !== undefined && { key }),
    ...(forkOf !== undefined && { forkOf }),
    ...(cwd !== undefined && { cwd }),
  }
}

/** Returns undefined if the session is not one with a coding CLI. */
export function readSessionMetadata(head: Json | undefined): CliSessionMetadata | undefined {
  const provider = textAt(head, "provider")
  if (provider === undefined) return undefined
  const options = objectAt(head, "options")
  return {
    provider,
    key: textAt(head, "key"),
    forkOf: textAt(head, "forkOf"),
    cwd: textAt(head, "cwd"),
    approved: textsAt(valueAt(head, "approved")),
    options: {
      model: textAt(options, "model"),
      reasoning: textAt(options, "reasoning"),
      instructions: textAt(options, "instructions"),
      systemPrompt: textAt(options, "systemPrompt"),
    },
  }
}

/** What a session needs to be resumed that has sent nothing yet: the conversation that its first turn copies. */
export interface UnsentFork {
  forkOf: string
  cwd: string | undefined
}

/** Set for every session of a CLI. The function returns undefined if the session is no fork, or has sent something. */
export const unsentForkOfSession = createHiddenField<() => UnsentFork | undefined>()

/** Returns the key of a conversation if it is safe as a command argument: no option, no glob pattern, no `..`. */
export function requireSafeKey(key: string | undefined): string | undefined {
  if (key === undefined || (/^[^-\s\p{Cc}*?[\]{}\\][^\s\p{Cc}*?[\]{}\\]*$/u.test(key) && !key.includes("..")))
    return key
  throw new ConfigError(
    `The key ${JSON.stringify(key)} of the session cannot be one of a CLI. Use session.handle as it was given.`,
  )
}

export function requireSameProvider({ name, title }: Provider, id: string, other: string | undefined): void {
  if (other === undefined || other === name) return
  throw new ConfigError(
    `Session "${id}" is one with ${other}, and ${title} cannot go on with it. Resume it by ${other}({ … }).`,
  )
}

export function noHandleYetError(id: string): ConfigError {
  return new ConfigError(
    `session.handle: session "${id}" has no handle yet, because the CLI names its conversation with the first answer. Take it after ` +
      "the first send.",
  )
}

export function sessionNotFoundError(id: string, archive: string | undefined): ConfigError {
  const where = archive === undefined ? "was not archived in a folder that its handle names" : `is not in ${archive}`
  return new ConfigError(
    `Session "${id}" ${where}, and the CLI's own key is not known. Resume it by session.handle, taken after its first send, or ` +
      "by its id together with its archive.",
  )
}
