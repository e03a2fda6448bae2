// Shows values as text for the model within a budget of characters: all keys of the upper levels, the first items of
// long lists with their count, the beginning and the end of long strings with their length.
import { inspect } from "node:util"
import { cannotShow } from "./inspect-safely.ts"
import { layOut, type Shown } from "./lay-out.ts"
import { parseJsonExactly } from "./parse-json.ts"
import { readValue, SourceNumber } from "./read-value.ts"
import type { ShowStyle } from "./shown-tree.ts"

/** The budget if the caller gives none. */
export const defaultShownChars = 5000

/** Shows a value as a REPL does, in about `maxChars` characters. Never throws. The time depends on `maxChars`, not on
 *  the size of the value, apart from the keys of an object, which are listed. */
export function showValue(value: unknown, maxChars = defaultShownChars): Shown {
  try {
    return show(value, maxChars, replStyle)
  } catch (error) {
    return { text: cannotShow(value, error), cut: true }
  }
}

/** Shows JSON text by its structure, in about `maxChars` characters. Undefined if the text is no JSON object or list.
 *  */
export function showJson(json: string, maxChars: number): Shown | undefined {
  const data = parseJsonExactly(json, (source) => new SourceNumber(source))
  return data && show(data, maxChars, jsonStyle)
}

function show(value: unknown, maxChars: number, style: ShowStyle): Shown {
  return layOut(readValue(value, style, Math.ceil(maxChars / 2) + 2), maxChars, style)
}

const replStyle: ShowStyle = {
  quote: (text) => inspect(text, { breakLength: Number.POSITIVE_INFINITY, maxStringLength: null }),
  key: (name) => (/^[a-zA-Z_]\w*$/.test(name) ? name : replStyle.quote(name)),
  padding: " ",
}

const jsonStyle: ShowStyle = {
  quote: (text) => JSON.stringify(text),
  key: (name) => JSON.stringify(name),
  padding: "",
}
