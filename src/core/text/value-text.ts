// Shows values as text for people who must decide about a call, without running any code of the value.
import { types } from "node:util"
import { bytesOf } from "../values/digest.ts"

export interface ValueTextOptions {
  /** Returns a name that is shown before an object or function. */
  nameOf?: ((value: object) => string | undefined) | undefined
  /** How many levels of arrays and objects are shown. Default 50. */
  depth?: number | undefined
  /** How many members of an array or object are shown. Default: all. */
  members?: number | undefined
  /** How many characters of a string are shown. Default: all. */
  textLength?: number | undefined
  /** The rest of a longer text is left out, with a note. */
  maxChars: number
  /** Breaks longer values into lines. Default: one line. */
  width?: number | undefined
}

/** Shows a value as text. Runs no getter, `toJSON`, `util.inspect.custom` or Proxy trap. Invisible characters, and
 *  characters that change how others are displayed (control characters, bidirectional and zero-width marks), are
 *  shown as escapes. */
export function valueText(value: unknown, options: ValueTextOptions): string {
  const { depth = 50, members = Infinity, textLength = Infinity, width = Infinity, nameOf, maxChars } = options
  const path = new Set<object>()
  let left = maxChars

  const spend = (text: string): string => {
    left -= text.length
    return text
  }

  const quoted = (text: string, indent = 0): string => {
    const shown = Math.min(textLength, Math.max(left, 0))
    const cut = text.length > shown ? text.slice(0, shown) : text
    const rest = text.length - cut.length
    const escaped = (part: string) => `"${escapeInvisible(part.replaceAll("\\", "\\\\").replaceAll('"', '\\"'))}"`
    // A string with line breaks is shown as a sum of strings, so that no line can be mistaken for another argument.
    const lines = width === Infinity ? [cut] : cut.split(/(?<=\n)/)
    const whole = lines.map(escaped).join(` +\n${" ".repeat(indent)}`)
    return spend(`${whole}${rest > 0 ? `… ${rest} more characters` : ""}`)
  }

  const shown = (found: unknown, indent: number): string => {
    if (left <= 0) return "…"
    if (typeof found === "string") return quoted(found, indent)
    if (typeof found === "function") return spend(functionText(found))
    if (typeof found === "bigint") return spend(`${found}n`)
    if (typeof found === "symbol") return spend(escapeInvisible(String(found)))
    if (typeof found !== "object" || found === null) return spend(Object.is(found, -0) ? "-0" : String(found))
    return objectText(found, indent)
  }

  const functionText = (found: object): string => {
    const name = nameOf?.(found) ?? dataMember(found, "name")
    return typeof name === "string" && name !== "" ? `[function ${escapeInvisible(name)}]` : "[function]"
  }

  const objectText = (found: object, indent: number): string => {
    const name = nameOf?.(found)
    const head = name === undefined ? "" : spend(`${escapeInvisible(name)}: `)
    if (types.isProxy(found)) return head === "" ? spend("[proxy]") : head.slice(0, -2)
    if (path.has(found)) return spend(`${head}[circular]`)
    const simple = simpleText(found)
    if (simple !== undefined) return spend(head + escapeInvisible(simple))
    const type = typeName(found)
    const open = Array.isArray(found) ? "[" : "{"
    const close = Array.isArray(found) ? "]" : "}"
    if (path.size >= depth) return spend(`${head}${type}${open} … ${close}`)
    path.add(found)
    const parts: string[] = []
    let rest = 0
    for (const [key, member] of entriesOf(found)) {
      if (parts.length >= members || left <= 0) {
        rest++
        if (rest > 1_000_000) break
        continue
      }
      const label = key === undefined ? "" : keyText(key)
      parts.push(label + (member === accessorMark ? spend("[getter]") : shown(member, indent + 2)))
    }
    path.delete(found)
    if (rest > 0) parts.push(`… ${rest} more`)
    return head + type + joined(parts, open, close, indent)
  }

  const keyText = (key: { text: string } | { of: unknown }): string => {
    if ("of" in key) return `${shown(key.of, 0)} => `
    const isPlain = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key.text) && escapeInvisible(key.text) === key.text
    return spend(isPlain ? `${key.text}: ` : `${quoted(key.text)}: `)
  }

  const joined = (parts: readonly string[], open: string, close: string, indent: number): string => {
    if (parts.length === 0) return open + close
    const line = `${open} ${parts.join(", ")} ${close}`
    if (width === Infinity || (line.length + indent <= width && !line.includes("\n"))) return line
    const space = " ".repeat(indent + 2)
    return `${open}\n${parts.map((part) => `${space}${part},\n`).join("")}${" ".repeat(indent)}${close}`
  }

  return shown(value, 0)
}

/** Escapes characters that are invisible or change how other text is displayed. */
export function escapeInvisible(text: string): string {
  return text.replace(invisibleCharacters, (found, at: number) => {
    if (found === emojiStyle && /\p{Extended_Pictographic}$/u.test(text.slice(Math.max(0, at - 2), at))) return found
    const short = shortEscapes.get(found)
    return short ?? `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
  })
}

const shortEscapes = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
])

// Control and format characters (bidirectional marks, zero-width characters, tags), line separators, lone surrogates,
// unusual spaces, and characters that show nothing, such as variation selectors. U+FE0F is usual after an emoji.
const invisibleCharacters =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/gu

/** The variation selector that shows the character before it as an emoji. */
const emojiStyle = "\ufe0f"

const accessorMark = Symbol("accessor")

/** Yields the members of a container without running any of its code. */
function* entriesOf(value: object): Generator<[key: { text: string } | { of: unknown } | undefined, member: unknown]> {
  if (types.isMap(value)) for (const [key, member] of Map.prototype.entries.call(value)) yield [{ of: key }, member]
  if (types.isSet(value)) for (const member of Set.prototype.values.call(value)) yield [undefined, member]
  const isArray = Array.isArray(value)
  for (const key of Reflect.ownKeys(value)) {
    if (isArray && key === "length") continue
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (!property || (types.isNativeError(value) && key === "stack")) continue
    const isElement = isArray && typeof key === "string" && /^\d+$/.test(key)
    const text = typeof key === "symbol" ? `[${String(key)}]` : key
    yield [isElement ? undefined : { text }, property.get || property.set ? accessorMark : property.value]
  }
}

function simpleText(value: object): string | undefined {
  if (types.isDate(value)) {
    const time = Date.prototype.getTime.call(value)
    return Number.isNaN(time) ? "Invalid Date" : Date.prototype.toISOString.call(new Date(time))
  }
  if (types.isRegExp(value)) {
    const source = Object.getOwnPropertyDescriptor(RegExp.prototype, "source")?.get
    return `/${String(source && Reflect.apply(source, value, []))}/`
  }
  if (types.isPromise(value)) return "[Promise]"
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return bytesText(value)
  return undefined
}

function bytesText(value: object): string {
  const [bytes, type] = bytesOf(value)
  const first = Buffer.from(bytes.subarray(0, 64)).toString("hex")
  return `${type} of ${bytes.length} bytes <${first}${bytes.length > 64 ? "…" : ""}>`
}

function typeName(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === Array.prototype || prototype === null
  if (isPlain || typeof prototype !== "object") return ""
  const maker = dataMember(prototype, "constructor")
  const name = typeof maker === "function" ? dataMember(maker, "name") : undefined
  return typeof name === "string" && name !== "" ? `${escapeInvisible(name)} ` : ""
}

function dataMember(value: object, key: string): unknown {
  return types.isProxy(value) ? undefined : Object.getOwnPropertyDescriptor(value, key)?.value
}
