// The codec between two JavaScript processes.
import type { WireCodec } from "../wire.ts"
import { decodeJavaScript } from "./javascript-decode.ts"
import { encodeJavaScript } from "./javascript-encode.ts"

export const javaScriptCodec: WireCodec = {
  encode: (value, name, references) => encodeJavaScript(value, name, references),
  decode: decodeJavaScript,
}
