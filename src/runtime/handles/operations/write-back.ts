// Updates a host container in place with the contents of a changed copy.
import { isDeepStrictEqual } from "node:util"
import { isObject } from "../../../core/object.ts"
import { type CrossingForm, crossingFormOf } from "../codec/crossing-form.ts"

/** Host code that holds the container, or a part that the copy still has, sees the change. Returns false and changes
 *  nothing if the two are not data of one kind or the container is read-only; the caller then assigns the copy. */
export function writeBack(target: unknown, copy: unknown): boolean {
  return new InPlaceUpdate().merge(target, copy) === target && Object(target) === target
}

type Container = Extract<CrossingForm, "array" | "object" | "map" | "set">

class InPlaceUpdate {
  /** The part of the target for each part of the copy. */
  readonly #targetOf = new Map<object, object>()
  /** Parts of the target that have their new contents. Two parts of the copy must not fill the same part. */
  readonly #filled = new Set<object>()
  #comparisons = 0

  /** Returns the old part with its new contents if it can be updated in place, or else the new value. */
  merge(old: unknown, next: unknown): unknown {
    if (!isObject(next)) return next
    const target = this.#targetOf.get(next)
    if (target || old === next) return target ?? old
    const form = containerForm(next)
    if (!form) return this.#matchEqual(old, next) ? old : next
    if (!isObject(old) || containerForm(old) !== form || this.#filled.has(old) || !canChange(old)) return next
    this.#targetOf.set(next, old)
    this.#filled.add(old)
    this.#fill(old, next, form)
    return old
  }

  #fill(old: object, next: object, form: Container): void {
    switch (form) {
      case "array":
        return this.#fillArray(old as unknown[], next as unknown[])
      case "object":
        return this.#fillObject(old as Record<string, unknown>, next as Record<string, unknown>)
      case "map": {
        const [target, copy] = [old as Map<unknown, unknown>, next as Map<unknown, unknown>]
        const keys = this.#match([...target.keys()], [...copy.keys()])
        const values = [...copy.values()].map((value, at) => this.merge(target.get(keys[at]), value))
        target.clear()
        for (const [at, key] of keys.entries()) target.set(key, values[at])
        return
      }
      case "set": {
        const target = old as Set<unknown>
        const elements = this.#elements([...target], [...(next as Set<unknown>)])
        target.clear()
        for (const element of elements) target.add(element)
      }
    }
  }

