// Iterates over host objects for a peer.
import type { AnyFunction } from "../../bindings.ts"

export function startIterator(value: unknown, title: string): object {
  const start = iteratorMethod(value)
  const iterator: unknown = start && Reflect.apply(start, value, [])
  if (typeof iterator !== "object" || iterator === null) throw new TypeError(`${title} is not iterable`)
  return iterator
}

export async function collectElements(value: unknown, title: string): Promise<unknown[]> {
  const start = iteratorMethod(value)
  if (!start) throw new TypeError(`${title} is not iterable`)
  const items: unknown[] = []
  const iterable = { [Symbol.asyncIterator]: () => Reflect.apply(start, value, []) } as AsyncIterable<unknown>
  for await (const item of iterable) {
    if (items.length === maxElements) {
      throw new RangeError(
        `${title} has more than ${maxElements} elements, which cannot be listed at once. Ask for a part.`,
      )
    }
    items.push(item)
  }
  return items
}

const maxElements = 1_000_000

export function iteratorMethod(value: unknown): AnyFunction | undefined {
  return methodBySymbol(value, Symbol.asyncIterator) ?? methodBySymbol(value, Symbol.iterator)
}

export function methodBySymbol(value: unknown, symbol: symbol): AnyFunction | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined
  const method: unknown = Reflect.get(value, symbol)
  return typeof method === "function" ? (method as AnyFunction) : undefined
}
