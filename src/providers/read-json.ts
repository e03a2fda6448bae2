// Reads values out of JSON from other programs, in which anything may be missing.
import type { Json } from "../core/json.ts"
import type { ImagePart } from "../core/message.ts"
import { isRecord } from "../core/object.ts"

export type JsonObject = { [key: string]: Json }

/** The value at a path of keys; undefined if any part is missing. */
export function valueAt(value: Json | undefined, ...path: string[]): Json | undefined {
  let found = value
  for (const key of path) found = isRecord(found) ? found[key] : undefined
  return found
}

export function objectAt(value: Json | undefined, ...path: string[]): JsonObject {
  const found = valueAt(value, ...path)
  return isRecord(found) ? found : {}
}

export function textAt(value: Json | undefined, ...path: string[]): string | undefined {
  const found = valueAt(value, ...path)
  return typeof found === "string" ? found : undefined
}

export function numberAt(value: Json | undefined, ...path: string[]): number | undefined {
  const found = valueAt(value, ...path)
  return typeof found === "number" ? found : undefined
}

export function listAt(value: Json | undefined, ...path: string[]): Json[] {
  const found = valueAt(value, ...path)
  return Array.isArray(found) ? found : []
}

export function textsAt(value: Json | undefined, ...path: string[]): string[] {
  return listAt(value, ...path).filter((each) => typeof each === "string")
}

/** The text and images of a tool result in the format of MCP and model APIs: a string, or a list of parts. */
export function toolContentOf(content: Json | undefined): { text: string; images?: ImagePart[] } {
  if (typeof content === "string") return { text: content }
  const parts = Array.isArray(content) ? content : []
  const text = parts.flatMap((part) => textAt(part, "text") ?? []).join("\n")
  const images = parts.flatMap((part) => imageOf(part) ?? [])
  return images.length === 0 ? { text } : { text, images }
}

function imageOf(part: Json): ImagePart | undefined {
  if (textAt(part, "type") !== "image") return undefined
  const data = textAt(part, "data") ?? textAt(part, "source", "data")
  const mediaType = textAt(part, "mimeType") ?? textAt(part, "source", "media_type")
  return data === undefined || mediaType === undefined ? undefined : { type: "image", mediaType, data }
}
