// What the model and the host learn about objects that could not be restored.
import type { EventBody } from "../../core/event.ts"
import { listFirst, oneLine, taggedText } from "../../core/text/tagged-text.ts"
import type { RuntimeLoss } from "../../runtime/runtime.ts"
import { keptDataWarning, otherDataForModel } from "../../sessions/other-data.ts"
import { stateLostCode } from "./fold-conversation.ts"

export function lostObjectsText(lost: readonly RuntimeLoss[]): string {
  const gone = lost.filter(({ asInjected, otherData }) => !asInjected && otherData === undefined)
  const describe = ({ name, path = "", reason }: RuntimeLoss) => oneLine(`${name}${path}: ${reason}`)
  const paragraphs: string[] = []
  if (gone.length > 0) {
    paragraphs.push(
      "The session goes on in a new runtime. What you made before is there, except:",
      taggedText("output", listFirst(gone, maxListed, describe, "- ").join("\n")),
      "Look before you rely on any of these; make again what you need.",
    )
  }
  const created = recreatedObjects(lost)
  if (created) paragraphs.push(`${created.text} Look at the current state before you rely on it.`)
  return [...paragraphs, ...otherDataForModel(lost)].join("\n")
}

/** Returns the warnings about injected objects that were recreated, and about new data that cells do not see. */
export function lostObjectsWarnings(lost: readonly RuntimeLoss[]): EventBody[] {
  const recreated = stateLostWarning(lost)
  const kept = keptDataWarning(lost)
  return [
    ...(recreated ? [recreated] : []),
    ...(kept ? [{ type: "warning-raised" as const, code: "data-kept", ...kept }] : []),
  ]
}

function stateLostWarning(lost: readonly RuntimeLoss[]): EventBody | undefined {
  const created = recreatedObjects(lost)
  if (!created) return undefined
  const { names, text } = created
  const reasons = lost
    .filter(({ asInjected, object }) => asInjected && object === undefined)
    .map(({ name, reason }) => oneLine(`${name}: ${reason}`))
  const cure = "Give their classes a codec, or mark them as external: docs/durability.md."
  const message = [text, ...(reasons.length > 0 ? [`${reasons.join("; ")}.`] : []), cure].join(" ")
  return { type: "warning-raised", code: stateLostCode, message, names }
}

function recreatedObjects(lost: readonly RuntimeLoss[]): { names: string[]; text: string } | undefined {
  // A name from an archive may be any text.
  const names = [...new Set(lost.flatMap(({ name, asInjected }) => (asInjected && isName(name) ? [name] : [])))]
  if (names.length === 0) return undefined
  const [objects, were, them] = names.length === 1 ? ["object", "was", "it"] : ["objects", "were", "them"]
  const text =
    `The ${objects} ${oneLine(names.join(", "), 2000)} ${were} created anew; ` +
    `changes that earlier cells made to ${them} are gone.`
  return { names, text }
}

const isName = (text: string) => /^[\p{ID_Start}$_][\p{ID_Continue}$]{0,199}$/u.test(text)

const maxListed = 50
