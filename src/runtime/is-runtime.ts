// Tells whether a value is a runtime.
import type { Runtime } from "./runtime.ts"

/** True for objects with the methods that every use of a runtime needs. */
export function isRuntime(value: unknown): value is Runtime {
  if (typeof value !== "object" || value === null) return false
  return ["execute", "describe", "retrieve", "names", "close"].every(
    (name) => typeof Reflect.get(value, name) === "function",
  )
}
