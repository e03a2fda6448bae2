// Parses JSON without changing its numbers: a number that JavaScript would round is passed on as it is written.

/** Returns undefined for text that is no JSON object or list. `wrapNumber` gets the text of each number that would be
 *  written differently, such as an id of 20 digits. */
export function parseJsonExactly(json: string, wrapNumber: (source: string) => unknown): object | undefined {
  if (!/^\s*[[{]/.test(json)) return undefined
  try {
    const data: unknown = JSON.parse(json, (_key, value: unknown, context?: { source?: string }) => {
      const source = context?.source
      return typeof value === "number" && source !== undefined && String(value) !== source ? wrapNumber(source) : value
    })
    return typeof data === "object" && data !== null ? data : undefined
  } catch {
    return undefined
  }
}