  #fillArray(target: unknown[], copy: readonly unknown[]): void {
    const names = Object.keys(copy)
    const isWhole = names.length === copy.length && Object.keys(target).length === target.length
    const values = isWhole
      ? this.#elements(target, copy)
      : names.map((name) => this.merge(Reflect.get(target, name), Reflect.get(copy, name)))
    if (!isWhole) for (const name of Object.keys(target)) Reflect.deleteProperty(target, name)
    for (const [at, name] of names.entries()) Reflect.set(target, name, values[at])
    target.length = copy.length
  }

  #fillObject(target: Record<string, unknown>, copy: Record<string, unknown>): void {
    for (const key of Object.keys(target)) if (!Object.hasOwn(copy, key)) Reflect.deleteProperty(target, key)
    for (const key of Object.keys(copy)) {
      const value = this.merge(Object.hasOwn(target, key) ? target[key] : undefined, copy[key])
      Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
    }
  }

  /** Elements that the copy still has keep their identity at any position. If no element was added or removed, the
   *  other elements are matched by position and updated in place. */
  #elements(old: readonly unknown[], next: readonly unknown[]): unknown[] {
    const matched = this.#match(old, next)
    const kept = new Set(matched)
    return matched.map((element, at) => {
      const isKept = element !== next[at] || old.length !== next.length || kept.has(old[at])
      return isKept ? this.merge(element, next[at]) : this.merge(old[at], next[at])
    })
  }

  /** Returns, for each new element, an equal old element that is not matched yet, or else the new element. */
  #match(old: readonly unknown[], next: readonly unknown[]): unknown[] {
    const taken = new Set<unknown>()
    const take = (element: unknown, candidate: unknown): boolean => {
      if (!isObject(element) || taken.has(candidate) || !this.#matchEqual(candidate, element)) return false
      taken.add(candidate)
      return true
    }
    const matched = next.map((element, at) => (take(element, old[at]) ? old[at] : element))
    const isOpen = (element: unknown, at: number) => element === next[at] && isObject(element)
    if (!matched.some(isOpen)) return matched
    const rest = Map.groupBy(
      old.filter((element) => isObject(element) && !taken.has(element)),
      summaryOf,
    )
    return matched.map((element, at) => {
      if (!isOpen(element, at)) return element
      const candidates = rest.get(summaryOf(element)) ?? []
      return candidates.slice(0, maxCandidates).find((candidate) => take(element, candidate)) ?? element
    })
  }

  /** Returns true if two parts have equal contents at every level, and marks them as done. */
  #matchEqual(old: unknown, next: object): boolean {
    const pairs = new Map<object, unknown>()
    if (!this.#isSame(old, next, pairs)) return false
    for (const [part, made] of pairs) {
      this.#filled.add(part)
      if (isObject(made)) this.#targetOf.set(made, part)
    }
    return true
  }

  /** After `maxComparisons` the answer is always false. The contents are still written, but an equal object may be
   *  replaced. */
  #isSame(a: unknown, b: unknown, pairs: Map<object, unknown>): boolean {
    if (Object.is(a, b)) return true
    if (!isObject(a) || !isObject(b) || ++this.#comparisons > maxComparisons) return false
    if (pairs.has(a)) return pairs.get(a) === b
    const form = containerForm(a)
    if (form !== containerForm(b) || this.#filled.has(a) || this.#targetOf.has(b)) return false
    pairs.set(a, b)
    if (!form) return crossingFormOf(a) === "leaf" && isDeepStrictEqual(a, b)
    if (form === "object" || form === "array") return this.#hasSameMembers(a, b, pairs)
    const [left, right] = [partsOf(a, form), partsOf(b, form)]
    return left.length === right.length && left.every((part, at) => this.#isSame(part, right[at], pairs))
  }

  #hasSameMembers(a: object, b: object, pairs: Map<object, unknown>): boolean {
    const [left, right] = [Object.keys(a), Object.keys(b)]
    if (left.length !== right.length || (Array.isArray(a) && Array.isArray(b) && a.length !== b.length)) return false
    return left.every((key, at) => key === right[at] && this.#isSame(Reflect.get(a, key), Reflect.get(b, key), pairs))
  }
}

const maxComparisons = 5_000_000
const maxCandidates = 20

function containerForm(value: object): Container | undefined {
  if (typeof value === "function") return undefined
  const form = crossingFormOf(value)
  return form === "array" || form === "object" || form === "map" || form === "set" ? form : undefined
}

/** Returns true if the contents of a container can be replaced. */
function canChange(value: object): boolean {
  if (!Object.isExtensible(value)) return false
  if (Array.isArray(value)) return Object.getOwnPropertyDescriptor(value, "length")?.writable === true
  return Object.values(Object.getOwnPropertyDescriptors(value)).every(({ writable }) => writable)
}

function partsOf(value: object, form: Container): readonly unknown[] {
  if (form === "map") return [...(value as Map<unknown, unknown>)].flat()
  if (form === "set") return [...(value as Set<unknown>)]
  return Object.entries(value).flat()
}

/** Returns a text that is the same for equal elements and mostly different for others. */
function summaryOf(value: unknown): string {
  const form = isObject(value) ? containerForm(value) : undefined
  if (!isObject(value) || !form) return "a leaf"
  const parts = partsOf(value, form).slice(0, 40)
  return parts.map((part) => (isObject(part) ? "an object" : `${typeof part} ${shortText(part)}`)).join()
}

// Converting a large bigint to text is slow.
function shortText(part: unknown): string {
  return typeof part === "bigint" ? "" : String(part).slice(0, 40)
}
