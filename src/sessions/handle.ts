import { ConfigError } from "../core/errors.ts"

/** A string that finds a session again: its id, and the folder it is archived in. A store is never named, so that no
 *  credentials travel. */
export function handleOf(id: string, folder?: string): string {
  return `karst:1:${id}${folder === undefined ? "" : `@${folder}`}`
}

/** What a handle says; anything else is the bare id of a session. */
export function parseHandle(text: string): { id: string; folder?: string | undefined } {
  const [, version, id, folder] = /^karst:(\d+):([^@]*)(?:@(.*))?$/s.exec(text) ?? []
  if (version === undefined) return { id: text }
  if (version !== "1") {
    throw new ConfigError(
      `The handle "${text}" is of version ${version}, and this Karst knows version 1. Update karst.`,
    )
  }
  if (!id) throw new ConfigError(`The handle "${text}" names no session. Use session.handle as it was given.`)
  return { id, folder }
}
