import { decodeJavaScript } from "./javascript-decode.ts"
import { encodeJavaScript } from "./javascript-encode.ts"
import type { Codec } from "./wire.ts"

/** How values cross between two processes of JavaScript. */
export const javaScriptCodec: Codec = {
  encode: (value, name, references) => encodeJavaScript(value, name, references),
  decode: decodeJavaScript,
}
