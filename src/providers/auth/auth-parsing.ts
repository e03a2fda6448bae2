// Small parsers for credential files.
import type { Json } from "../../core/json.ts"
import { numberAt } from "../read-json.ts"

export function parseJson(text: string): Json {
  return JSON.parse(text) as Json
}

/** Returns true if there is a secret, without returning it. */
export function isSet(value: Json | undefined): boolean {
  return typeof value === "string" && value !== ""
}

/** The variable names in a settings file, at the matches of a pattern. */
export function variableNamesIn(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap(([, name]) => name ?? []))]
}

/** When a JSON Web Token expires, in milliseconds since the epoch; undefined if it does not say. */
export function jwtExpiry(token: string): number | undefined {
  const [, payload = ""] = token.split(".")
  try {
    const seconds = numberAt(parseJson(Buffer.from(payload, "base64url").toString()), "exp")
    return seconds === undefined ? undefined : seconds * 1000
  } catch {
    return undefined
  }
}
