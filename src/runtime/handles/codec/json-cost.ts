/** What parsing a JSON text would cost, found by a scan of its bytes. */
export interface JsonCost {
  /** About how many bytes of heap the parsed value takes. */
  heapBytes: number
  /** How deep arrays and objects are nested. */
  depth: number
}

/** Scans JSON without parsing it. The cost is an estimate from above: an empty array of two bytes takes more than sixty
 *  on the heap, and an object with a key of its own two hundred, so the length of the text says little. */
export function estimateJsonCost(text: Uint8Array): JsonCost {
  let containers = 0
  let values = 0
  let textBytes = 0
  let keyBytes = 0
  let depth = 0
  let deepest = 0
  const keys = createKeyCosts()
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case quote: {
        const end = endOfString(text, at)
        textBytes += end - at
        if (isKey(text, end + 1)) keyBytes += keys.next(depth, text, at + 1, end)
        at = end
        break
      }
      case openArray:
      case openObject:
        containers++
        if (++depth > deepest) deepest = depth
        if (depth > maxScannedDepth) return { heapBytes: Number.POSITIVE_INFINITY, depth }
        keys.begin(depth)
        break
      case closeArray:
      case closeObject:
        depth--
        break
      case comma:
        values++
    }
  }
  const heapBytes = containers * containerBytes + values * valueBytes + textBytes * 2 + keyBytes
  return { heapBytes, depth: deepest }
}

/** About how many bytes of heap the records of a table take. An object of very many keys takes more for each. */
export function estimateTableBytes(rows: number, columns: number): number {
  return rows * (containerBytes + columns * (columns > 100 ? 4 * valueBytes : valueBytes))
}

function isKey(text: Uint8Array, after: number): boolean {
  let at = after
  while (text[at] === 0x20 || text[at] === 0x0a || text[at] === 0x0d || text[at] === 0x09) at++
  return text[at] === colon
}

interface KeyCosts {
  /** A container begins at this depth. */
  begin(depth: number): void
  /** The cost of the next key of the container at this depth. */
  next(depth: number, text: Uint8Array, start: number, end: number): number
}

/** What keys cost. Objects with the same keys in the same order share the description of them, and any other key takes a
 *  place of its own: the keys of an object up to each of them are remembered by a hash that nobody outside can foresee.
 *  What was displaced by another counts as new again. A key that looks like an index gives its object a list of its own. */
function createKeyCosts(): KeyCosts {
  const paths: number[] = []
  let seen: Uint32Array | undefined
  return {
    begin(depth) {
      paths[depth] = secret
    },
    next(depth, text, start, end) {
      const first = text[start] ?? 0
      if (first >= 0x30 && first <= 0x39) return indexKeyBytes
      seen ??= new Uint32Array(tableSize)
      let hash = (paths[depth] ?? secret) ^ (end - start)
      const step = end - start <= longestHashed ? 1 : Math.ceil((end - start) / longestHashed)
      for (let at = start; at < end; at += step) hash = Math.imul(hash ^ (text[at] ?? 0), multiplier)
      hash = (hash ^ (hash >>> 15)) >>> 0 || 1
      paths[depth] = hash
      const place = hash % tableSize
      if (seen[place] === hash) return knownKeyBytes
      seen[place] = hash
      return newKeyBytes
    },
  }
}

const tableSize = 4096
// Deeper than anything that is accepted.
const maxScannedDepth = 20_000
const longestHashed = 64
const [secret = 0, odd = 0] = crypto.getRandomValues(new Int32Array(2))
const multiplier = odd | 1

function endOfString(text: Uint8Array, start: number): number {
  let near = start + 1
  // Most texts are short: looking at their bytes here is faster than a search.
  for (const limit = Math.min(text.length, start + 32); near < limit; near++) {
    const byte = text[near]
    if (byte === quote) return near
    if (byte === backslash) break
  }
  for (let at = near; ; ) {
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
const colon = 0x3a
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
// Measured on Node 24, see the tests: an empty array takes 16 to 32 bytes plus its place in the parent.
const containerBytes = 64
const valueBytes = 24
const knownKeyBytes = 8
const newKeyBytes = 120
const indexKeyBytes = 200

/** More heap than any byte of JSON takes when it is parsed: `[],` takes 88 bytes for three, `"1":0,` 224 for six. */
export const maxHeapPerByte = 64
