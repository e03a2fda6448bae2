import { refusingDepth } from "./depth.ts"

/** What can be stored, sent and compared: everything that must survive a process is made of this. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** A JSON Schema document, as plain data. */
export type JsonSchema = { [key: string]: Json }

/** The same data, of which nothing is shared. Throws an `AgentError` for data that is nested too deeply. */
export function copyJson(value: Json): Json {
  return refusingDepth("The data", () => copied(value))
}

function copied(value: Json): Json {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copied)
  const copy = { ...value }
  for (const [key, part] of Object.entries(copy)) if (typeof part === "object") copy[key] = copied(part)
  return copy
}
