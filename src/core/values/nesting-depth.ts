// Turns stack overflows caused by deeply nested data into clear errors.
import { AgentError } from "../errors.ts"

/** Runs `work`, which walks data recursively. If the data is nested too deeply for the stack, throws an `AgentError`
 *  that names the data instead of a `RangeError`. `what` begins the sentence. */
export function guardNestingDepth<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isStackOverflow(error)) throw error
    throw new AgentError(`${what} is nested too deeply. Make it flatter: a list of parts that name each other.`, {
      code: "too-deep",
    })
  }
}

export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === "Maximum call stack size exceeded"
}
