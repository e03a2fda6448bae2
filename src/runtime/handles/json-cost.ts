/** What parsing a JSON text would cost, found by a scan of its bytes. */
export interface JsonCost {
  /** About how many bytes of heap the parsed value takes. */
  heapBytes: number
  /** How deep arrays and objects are nested. */
  depth: number
}

/** Scans JSON without parsing it. The cost is an estimate from above: an empty array of two bytes takes more than sixty
 *  on the heap, so the length of the text says little. */
export function jsonCost(text: Uint8Array): JsonCost {
  let containers = 0
  let values = 0
  let textBytes = 0
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case quote: {
        const end = endOfString(text, at)
        textBytes += end - at
        at = end
        break
      }
      case openArray:
      case openObject:
        containers++
        if (++depth > deepest) deepest = depth
        break
      case closeArray:
      case closeObject:
        depth--
        break
      case comma:
        values++
    }
  }
  return { heapBytes: containers * containerBytes + values * valueBytes + textBytes * 2, depth: deepest }
}

function endOfString(text: Uint8Array, start: number): number {
  for (let at = start + 1; ; ) {
    const end = text.indexOf(quote, at)
    if (end < 0) return text.length
    let backslashes = 0
    while (text[end - 1 - backslashes] === backslash) backslashes++
    if (backslashes % 2 === 0) return end
    at = end + 1
  }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
// Measured on Node 24: an empty array takes 16 to 32 bytes plus its place in the parent, an object with two keys 56.
export const containerBytes = 64
export const valueBytes = 24
