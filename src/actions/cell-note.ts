// The line after the output of a cell: the images it showed and the names it created, changed or removed.
import { oneLine } from "../core/text/tagged-text.ts"
import type { CellExecution, Runtime } from "../runtime/runtime.ts"

/** Returns one line of at most 200 characters, such as `(new: r: Promise (not awaited), total: number)`; "" if there is
 *  nothing to say. For a cell without output it says that there is none, or that the last value was undefined. */
export function cellNote(execution: CellExecution, hasOutput: boolean, language: Runtime["language"]): string {
  const { created, reassigned, removed } = execution.changes
  const images = execution.images?.length ?? 0
  const typed = (name: string) => {
    const type = execution.types?.[name]
    return type === undefined
      ? oneLine(name, maxNameChars)
      : `${oneLine(name, maxNameChars)}: ${oneLine(type, maxTypeChars)}`
  }
  const isUndefined = execution.ok && execution.endsInUndefined && !hasOutput && images === 0
  const parts = [
    ...(isUndefined ? [language === "python" ? "None" : "undefined"] : []),
    ...(images > 0 ? [images === 1 ? "1 image" : `${images} images`] : []),
  ]
  const lists = [
    { title: "new", items: created.filter((name) => execution.types?.[name] !== "module").map(typed) },
    { title: "changed", items: reassigned.map(typed) },
    { title: "removed", items: removed.map((name) => oneLine(name, maxNameChars)) },
  ].filter(({ items }) => items.length > 0)
  for (const [at, { title, items }] of lists.entries()) {
    // Every later list has room for its title and the number of its names.
    const later = lists.slice(at + 1).map((list) => `${list.title}: ${list.items.length}`)
    const used = ["()", ...parts, `${title}: `, ...later].join("; ").length
    parts.push(`${title}: ${listThatFits(items, maxChars - used)}`)
  }
  if (parts.length > 0) return `(${parts.join("; ")})`
  return hasOutput || !execution.ok ? "" : "(no output)"
}

const maxChars = 200
const maxNameChars = 40
const maxTypeChars = 50

/** Lists the first items that have room, and how many more there are. */
function listThatFits(items: readonly string[], room: number): string {
  for (let count = items.length; count > 0; count--) {
    const rest = items.length - count
    const text = items.slice(0, count).join(", ") + (rest > 0 ? ` and ${rest} more` : "")
    if (text.length <= room) return text
  }
  return String(items.length)
}
