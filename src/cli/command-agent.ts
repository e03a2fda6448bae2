// Creates the agent of `karst run`, `karst prompt` and `karst demo`.
import { type CodeAgent, createAgent } from "../agent/create-agent.ts"
import { defaultInstructions } from "../agent/prompt/system-prompt.ts"
import { confinementNote } from "../config/agents/default-runtime.ts"
import type { Model } from "../models/model.ts"
import type { Bindings } from "../runtime/bindings.ts"
import { jsRuntime } from "../runtime/js.ts"
import { safeRules } from "../runtime/rules/safe-rules.ts"

export interface CommandAgentOptions {
  model: Model
  bindings: Bindings
  /** Paths of skills, or of folders that contain skills. */
  skills?: readonly string[] | undefined
  instructions?: string | undefined
  maxCycles?: number | undefined
}

export function commandAgent({ model, bindings, skills, instructions, maxCycles }: CommandAgentOptions): CodeAgent {
  return createAgent({
    name: "karst",
    model,
    instructions: `${instructions ?? defaultInstructions}\n\n${confinementNote}`,
    limits: { cycles: maxCycles },
    skills,
    runtime: () => jsRuntime(bindings, { rules: safeRules() }),
    // Ctrl-C is handled only between turns of the event loop, so an endless loop in a cell must time out.
    cellTimeoutMs: 60_000,
  })
}
