// Issues execution ids that a peer cannot guess, and finds the caller that an id belongs to.
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import type { Json } from "../../core/json.ts"
import type { Caller } from "./caller.ts"
import { expectText, ForgedMessage } from "./wire.ts"

/** Issues the execution ids of one connection. */
export function createExecutionIds() {
  const callers = new Map<string, Caller>()
  const secret = randomBytes(32).toString("hex")
  let count = 0
  // Ids are signed, so that an old id is recognised without being stored.
  const signed = (number: number) => `${number}-${hash("sha256", `${secret}${number}${secret}`).slice(0, 32)}`

  const isIssued = (id: string): boolean => {
    const number = Number(id.split("-", 1)[0])
    if (!Number.isInteger(number) || number < 1 || number > count) return false
    const expected = Buffer.from(signed(number))
    const given = Buffer.from(id)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  return {
    /** Returns the id of a new execution. Calls with this id are made for `caller`. */
    issue(caller: Caller): string {
      const id = signed(++count)
      callers.set(id, caller)
      // Timers of old cells may still make calls. Only the newest executions are stored; older ones are refused.
      if (callers.size > maxStoredCallers) callers.delete(callers.keys().next().value ?? "")
      return id
    },
    /** Returns the caller of an execution. Throws `ForgedMessage` for an id that was never issued. */
    callerOf(given: Json | undefined): Caller {
      const id = expectText(given)
      const caller = callers.get(id)
      if (caller) return caller
      if (!isIssued(id)) throw new ForgedMessage("a call for an execution that it was not given")
      throw new Error("The call came too late: the cell that left it behind ended long ago.")
    },
  }
}

const maxStoredCallers = 1_000
