// The texts that tell the model about a crash: which calls had started, and what is known of their outcomes.
import type { CallPreview } from "../../core/event.ts"
import { listFirst, oneLine, taggedText } from "../../core/text/tagged-text.ts"

/** A crash in the middle of a cycle that the model does not know of yet. */
export interface Interruption {
  /** Whether the model's answer in that cycle is recorded. Then the cycle runs again without a model request. */
  answered: boolean
  calls(): InterruptedCall[]
}

export interface InterruptedCall {
  call: CallPreview
  /** `recorded`: its recorded result is used. `finished`: its result is not stored. `remade`: it was made again. */
  outcome: "recorded" | "finished" | "remade" | "unknown"
}

/** The text about a durable run that continues after a crash. */
export function interruptionText(calls: readonly InterruptedCall[]): string {
  return [
    "This run was interrupted: its process ended in the middle of a step. It goes on from its last checkpoint.",
    ...callLines(calls),
  ].join("\n")
}

/** The text about a session whose last run never ended. `calls` is undefined if calls were not logged. */
export function interruptedSessionText(calls: readonly InterruptedCall[] | undefined): string {
  const start =
    "The last run was interrupted: its process ended before the run did. " +
    "Its last step is missing from this conversation."
  return [start, ...(calls ? callLines(calls) : ["Which calls it had started is not recorded."])].join("\n")
}

function callLines(calls: readonly InterruptedCall[]): string[] {
  const unrecordedText =
    "Code of that step may also have had effects that are not recorded, such as methods of objects, files and network requests."
  if (calls.length === 0) return [`No recorded call was under way. ${unrecordedText}`]
  // Calls with an unknown outcome come first, so that the limit never cuts them off.
  const sorted = calls.toSorted((one, other) => outcomeOrder.indexOf(one.outcome) - outcomeOrder.indexOf(other.outcome))
  const describe = ({ call, outcome }: InterruptedCall) => oneLine(`${callText(call)}: ${outcomeTexts[outcome]}`)
  const isUnknown = calls.some(({ outcome }) => outcome === "unknown")
  return [
    "Calls that it had started:",
    taggedText("output", listFirst(sorted, maxListedCalls, describe, "- ").join("\n")),
    unrecordedText,
    ...(isUnknown ? ["A call with an unknown outcome may have taken effect: find out before you make it again."] : []),
  ]
}

const outcomeOrder: readonly InterruptedCall["outcome"][] = ["unknown", "remade", "finished", "recorded"]

const outcomeTexts: Record<InterruptedCall["outcome"], string> = {
  unknown: "outcome unknown",
  remade: "made again after the interruption, as it is allowed to be",
  finished: "finished, its result is not kept",
  recorded: "finished, its result was recorded",
}

function callText({ binding, method, args }: CallPreview): string {
  return `${method === undefined ? binding : `${binding}.${method}`}(${args})`
}

const maxListedCalls = 50
