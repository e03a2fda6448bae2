// Shortens declarations for all styles alike: the first sentence of a description, and parameters without descriptions.
import type { Json, JsonSchema } from "karst"

export function firstSentence(description: string): string {
  const text = description.replace(/\s+/g, " ").trim()
  return /^.*?[.!?](?= |$)/.exec(text)?.[0] ?? text
}

/** A schema with nothing but types, enumerations and which members are required. */
export type TrimmedSchema = JsonSchema & {
  type?: string
  properties?: { [name: string]: TrimmedSchema }
  required?: string[]
}

export function trimSchema(schema: Json): TrimmedSchema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return {}
  const { type, properties, items, required, enum: values } = schema
  return {
    ...(typeof type === "string" && type !== "any" && { type: typeNames[type] ?? type }),
    ...(properties !== undefined && { properties: trimMembers(properties) }),
    ...(items !== undefined && { items: trimSchema(items) }),
    ...(Array.isArray(values) && { enum: values }),
    ...(Array.isArray(required) && required.length > 0 && { required: required.map(String) }),
  }
}

function trimMembers(properties: Json): { [name: string]: TrimmedSchema } {
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return {}
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, trimSchema(member)]))
}

// Names of types in Python.
const typeNames: Record<string, string> = { dict: "object", float: "number", tuple: "array" }
