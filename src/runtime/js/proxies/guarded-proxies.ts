// Proxies of guarded objects: in cells, guarded methods pass the call gate. Values from which a cell could reach a
// guarded object get a proxy too, so that no path leads around the gate.
import { types } from "node:util"
import { isObject } from "../../../core/object.ts"
import type { GuardedMethod, MethodGuards } from "../../bindings/method-guards.ts"
import { type AnyFunction, isClass } from "../../bindings.ts"
import type { GuardedValues, SharedCellState } from "../running-cell.ts"
import { createCellToHostValues } from "./cell-to-host-values.ts"
import {
  callFromCell,
  createNamedNoop,
  isHostProxy,
  proxyFor,
  registerObjectProxy,
  registerOriginal,
  unwrapObjectProxy,
} from "./function-proxy.ts"
import { containsGuarded, mayReachGuarded, type ReachOptions } from "./guarded-reach.ts"

export interface GuardedProxies extends GuardedValues {
  /** The proxy of an object with guarded methods. */
  proxyOf(object: object): object
  /** Records that cells have this object itself under a name: then they get no proxy of it. */
  markUnwrapped(value: unknown): void
}

/** A proxy of a guarded object sends calls of guarded methods through the gate, so these return Promises. Everything
 *  else behaves like the object: methods run on the object and not on the proxy (so `#private` works), fields are read
 *  and written through, `instanceof` holds. Calls that the object makes on itself pass no gate.
 *
 *  Values that may lead to a guarded object are shown as views: proxies of the same kind without guarded methods. This
 *  covers fields, results, and the values of Promises, iterators and callbacks. Plain data needs no view. */
export function createGuardedProxies(guards: MethodGuards, shared: SharedCellState): GuardedProxies {
  const { epoch } = shared
  const unwrapped = new WeakSet<object>()
  const gatedMethods = new WeakMap<GuardedMethod, AnyFunction>()
  const gatedFunctions = new WeakMap<object, AnyFunction>()
  const isGuarded = (value: object) => isHostProxy(value) || guards.methodsOf(value) !== undefined
  const fields: ReachOptions = { maxMembers: 256, countsEmpty: true, isGuarded }
  const results: ReachOptions = { maxMembers: 50_000, countsEmpty: false, isGuarded }
  const cellValues = createCellToHostValues((value) => toCellValue(value, results))

  const toCellValue = (value: unknown, options: ReachOptions): unknown => {
    if (!isObject(value)) return value
    const proxy = cellValues.cellOriginalOf(value) ?? proxyFor(value, shared)
    if (proxy !== value || isHostProxy(value) || unwrapped.has(value) || cellValues.cameFromCell(value)) return proxy
    if (typeof value === "function") return isClass(value) ? value : functionToCell(undefined, undefined, value)
    if (isPlainPromise(value)) return value.then((found) => toCellValue(found, options), rethrow)
    return mayReachGuarded(value, options) ? viewOf(value) : value
  }

  // For `catch` and Promises: an error may also hold a guarded object.
  const rethrow = (error: unknown): never => {
    throw toCellValue(error, results)
  }

  const functionToCell = (owner: object | undefined, key: PropertyKey | undefined, fn: object): unknown => {
    const guarded = guards.find(owner, key, fn)
    if (guarded)
      return guarded.object === owner && guarded.method === key ? gatedMethod(guarded) : gatedFunction(fn, guarded)
    if (Array.isArray(owner) && Reflect.get(Array.prototype, key ?? "") === fn) return fn
    const known = cellValues.cellOriginalOf(fn) ?? proxyFor(fn, shared)
    if (known !== fn || isHostProxy(fn) || isClass(fn) || platformFunctions.has(fn)) return known
    return viewOf(fn)
  }

  const callGuarded = (guarded: GuardedMethod, args: unknown[], make: (args: readonly unknown[]) => unknown) => {
    const { binding, method, options, subject } = guarded
    if (shared.epoch !== epoch) throw new Error(`${binding}.${method} was not called: its runtime was reset or closed.`)
    return callFromCell({ binding, method, options, subject, make }, args, shared).then(
      (value) => toCellValue(value, results),
      rethrow,
    )
  }

  const gatedMethod = (guarded: GuardedMethod): AnyFunction => {
    const known = gatedMethods.get(guarded)
    if (known) return known
    const { object, method } = guarded
    const current = () => Reflect.get(object, method, object) as AnyFunction
    const make = (args: readonly unknown[]) => Reflect.apply(current(), object, args)
    const proxy = new Proxy<AnyFunction>(createNamedNoop(method), {
      apply: (_, _self, args) => callGuarded(guarded, args, make),
    })
    registerOriginal(proxy, current)
    gatedMethods.set(guarded, proxy)
    return proxy
  }

  /** A guarded function found elsewhere than at its guarded place: renamed, or in another object. */
  const gatedFunction = (fn: object, found: GuardedMethod): AnyFunction => {
    const known = gatedFunctions.get(fn)
    if (known) return known
    const proxy = new Proxy<AnyFunction>(createNamedNoop(found.method), {
      apply: (_, self, args) =>
        callGuarded(guards.find(undefined, undefined, fn) ?? found, args, (made) =>
          Reflect.apply(fn as AnyFunction, unwrapObjectProxy(self), made),
        ),
    })
    registerOriginal(proxy, () => fn)
    gatedFunctions.set(fn, proxy)
    return proxy
  }

  const viewOf = (real: object): object => {
    const known = proxyFor(real, shared)
    if (known !== real) return known as object
    const view = createView(real)
    registerObjectProxy(view, real, shared)
    return view
  }

  const createView = (real: object): object => {
    const refuseGuarded = (key: PropertyKey) => {
      const guarded = typeof key === "string" ? guards.methodsOf(real)?.get(key) : undefined
      if (guarded)
        throw new TypeError(`${guarded.binding}.${String(key)} is guarded, and cannot be replaced from a cell.`)
    }
    const shownFunctions = new Map<PropertyKey, { fn: unknown; shown: unknown }>()
    let { version } = guards
    const memberToCell = (key: PropertyKey, member: unknown) => {
      if (typeof member !== "function") return isObject(member) ? toCellValue(member, fields) : member
      if (version !== guards.version) {
        shownFunctions.clear()
        version = guards.version
      }
      const cached = shownFunctions.get(key)
      if (cached?.fn === member) return cached.shown
      const shown = functionToCell(real, key, member)
      shownFunctions.set(key, { fn: member, shown })
      return shown
    }
    const target = proxyTarget(real)
    const view: object = new Proxy(target, {
      get(_, key) {
        const guarded = typeof key === "string" ? guards.methodsOf(real)?.get(key) : undefined
        if (guarded) return gatedMethod(guarded)
        const member: unknown = Reflect.get(real, key, real)
        return key === "prototype" && typeof real === "function" ? member : memberToCell(key, member)
      },
      set(_, key, next) {
        refuseGuarded(key)
        return Reflect.set(real, key, cellValues.toHost(next), real)
      },
      has: (_, key) => Reflect.has(real, key),
      deleteProperty(_, key) {
        refuseGuarded(key)
        return Reflect.deleteProperty(real, key)
      },
      defineProperty(_, key, property) {
        refuseGuarded(key)
        const isValue = "value" in property
        return Reflect.defineProperty(real, key, {
          ...property,
          ...(isValue && { value: cellValues.toHost(property.value) }),
        })
      },
      getOwnPropertyDescriptor(_, key) {
        const found = Reflect.getOwnPropertyDescriptor(real, key)
        if (!found) return undefined
        if ("value" in found && !(key === "prototype" && typeof real === "function"))
          found.value = memberToCell(key, found.value)
        return target === real || key === "length" ? found : { ...found, configurable: true }
      },
      ownKeys: () => Reflect.ownKeys(real),
      apply(_, self, args: unknown[]) {
        try {
          for (let at = 0; at < args.length; at++) args[at] = cellValues.toHost(args[at])
          const value: unknown = Reflect.apply(real as AnyFunction, cellValues.toHost(self), args)
          return isObject(value) ? toCellValue(value, results) : value
        } catch (error) {
          return rethrow(error)
        }
      },
      construct(_, args: unknown[], maker) {
        const type = maker === view ? real : maker
        const made = Reflect.construct(real as AnyFunction, args.map(cellValues.toHost), type as AnyFunction)
        return proxyFor(made, shared) as object
      },
    })
    return view
  }

  const resultToCell = (value: unknown): unknown => {
    const proxy = proxyFor(value, shared)
    if (proxy !== value || !isObject(value)) return proxy
    return containsGuarded(value, results) ? viewOf(value) : value
  }

  return {
    proxyOf: viewOf,
    markUnwrapped(value) {
      if (isObject(value)) unwrapped.add(value)
    },
    toCell: resultToCell,
    toHost: cellValues.toHost,
  }
}

