// Turns the payload of a snapshot into live values: declares code, resolves references, and puts everything in place.
import { types } from "node:util"
import { isObject } from "../../core/object.ts"
import { notInjectedReason } from "../bindings/used-objects.ts"
import type { CellContext } from "../js/execute-cell.ts"
import type { BoundValue } from "../js/namespace.ts"
import { unwrapObjectProxy } from "../js/proxies/function-proxy.ts"
import type { RuntimeLoss } from "../runtime.ts"
import type { Codecs } from "./codec.ts"
import { decodeOrder } from "./decode-order.ts"
import { globalName } from "./heap/object-kinds.ts"
import { type Payload, propertyFlags, type Reference } from "./payload.ts"
import { redeclareCode } from "./redeclare-code.ts"
import { ordinaryProperty } from "./undo/own-properties.ts"

export interface RestoreOptions {
  codecs: Codecs
  /** The values the host has bound, by name. */
  bound: ReadonlyMap<string, BoundValue>
  /** True for an injected name that gets a copy; false if the data is restored into the host's own object. */
  isCopied(name: string): boolean
}

/** Completes the values in `names` and `contents` of a payload. Returns what could not be restored. */
export async function restorePayload(
  payload: Payload,
  context: CellContext,
  options: RestoreOptions,
): Promise<RuntimeLoss[]> {
  const { references, fillings } = payload
  const lost: RuntimeLoss[] = []
  const resolved = await resolveReferences(payload, context, options, lost)
  const places = references.map((): Payload["places"] => [])
  for (const entry of payload.places) places[entry[2]]?.push(entry)
  const fillingOf = new Map<object, Payload["fillings"][number]>(fillings.map((filling) => [filling[1], filling]))

  const put = (number: number) => {
    for (const [container, key] of places[number] ?? []) {
      Reflect.defineProperty(container, key, ordinaryProperty(resolved[number]))
      const filling = fillingOf.get(container)
      if (filling) fillContainer(filling)
    }
  }

  setPrototypes(payload, resolved)
  for (const [number, reference] of references.entries()) if (reference.type !== "codec") put(number)
  for (const filling of fillings) fillContainer(filling)
  const injected = namesUnder(payload.contents, payload)
  const own = namesUnder(payload.names, payload)
  for (const number of decodeOrder(payload)) {
    const reference = references[number]
    if (reference?.type !== "codec") continue
    const name = injected.get(number) ?? ""
    const current = options.isCopied(name) ? undefined : unwrapObjectProxy(options.bound.get(name)?.value)
    const decoded = decodeInstance(reference, current, options.codecs)
    if ("problem" in decoded) {
      lost.push({ name: injected.get(number) ?? own.get(number) ?? reference.codec, reason: decoded.problem })
    } else resolved[number] = decoded.value
    put(number)
  }
  defineProperties(payload, resolved)
  return lost
}

async function resolveReferences(payload: Payload, context: CellContext, options: RestoreOptions, lost: RuntimeLoss[]) {
  const { references, declarations } = payload
  const contents = new Map(payload.contents)
  const resolved: unknown[] = references.map((reference) => {
    switch (reference.type) {
      case "binding":
        return findBinding(reference.name, contents, options, lost)
      case "global": {
        const value: unknown = Reflect.get(globalThis, reference.name)
        return isObject(value) && globalName(value) === reference.name ? value : undefined
      }
      case "part":
        return reference.value
      case "error":
        return createError(reference.name)
      default:
        return undefined
    }
  })
  const declared = await redeclareCode(declarations, context, {
    lost,
    superclass(number, soFar) {
      const reference = references[number]
      return reference?.type === "code" ? soFar[reference.declaration] : resolved[number]
    },
  })
  return references.map((reference, at) => (reference.type === "code" ? declared[reference.declaration] : resolved[at]))
}

function findBinding(
  name: string,
  contents: ReadonlyMap<string, unknown>,
  options: RestoreOptions,
  lost: RuntimeLoss[],
): unknown {
  const bound = options.bound.get(name)
  if (!bound) lost.push({ name, reason: notInjectedReason })
  return options.isCopied(name) && contents.has(name) ? contents.get(name) : bound?.value
}

