// The hash of the whole state of the store. It does not depend on the language that computes it.
import { createHash } from "node:crypto"
import { pythonFloat } from "./python-text.ts"
import type { Store } from "./store.ts"

/** SHA-256 of JSON with sorted keys, without spaces and nulls, with whole numbers as integers. */
export function stateHash({ users, orders, products }: Store): string {
  const variantsById = [...products].map(([id, product]) => {
    const variants = new Map(product.variants.map((variant) => [variant.item_id, variant]))
    return [id, { ...product, variants }] as const
  })
  const text = sortedJson({ users, orders, products: new Map(variantsById) })
  return createHash("sha256").update(text).digest("hex")
}

function sortedJson(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : pythonFloat(value)
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`
  const entries: [string, unknown][] = value instanceof Map ? [...value] : Object.entries(value)
  const kept = entries.filter(([, member]) => member !== null && member !== undefined)
  const texts = kept
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${sortedJson(member)}`)
  return `{${texts.join(",")}}`
}