/** The target of a Proxy for an object: the object itself, so that it prints as usual, unless one of its properties is
 *  neither writable nor configurable. A Proxy may not show another value for such a property; then the target is an
 *  object of the same class with the same members. */
function proxyTarget(value: object): object {
  if (types.isProxy(value) || types.isMap(value) || types.isSet(value) || typeof value === "function") return value
  if (Array.isArray(value) && Object.isExtensible(value)) return value
  const properties = Object.getOwnPropertyDescriptors(value)
  const keys = Reflect.ownKeys(properties)
  if (!keys.some((key) => isFixedProperty(Reflect.get(properties, key)))) return value
  for (const key of keys) Reflect.set(Reflect.get(properties, key), "configurable", key !== "length")
  const empty = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))
  if (Array.isArray(value)) Reflect.deleteProperty(properties, "length")
  return Object.defineProperties(empty, properties)
}

function isFixedProperty({ configurable, writable, value }: PropertyDescriptor): boolean {
  return !configurable && writable === false && isObject(value)
}

// A Promise with properties of its own, or of a subclass, gets a view.
function isPlainPromise(value: object): value is Promise<unknown> {
  return types.isPromise(value) && Object.getPrototypeOf(value) === Promise.prototype && Object.keys(value).length === 0
}

/** Members that every function and object has. They run no code of the object that the cell could not run itself. */
const platformFunctions = new Set<unknown>(
  [Function.prototype, Object.prototype].flatMap((prototype) =>
    Object.values(Object.getOwnPropertyDescriptors(prototype)).map(({ value }): unknown => value),
  ),
)
platformFunctions.add(Function.prototype[Symbol.hasInstance])
