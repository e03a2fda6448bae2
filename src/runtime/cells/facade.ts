import { types } from "node:util"
import { type AnyFunction, isClass, type MethodGuard } from "../bindings.ts"
import { guardEntries } from "../guard.ts"
import { callByGate, keepOriginal, named, realOf, standFor, standIn } from "./call.ts"
import type { Shared } from "./running-cell.ts"

/** An object as cells see it whose guarded methods pass the gate, and so give Promises. Everything else is that of the
 *  object: methods run on it and not on the facade, which is why `#private` works, fields are read and written through,
 *  `instanceof` holds, and what gives the object back gives the facade. What the object calls of itself passes no gate. */
export function createFacade(name: string, value: object, guard: MethodGuard, shared: Shared): object {
  const gated = new Map<PropertyKey, AnyFunction>()
  const methods = new WeakMap<object, AnyFunction>()
  const { epoch } = shared
  for (const [method, options] of guardEntries(guard)) {
    const call = {
      binding: name,
      method,
      options,
      make: (args: readonly unknown[]) => Reflect.apply(Reflect.get(value, method, value) as AnyFunction, value, args),
    }
    const stand = new Proxy<AnyFunction>(named(method), {
      apply(_target, _this, args: unknown[]) {
        if (shared.epoch !== epoch)
          throw new Error(`${name}.${method} was not called: its runtime was reset or closed.`)
        return callByGate(call, args, shared)
      },
    })
    keepOriginal(stand, () => Reflect.get(value, method, value) as AnyFunction)
    gated.set(method, stand)
  }

  const shown = (found: unknown): unknown => {
    if (found === value) return facade
    // An async method may give the object as well. A promise with a life of its own is left alone.
    const isPlain = types.isPromise(found) && Object.getPrototypeOf(found) === Promise.prototype
    return isPlain && Object.keys(found).length === 0 ? found.then(shown) : standFor(found, shared)
  }

  const onTheObject = (method: AnyFunction): AnyFunction => {
    const known = methods.get(method)
    if (known) return known
    const stand = new Proxy(method, {
      apply: (target, self, args: unknown[]) =>
        shown(Reflect.apply(target, self === facade ? value : self, args.map(realOf))),
    })
    keepOriginal(stand, () => method)
    methods.set(method, stand)
    return stand
  }

  const refuseGuarded = (key: PropertyKey) => {
    if (gated.has(key)) throw new TypeError(`${name}.${String(key)} is guarded, and cannot be replaced from a cell.`)
  }

  const target = targetFor(value, gated)
  const facade: object = new Proxy(target, {
    get(_, key) {
      const guarded = gated.get(key)
      if (guarded) return guarded
      const member: unknown = Reflect.get(value, key, value)
      if (typeof member !== "function") return shown(member)
      return isClass(member) || isFixed(target, key) ? member : onTheObject(member as AnyFunction)
    },
    set(_, key, next) {
      refuseGuarded(key)
      return Reflect.set(value, key, realOf(next), value)
    },
    has: (_, key) => Reflect.has(value, key),
    deleteProperty(_, key) {
      refuseGuarded(key)
      return Reflect.deleteProperty(value, key)
    },
    defineProperty(_, key, property) {
      refuseGuarded(key)
      return Reflect.defineProperty(value, key, property)
    },
    getOwnPropertyDescriptor(_, key) {
      const found = Reflect.getOwnPropertyDescriptor(value, key)
      if (!found) return undefined
      const guarded = gated.get(key)
      if (guarded) found.value = guarded
      return target === value ? found : { ...found, configurable: true }
    },
    ownKeys: () => Reflect.ownKeys(value),
  })
  standIn(facade, value, shared)
  return facade
}

/** What the facade is made over: the object itself, so that it is shown as it is, unless a method of it is fixed. The
 *  language lets no proxy hide such a one; then it is an object of the same class with the same members. */
function targetFor(value: object, gated: ReadonlyMap<PropertyKey, unknown>): object {
  if (![...gated.keys()].some((key) => isFixed(value, key))) return value
  const properties = Object.getOwnPropertyDescriptors(value)
  for (const key of Reflect.ownKeys(properties)) Reflect.set(Reflect.get(properties, key), "configurable", true)
  return Object.create(Object.getPrototypeOf(value), properties)
}

function isFixed(value: object, key: PropertyKey): boolean {
  const found = types.isProxy(value) ? undefined : Object.getOwnPropertyDescriptor(value, key)
  return found !== undefined && !found.configurable && found.writable === false
}
