import { AgentError } from "../errors.ts"

/** Does work that walks data of others by recursion. Data that is nested too deeply for the stack is an `AgentError` that
 *  names it, where it would be a `RangeError` about the stack. `what` begins a sentence. */
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
