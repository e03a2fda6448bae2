import type { Json } from "../../core/json.ts"
import { numberAt } from "../read-json.ts"

export function parseJson(text: string): Json {
  // What JSON.parse gives is JSON.
  return JSON.parse(text) as Json
}

/** Whether there is a secret; which it is concerns nobody. */
export function isSet(value: Json | undefined): boolean {
  return typeof value === "string" && value !== ""
}

/** The names that a file of settings says in these places. */
export function variableNamesIn(text: string, place: RegExp): string[] {
  return [...new Set([...text.matchAll(place)].flatMap(([, name]) => name ?? []))]
}

/** When a signed token is over, in milliseconds; undefined where it does not say. */
export function jwtExpiry(token: string): number | undefined {
  const [, payload = ""] = token.split(".")
  try {
    const seconds = numberAt(parseJson(Buffer.from(payload, "base64url").toString()), "exp")
    return seconds === undefined ? undefined : seconds * 1000
  } catch {
    return undefined
  }
}
