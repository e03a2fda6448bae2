import type { AnyFunction } from "../bindings.ts"

// Iterating over the objects of the host for a peer.

export function iteratorOf(value: unknown, title: string): object {
  const start = iteratorMethod(value)
  const iterator: unknown = start && Reflect.apply(start, value, [])
  if (typeof iterator !== "object" || iterator === null) throw new TypeError(`${title} is not iterable`)
  return iterator
}

export async function listOf(value: unknown, title: string): Promise<unknown[]> {
  const start = iteratorMethod(value)
  if (!start) throw new TypeError(`${title} is not iterable`)
  const items: unknown[] = []
  const iterable = { [Symbol.asyncIterator]: () => Reflect.apply(start, value, []) } as AsyncIterable<unknown>
  for await (const item of iterable) {
    if (items.length === mostListed) {
      throw new RangeError(
        `${title} has more than ${mostListed} elements, which cannot be listed at once. Ask for a part.`,
      )
    }
    items.push(item)
  }
  return items
}

const mostListed = 1_000_000

export function iteratorMethod(value: unknown): AnyFunction | undefined {
  return symbolMember(value, Symbol.asyncIterator) ?? symbolMember(value, Symbol.iterator)
}

export function symbolMember(value: unknown, symbol: symbol): AnyFunction | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined
  const method: unknown = Reflect.get(value, symbol)
  return typeof method === "function" ? (method as AnyFunction) : undefined
}
