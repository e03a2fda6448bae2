// Lays out a tree of shown values as text within a budget of characters. Every member of an object gets an equal share
// of the budget first, so that one large member does not hide the others.
import { characterBoundary } from "../../core/message.ts"
import { countText, type ShownGroup, type ShownNode, type ShowStyle, shareFairly } from "./shown-tree.ts"

export interface Shown {
  text: string
  /** True if something is left out. */
  cut: boolean
}

/** The text of a tree in about `budget` characters, at most 100 columns wide where possible. */
export function layOut(root: ShownNode, budget: number, style: ShowStyle): Shown {
  return new Layout(style, budget).node(root, budget, 0, 0)
}

const maxColumns = 100
/** A list that does not fit shows at most so many items. */
const maxItemsOfLongList = 100
/** A list of at most so many items shows all of them, each shortened. */
const maxItemsShownAll = 8
const minItems = 2
const minMemberLength = 8
const maxKeyLength = 40
/** An object with more keys and no nested objects shows several keys on a line. */
const maxKeyLines = 16
/** The length of the note about members that are not shown. */
const noteLength = 20

class Layout {
  readonly #style: ShowStyle
  readonly #lineLengths = new Map<ShownNode, number>()

  /** How many characters may still be quoted to measure strings. */
  #quotable: number

  constructor(style: ShowStyle, budget: number) {
    this.#style = style
    this.#quotable = 20 * budget
  }

  node(node: ShownNode, budget: number, indent: number, column: number): Shown {
    if (node.kind === "group") return this.#group(node, budget, indent, column)
    return node.kind === "string" ? this.#string(node.value, budget) : shortenText(node, budget, indent)
  }

  #string(value: string, budget: number): Shown {
    if (value.length + 2 <= budget) {
      const whole = this.#style.quote(value)
      if (whole.length <= budget) return { text: whole, cut: false }
    }
    const length = ` (${value.length.toLocaleString("en-US")} characters)`
    let room = budget - length.length - 5
    if (room < 1) return { text: "…", cut: true }
    for (;;) {
      const tailLength = room < 24 ? 0 : Math.floor(room / 4)
      const head = value.slice(0, characterBoundary(value, room - tailLength))
      const tail = value.slice(characterBoundary(value, value.length - tailLength))
      const text = this.#style.quote(tail ? `${head.trimEnd()} … ${tail.trimStart()}` : `${head}…`) + length
      // Escapes make the text longer than the slices.
      if (text.length <= budget || room === 1) return { text, cut: true }
      room = Math.max(1, room - Math.max(1, Math.ceil((text.length - budget) / 2)))
    }
  }

  #group(group: ShownGroup, budget: number, indent: number, column: number): Shown {
    const { prefix, brackets, members, total, noun } = group
    if (total === 0) return shortenText({ kind: "text", text: `${prefix}${brackets.join("")}` }, budget, indent)
    const fits = members.length === total && this.#length(group, indent, column) <= budget
    const isList = noun === "item"
    const keys = members.map(({ key }) => (key === undefined || fits ? key : shortKey(key)))
    const shares = fits ? undefined : this.#shares(group, keys, budget, indent, column)
    if (!fits && !shares) return collapsed(group, budget)
    const shown = members.slice(0, shares?.length).map(({ key, joint, node }, at): Shown => {
      const label = (keys[at] ?? "") + joint
      const room = shares?.[at] ?? Number.POSITIVE_INFINITY
      const { text, cut } = this.node(node, room, indent + 2, indent + 2 + label.length)
      return { text: label + text, cut: cut || keys[at] !== key }
    })
    const rest = total - shown.length
    const parts = shown.map(({ text }) => text)
    if (rest > 0) parts.push(`… ${isList ? countText(total, noun) : countText(rest, noun).replace(" ", " more ")}`)
    return { text: this.#join(group, parts, indent, column), cut: rest > 0 || shown.some(({ cut }) => cut) }
  }

  /** How many characters the value of each shown member gets; undefined if no member can be shown. */
  #shares(
    { prefix, members, noun, showsAll, total }: ShownGroup,
    keys: readonly (string | undefined)[],
    budget: number,
    indent: number,
    column: number,
  ): number[] | undefined {
    const isInline = column + budget <= maxColumns
    const isList = noun === "item"
    const frame = prefix.length + 2 + (isInline ? 2 : 2 * indent + 4)
    const note = noteLength + (isInline ? 0 : indent + 2)
    const lengths = members.map(({ node }, at) => this.#length(node, indent + 2, indent + 4 + (keys[at]?.length ?? 0)))
    const fixed = members.map(({ joint, node }, at) => {
      const label = (keys[at]?.length ?? 0) + joint.length
      if (isInline) return label + 2
      return label + (isList && node.kind !== "group" ? itemOverhead(lengths[at] ?? 0, indent) : indent + 4)
    })
    const whole = lengths.map((length, at) => length + (fixed[at] ?? 0))
    if (showsAll || total <= maxItemsShownAll) {
      const least = whole.map((length, at) => Math.min(length, (fixed[at] ?? 0) + minMemberLength))
      const fitting = countFitting(least, budget - frame)
      const count = fitting === total ? fitting : countFitting(least, budget - frame - note)
      if (count === 0) return undefined
      const used = frame + (count === total ? 0 : note) + sum(fixed.slice(0, count))
      return shareFairly(lengths.slice(0, count), budget - used)
    }
    const count = Math.min(countFitting(whole, budget - frame - note), maxItemsOfLongList)
    if (count >= minItems) return lengths.slice(0, count)
    for (let few = Math.min(minItems, members.length); few > 0; few--) {
      const left = budget - frame - note - sum(fixed.slice(0, few))
      if (left >= few * minMemberLength) return shareFairly(lengths.slice(0, few), left)
    }
    return undefined
  }

  #join(group: ShownGroup, parts: readonly string[], indent: number, column: number): string {
    const { prefix, brackets, members, noun } = group
    const [open, close] = brackets
    const { padding } = this.#style
    const line = `${prefix}${open}${padding}${parts.join(", ")}${padding}${close}`
    if (!line.includes("\n") && column + line.length <= maxColumns) return line
    const start = " ".repeat(indent + 2)
    const isFilled =
      (noun === "item" || members.length > maxKeyLines) && members.every(({ node }) => node.kind !== "group")
    const lines = isFilled ? filledLines(parts, maxColumns - indent - 2) : parts
    return `${prefix}${open}\n${start}${lines.join(`,\n${start}`)}\n${" ".repeat(indent)}${close}`
  }

  /** The length of everything that was read of a value. A long string counts by its length without escapes. */
  #length(node: ShownNode, indent: number, column: number): number {
    const line = this.#lineLength(node)
    if (node.kind !== "group" || line + column <= maxColumns) return line
    const isList = node.noun === "item"
    const memberLengths = node.members.map(({ key = "", joint, node: member }) => {
      const own = this.#length(member, indent + 2, indent + 4 + key.length) + key.length + joint.length
      return own + (isList && member.kind !== "group" ? itemOverhead(own, indent) : indent + 4)
    })
    return node.prefix.length + 2 * (indent + 3) + sum(memberLengths)
  }

  #lineLength(node: ShownNode): number {
    const known = this.#lineLengths.get(node)
    if (known !== undefined) return known
    const length = this.#computeLineLength(node)
    this.#lineLengths.set(node, length)
    return length
  }

  #computeLineLength(node: ShownNode): number {
    if (node.kind === "text") return node.text.length + (node.text.includes("\n") ? linesOf(node.text) : 0)
    if (node.kind === "string") {
      const { length } = node.value
      this.#quotable -= length
      // An escape has at most four characters, apart from rare ones.
      return this.#quotable >= 0 ? this.#style.quote(node.value).length : 4 * length + 2
    }
    const lengths = node.members.map(({ key = "", joint, node: member }) => {
      return key.length + joint.length + this.#lineLength(member) + 2
    })
    return node.prefix.length + 2 + sum(lengths) + (node.members.length < node.total ? noteLength : 0)
  }
}

