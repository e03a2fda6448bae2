// Guardrails: ready-made hooks that check or rewrite the prompt and the output of a run.
import type { HookContext, Hooks } from "../actions/hooks.ts"
import { attempt } from "../core/attempt.ts"
import { checkOptions, mustBeLimit, refuseOptions } from "../core/checks/check-options.ts"
import type { PromptPart } from "../core/message.ts"
import type { SchemaLike } from "../runtime/bindings.ts"
import { checkSchema } from "../runtime/schema/check-json-schema.ts"
import { isStandardSchema, validate } from "../runtime/schema.ts"

/** Checks a text. Returns nothing to let it pass, a reason to `block` it, or a text to `rewrite` it to. */
export type Guardrail = (text: string, context: HookContext) => Guarded | Promise<Guarded>

// biome-ignore lint/suspicious/noConfusingVoidType: a guardrail that returns nothing is the common one.
export type Guarded = void | undefined | { block: string } | { rewrite: string }

/** Checks the prompt. A blocked one is not stored and ends the run as `stopped`. A rewritten one retains its images. */
export function guardInput(guard: Guardrail): Hooks
export function guardInput(guard: Guardrail, ...extra: unknown[]): Hooks {
  refuseOptions("guardInput()", extra)
  return {
    async beforeRun({ prompt }, context) {
      const decision = await guard(promptText(prompt), context)
      if (!decision) return undefined
      if ("block" in decision) return { stop: decision.block, reason: "guardrail" }
      return { prompt: [{ type: "text", text: decision.rewrite }, ...prompt.filter(({ type }) => type === "image")] }
    },
  }
}

/** Checks the output of a run, whatever its status. A blocked output is withheld, and the run is `stopped` with reason
 *  `guardrail`. Streamed text and the conversation are not changed. */
export function guardOutput(guard: Guardrail): Hooks
export function guardOutput(guard: Guardrail, ...extra: unknown[]): Hooks {
  refuseOptions("guardOutput()", extra)
  return {
    async afterRun({ output }, context) {
      if (output === "") return undefined
      const decision = await guard(output, context)
      if (!decision) return undefined
      return "block" in decision ? { stop: decision.block, reason: "guardrail" } : { output: decision.rewrite }
    },
  }
}

export interface ValidateOptions {
  /** How often an answer is returned to the model before the run stops. Default 1. */
  maxRepairs?: number | undefined
}

/** Returns what is wrong with an answer; nothing if it is right. */
export type OutputCheck = (output: string) => string | undefined | Promise<string | undefined>

/** Accepts an answer only if it is JSON that matches a schema, or passes a check. Otherwise the model gets the problem
 *  and another try; then the run is `stopped` with reason `guardrail`. Does not apply to child runs. */
export function validateOutput(accepts: SchemaLike | OutputCheck, options: ValidateOptions = {}): Hooks {
  checkOptions("validateOutput()", options, { maxRepairs: mustBeLimit(0) })
  const { maxRepairs = 1 } = options
  const check = toOutputCheck(accepts)
  const sentBack = new Map<string, number>()
  return {
    inherited: false,
    async afterCycle({ next, output }, { run }) {
      if (next !== "done") return undefined
      const problem = await check(output)
      if (problem === undefined) return undefined
      const times = sentBack.get(run) ?? 0
      if (times >= maxRepairs) return { stop: `The answer was not accepted: ${problem}`, reason: "guardrail" }
      sentBack.set(run, times + 1)
      return { steer: `(Your answer was not accepted: ${problem}\nMend it and give the whole answer again.)` }
    },
    afterRun(_end, { run }) {
      sentBack.delete(run)
    },
  }
}

function toOutputCheck(accepts: SchemaLike | OutputCheck): OutputCheck {
  if (typeof accepts === "function" && !isStandardSchema(accepts)) return accepts
  checkSchema(accepts, "validateOutput(): this")
  return async (output) => {
    const parsed = parseJson(output)
    if (!parsed.ok) return "it is not JSON alone."
    const validation = await validate(accepts, parsed.value)
    return validation.ok ? undefined : validation.message
  }
}

// Models often put JSON in a fence.
function parseJson(output: string): { ok: true; value: unknown } | { ok: false } {
  const [, fenced = output] = /^\s*```(?:json)?\n([\s\S]*?)\n?```\s*$/i.exec(output) ?? []
  return attempt(() => ({ ok: true, value: JSON.parse(fenced) })) ?? { ok: false }
}

function promptText(prompt: readonly PromptPart[]): string {
  return prompt.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
}
