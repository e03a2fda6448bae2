// Texts of `inspect`, also for values that cannot be shown.
import { type InspectOptions, inspect, types } from "node:util"

/** Returns true if a text of `inspect` leaves something out. A value whose own text looks cut counts too; then it
 *  merely gets a name. */
export function isInspectCut(shown: string): boolean {
  return /(\.\.\.|…) \d+ more |\[(Object|Array|Map|Set)\]/.test(shown)
}

/** `inspect`, also for a value whose `inspect.custom` throws. Never throws. */
export function inspectSafely(value: unknown, options: InspectOptions): string {
  try {
    return inspect(value, options)
  } catch {
    try {
      return inspect(value, { ...options, customInspect: false })
    } catch (error) {
      return cannotShow(value, error)
    }
  }
}

/** The text for a value that cannot be shown. */
export function cannotShow(value: unknown, error: unknown): string {
  // Read the message without running a getter, which may throw again.
  const message: unknown = types.isNativeError(error) && Object.getOwnPropertyDescriptor(error, "message")?.value
  return `[${typeof value} that cannot be shown${typeof message === "string" ? `: ${message}` : ""}]`
}
