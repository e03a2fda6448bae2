// Hashes by which the journal recognizes a call or a sub-agent's task when a cycle is executed again.
import { digest } from "../../core/values/digest.ts"
import type { RuntimeCall } from "../../runtime/runtime.ts"

/** Equal for equal data. Opaque values in it count by their kind alone. */
export function hashValue(value: unknown): string {
  return digest(value, () => undefined).text
}

/** Equal for calls with equal arguments, also in another process: data counts by its contents, an opaque value by its
 *  name. `hasUnnamed`: an opaque argument has no name, so the call looks like one with another such value. */
export function hashArguments({ args, nameOf }: Pick<RuntimeCall, "args" | "nameOf">): {
  hash: string
  hasUnnamed: boolean
} {
  const identify = (value: object | symbol) => (typeof value === "symbol" ? undefined : nameOf?.(value))
  const { text, hasUnnamed } = digest(args, identify)
  return { hash: text, hasUnnamed }
}
