import { errorData } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import type { CallGate } from "../runtime/runtime.ts"
import { type Approvals, requireApproval } from "./approve.ts"
import { previewCall } from "./preview-call.ts"

export interface GateServices extends Approvals {
  now(): number
}

export interface CountingGate {
  gate: CallGate
  /** How many calls passed so far. */
  readonly count: number
}

// A cell may call in a loop; beyond this many the calls are counted and no longer told one by one.
const toldCalls = 1000

/** The gate every call of a function binding passes, wherever it comes from: told, approved, then made. */
export function callGate(services: GateServices, within: string, emit: Emit): CountingGate {
  let count = 0
  return {
    get count() {
      return count
    },
    gate: async (call, next) => {
      const told = count++ < toldCalls
      if (!told && count === toldCalls + 1) {
        emit({ type: "warning-raised", code: "many-calls", message: tooMany })
      }
      const started = services.now()
      if (told) emit({ type: "call-start", id: call.id, within, call: previewCall(call) })
      try {
        await requireApproval(call, services, emit)
        const value = await next()
        if (told) emit({ type: "call-end", id: call.id, ok: true, durationMs: services.now() - started })
        return value
      } catch (error) {
        const { name, message } = errorData(error)
        const durationMs = services.now() - started
        if (told) emit({ type: "call-end", id: call.id, ok: false, durationMs, error: `${name}: ${message}` })
        throw error
      }
    },
  }
}

// No `toLocaleString` here: its first use loads Intl, which costs every `import "karst"` 15 ms.
const tooMany = "More than 1,000 calls in one cell: the rest are counted, not shown."
