import type { CallPreview } from "../../core/event.ts"
import { oneLine, taggedText } from "../../core/text/tagged-text.ts"

/** A run whose worker ended in the middle of a cycle, and the model was not told yet. */
export interface Interruption {
  /** Whether the answer of the model in that cycle is recorded. The cycle is then run again without asking the model. */
  answered: boolean
  /** The recorded calls of that cycle, as they are known now. */
  calls(): InterruptedCall[]
}

/** A call that was started before an interruption. */
export interface InterruptedCall {
  call: CallPreview
  /** `recorded`: its result is used and it is not made again. `finished`: it ended, and its result is not kept. */
  outcome: "recorded" | "finished" | "remade" | "unknown"
}

/** What the model is told about a durable run that goes on after a crash. */
export function interruptionText(calls: readonly InterruptedCall[]): string {
  return [
    "This run was interrupted: its process ended in the middle of a step. It goes on from its last checkpoint.",
    ...callLines(calls),
  ].join("\n")
}

/** The same about a session whose last run never ended. `calls` is undefined where calls were not logged. */
export function interruptedSessionText(calls: readonly InterruptedCall[] | undefined): string {
  const start =
    "The last run was interrupted: its process ended before the run did. " +
    "Its last step is missing from this conversation."
  return [start, ...(calls ? callLines(calls) : ["Which calls it had started is not recorded."])].join("\n")
}

function callLines(calls: readonly InterruptedCall[]): string[] {
  const unrecorded =
    "Code of that step may also have had effects that are not recorded, such as methods of objects, files and network requests."
  if (calls.length === 0) return [`No recorded call was under way. ${unrecorded}`]
  // The calls whose outcome is unknown come first, so that they are never cut off.
  const sorted = calls.toSorted((one, other) => outcomeOrder.indexOf(one.outcome) - outcomeOrder.indexOf(other.outcome))
  const lines = sorted
    .slice(0, maxListedCalls)
    .map((each) => `- ${oneLine(`${callText(each.call)}: ${outcomeTexts[each.outcome]}`)}`)
  if (calls.length > maxListedCalls) lines.push(`- and ${calls.length - maxListedCalls} more`)
  const isUnknown = calls.some(({ outcome }) => outcome === "unknown")
  return [
    "Calls that it had started:",
    taggedText("output", lines.join("\n")),
    unrecorded,
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