function setPrototypes({ prototypes, references }: Payload, resolved: readonly unknown[]): void {
  const prototypeOf = (number: number): object | undefined => {
    const value = references[number]?.type === "code" ? resolved[number] : undefined
    const prototype: unknown = typeof value === "function" ? value.prototype : undefined
    return isObject(prototype) ? prototype : undefined
  }
  const give = (target: unknown, prototype: object | null | undefined) => {
    if (isObject(target) && prototype !== undefined) Reflect.setPrototypeOf(target, prototype)
  }
  for (const [number, objects] of prototypes) {
    for (const object of objects) give(object, number === null ? null : prototypeOf(number))
  }
  references.forEach((reference, number) => {
    if (reference.type === "error" && reference.class !== null) give(resolved[number], prototypeOf(reference.class))
  })
}

function defineProperties({ references, properties, statics, closed }: Payload, resolved: readonly unknown[]): void {
  references.forEach((reference, number) => {
    const error = resolved[number]
    if (reference.type !== "error" || !isObject(error)) return
    for (const [key, value] of Object.entries(reference.properties)) {
      Object.defineProperty(error, key, { ...ordinaryProperty(value), enumerable: !builtInErrorKeys.includes(key) })
    }
  })
  for (const [number, given] of statics) {
    const value = references[number]?.type === "code" ? resolved[number] : undefined
    if (!isObject(value)) continue
    for (const [key, held] of Object.entries(given)) {
      // A method that was replaced stays hidden from a listing of the keys.
      const replaced = Object.hasOwn(value, key) && { value: held, writable: true }
      Reflect.defineProperty(value, key, replaced || ordinaryProperty(held))
    }
  }
  for (const [target, key, value, flags] of properties) {
    Reflect.defineProperty(target, key, {
      value,
      writable: (flags & propertyFlags.writable) > 0,
      enumerable: (flags & propertyFlags.enumerable) > 0,
      configurable: (flags & propertyFlags.configurable) > 0,
    })
  }
  const close = [Object.preventExtensions, Object.seal, Object.freeze]
  for (const [target, level] of closed) close[level]?.(target)
}

function fillContainer([container, entries]: Payload["fillings"][number]): void {
  if (types.isSet(container)) {
    Set.prototype.clear.call(container)
    for (const member of entries) Set.prototype.add.call(container, member)
  } else if (types.isMap(container)) {
    Map.prototype.clear.call(container)
    for (let at = 0; at < entries.length; at += 2) Map.prototype.set.call(container, entries[at], entries[at + 1])
  }
}

function decodeInstance(
  { codec: name, data }: Extract<Reference, { type: "codec" }>,
  current: unknown,
  codecs: Codecs,
): { value: object } | { problem: string } {
  const codec = Object.hasOwn(codecs, name) ? codecs[name] : undefined
  if (!codec) return { problem: `there is no codec "${name}" in this runtime` }
  try {
    const value: unknown = codec.decode(data, current instanceof codec.class ? current : undefined)
    return value instanceof codec.class ? { value } : { problem: `the codec ${name} gave no ${codec.class.name}` }
  } catch (error) {
    return { problem: `the codec ${name} failed: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** Returns the names whose value is directly a reference, by reference number. */
function namesUnder(named: readonly [string, unknown][], { places }: Payload): Map<number, string> {
  const entries = new Map<object, string>(named.map((entry) => [entry, entry[0]]))
  const names = new Map<number, string>()
  for (const [container, , number] of places) {
    const name = entries.get(container)
    if (name !== undefined) names.set(number, name)
  }
  return names
}

function createError(name: string): Error {
  if (name === "AggregateError") return new AggregateError([])
  const Type = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].find(
    (type) => type.name === name,
  )
  return new (Type ?? Error)()
}

const builtInErrorKeys = ["message", "stack", "cause", "errors"]
