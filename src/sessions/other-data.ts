// What the model and the host learn if a program resumes a conversation with other injected data than before.
import { oneLine } from "../core/text/tagged-text.ts"
import type { RuntimeLoss } from "../runtime/runtime.ts"

/** One paragraph for the names whose new data cells see, and one for the names whose new data they do not see. */
export function otherDataForModel(lost: readonly RuntimeLoss[]): string[] {
  const [fresh, kept] = [namesWith(lost, "new"), namesWith(lost, "kept")]
  const texts: string[] = []
  if (fresh.length > 0) {
    texts.push(
      `The program has new data in ${listed(fresh)}. Cells see it now. Values that you made before are still made from ` +
        "the earlier data.",
    )
  }
  if (kept.length > 0) {
    texts.push(
      `The program has new data for ${listed(kept)}, but this session has changed the earlier data. Cells see that ` +
        "version, without the new data. Say so where it matters.",
    )
  }
  return texts
}

/** The warning for the host: the names whose new data cells do not see. Undefined if there are none. */
export function keptDataWarning(lost: readonly RuntimeLoss[]): { message: string; names: string[] } | undefined {
  const names = namesWith(lost, "kept")
  if (names.length === 0) return undefined
  const values = `{ ${names.join(", ")} }`
  const message =
    `This session changed ${listed(names)}, and the program has other data for it now. Cells see the session's ` +
    `version. To replace it by the new data: session.runtime.update(${values}), or session.send(prompt, { values: ` +
    `${values} }). A new session begins with it.`
  return { message: oneLine(message, 4_000), names }
}

function namesWith(lost: readonly RuntimeLoss[], otherData: "new" | "kept"): string[] {
  return [...new Set(lost.filter((each) => each.otherData === otherData).map(({ name }) => name))]
}

const listed = (names: readonly string[]) => oneLine(names.join(", "), 2_000)
