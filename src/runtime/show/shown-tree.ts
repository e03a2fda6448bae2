// The part of a value that is shown: a tree of texts, strings and groups, small enough for the budget. The readers
// build it, `lay-out.ts` turns it into text.

export type ShownNode = ShownText | ShownString | ShownGroup

/** A text that is shown as it is, such as a number, a function or a date. */
export interface ShownText {
  kind: "text"
  text: string
  /** True if the text itself leaves something out. */
  cut?: boolean | undefined
}

/** A string, which is quoted when it is shown. */
export interface ShownString {
  kind: "string"
  value: string
}

/** An array, object, Map, Set … with the members that were read. */
export interface ShownGroup {
  kind: "group"
  /** The class name and the size, such as `Map(2) `. */
  prefix: string
  brackets: readonly [open: string, close: string]
  /** What one member is called. */
  noun: "key" | "item" | "entry"
  /** True if all members should be shown, each shortened, instead of the first ones whole. */
  showsAll: boolean
  members: ShownMember[]
  /** The number of all members, also those that were not read. */
  total: number
}

export interface ShownMember {
  /** The key as text; absent for the item of a list. */
  key?: string | undefined
  /** The text between key and value, such as `: `. */
  joint: string
  node: ShownNode
}

/** How a language writes strings, keys and brackets. */
export interface ShowStyle {
  quote(text: string): string
  key(name: string): string
  /** The space inside brackets. */
  padding: "" | " "
}

/** Divides a budget: everyone gets an equal share, and what small ones do not need goes to the large ones. */
export function shareFairly(wants: readonly number[], budget: number): number[] {
  const shares = wants.map(() => 0)
  const order = wants.map((_want, index) => index).sort((a, b) => (wants[a] ?? 0) - (wants[b] ?? 0))
  let left = Math.max(0, budget)
  for (const [at, index] of order.entries()) {
    const share = Math.min(wants[index] ?? 0, Math.floor(left / (order.length - at)))
    shares[index] = share
    left -= share
  }
  return shares
}

/** `1 item`, `2,000 items`. */
export function countText(count: number, noun: ShownGroup["noun"]): string {
  const plural = noun === "entry" ? "entries" : `${noun}s`
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : plural}`
}