function collapsed({ prefix, brackets: [open, close], total, noun }: ShownGroup, budget: number): Shown {
  const name = prefix.replace(/\(\d+\) $/, " ")
  const short = `${open}…${countText(total, noun)}${close}`
  const text = [name + short, short].find(({ length }) => length <= budget)
  return { text: text ?? "…", cut: true }
}

function shortenText(
  { text, cut = false }: { kind: "text"; text: string; cut?: boolean | undefined },
  budget: number,
  indent: number,
): Shown {
  const indented = indent > 0 && text.includes("\n") ? text.replaceAll("\n", `\n${" ".repeat(indent)}`) : text
  if (indented.length <= budget) return { text: indented, cut }
  return { text: `${indented.slice(0, characterBoundary(indented, Math.max(0, budget - 1)))}…`, cut: true }
}

function shortKey(key: string): string {
  if (key.length <= maxKeyLength) return key
  const quote = /["'`]$/.exec(key)?.[0] ?? ""
  return `${key.slice(0, characterBoundary(key, maxKeyLength - 1 - quote.length))}…${quote}`
}

function countFitting(lengths: readonly number[], budget: number): number {
  let left = budget
  let count = 0
  for (const length of lengths) {
    left -= length
    if (left < 0) break
    count++
  }
  return count
}

/** What a text of several lines may need beside its characters: indentation, and a line end before the next member. */
function linesOf(text: string): number {
  return maxColumns + 20 * text.split("\n").length
}

/** What one item of a filled list needs beside its own characters: the comma, and its part of the indentation. Two
 *  adjacent lines have more than one line's characters. */
function itemOverhead(length: number, indent: number): number {
  const lineOverhead = Math.min(indent + 3, (2 * (length + 2) * (indent + 3)) / (maxColumns - indent - 2))
  return 2 + Math.max(1, Math.ceil(lineOverhead))
}

/** Puts as many parts on a line as fit. */
function filledLines(parts: readonly string[], columns: number): string[] {
  const lines: string[] = []
  let line = ""
  for (const part of parts) {
    if (line === "") line = part
    else if (line.length + part.length + 3 <= columns && !part.includes("\n")) line += `, ${part}`
    else {
      lines.push(line)
      line = part
    }
  }
  return [...lines, line]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
