// Time and randomness of cells: `Math`, `Date`, `performance` and `crypto` read the environment of the running cell, or
// the real clock and random numbers if it has none.
import { cellStorage } from "../running-cell.ts"

/** `Math` with another `random`. What a cell adds to it stays in its runtime. */
export function createCellMath(): Math {
  return Object.create(Math, { random: { value: random, writable: true, configurable: true } })
}

/** The real `Date` if the clock is the real one, so that `date.constructor === Date` holds. */
export function cellDate(): DateConstructor {
  return cellStorage.getStore()?.env.now ? recordedDate : Date
}

/** What a cell writes to it stays in its runtime, as with `Math`. */
export function createCellPerformance(): typeof performance {
  return overlayMembers(performance, {
    now: () => (cellStorage.getStore()?.env.now ? now() : performance.now()),
    get timeOrigin() {
      return cellStorage.getStore()?.env.now ? 0 : performance.timeOrigin
    },
  })
}

export function createCellCrypto(): typeof crypto {
  return overlayMembers(crypto, {
    // Typed for one kind of array; accepts every kind that the platform's function accepts.
    getRandomValues(array: Uint8Array) {
      if (!cellStorage.getStore()?.env.random) return crypto.getRandomValues(array)
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
      for (let at = 0; at < bytes.length; at++) bytes[at] = random() * 256
      return array
    },
    randomUUID() {
      if (!cellStorage.getStore()?.env.random) return crypto.randomUUID()
      const digit = (kind: string) =>
        (((random() * 16) & (kind === "y" ? 3 : 15)) | (kind === "y" ? 8 : 0)).toString(16)
      return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, digit)
    },
  })
}

const recordedDate: DateConstructor = new Proxy(Date, {
  construct(target, args: ConstructorParameters<typeof Date> | [], newTarget: unknown) {
    const date: object = Reflect.construct(
      target,
      args.length === 0 ? [now()] : args,
      newTarget === recordedDate || typeof newTarget !== "function" ? target : newTarget,
    )
    return date
  },
  apply: (target) => new target(now()).toString(),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
})

function now(): number {
  const clock = cellStorage.getStore()?.env.now
  return clock ? clock() : Date.now()
}

function random(): number {
  const source = cellStorage.getStore()?.env.random
  return source ? source() : Math.random()
}

/** A platform object with some members replaced. Writes stay on the overlay. Platform methods get the platform object
 *  as `this`, because they require it. */
function overlayMembers<T extends object>(platform: T, members: Partial<Record<keyof T, unknown>>): T {
  const overlay: T = Object.create(Object.getPrototypeOf(platform), Object.getOwnPropertyDescriptors(members))
  return new Proxy(overlay, {
    get(_, key) {
      if (Object.hasOwn(overlay, key)) return Reflect.get(overlay, key)
      const member: unknown = Reflect.get(platform, key, platform)
      return typeof member === "function" && key !== "constructor" ? member.bind(platform) : member
    },
    set: (_, key, value) =>
      Reflect.defineProperty(overlay, key, { value, writable: true, enumerable: true, configurable: true }),
  })
}
