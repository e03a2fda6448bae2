import { running } from "./running-cell.ts"

// Time and randomness of cells. Each of these asks the cell that is running now; where its environment gives neither
// clock nor dice, the real ones answer.

/** `Math` itself but for its dice; what a cell adds to it stays in its runtime. */
export function createMath(): Math {
  return Object.create(Math, { random: { value: random, writable: true, configurable: true } })
}

/** The real `Date` wherever the clock is the real one, so that `date.constructor === Date` holds. */
export function cellDate(): DateConstructor {
  return running.getStore()?.env.now ? clockedDate : Date
}

export function cellPerformance(): typeof performance {
  return running.getStore()?.env.now ? clockedPerformance : performance
}

export function cellCrypto(): typeof crypto {
  return running.getStore()?.env.random ? drawnCrypto : crypto
}

const clockedDate: DateConstructor = new Proxy(Date, {
  construct(target, args: ConstructorParameters<typeof Date> | [], newTarget: unknown) {
    const made: object = Reflect.construct(
      target,
      args.length === 0 ? [now()] : args,
      newTarget === clockedDate || typeof newTarget !== "function" ? target : newTarget,
    )
    return made
  },
  apply: (target) => new target(now()).toString(),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
})

const clockedPerformance = over(performance, { now, timeOrigin: 0 })

const drawnCrypto = over(crypto, {
  getRandomValues<T extends ArrayBufferView>(array: T): T {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    for (let at = 0; at < bytes.length; at++) bytes[at] = random() * 256
    return array
  },
  randomUUID() {
    const digit = (kind: string) => (((random() * 16) & (kind === "y" ? 3 : 15)) | (kind === "y" ? 8 : 0)).toString(16)
    return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, digit)
  },
})

function now(): number {
  const clock = running.getStore()?.env.now
  return clock ? clock() : Date.now()
}

function random(): number {
  const dice = running.getStore()?.env.random
  return dice ? dice() : Math.random()
}

/** The same object with some members replaced. Methods keep their `this`: platform objects insist on it. */
function over<T extends object>(target: T, members: { [key: string]: unknown }): T {
  return new Proxy(target, {
    get(_, key) {
      if (typeof key === "string" && Object.hasOwn(members, key)) return members[key]
      const member: unknown = Reflect.get(target, key, target)
      return typeof member === "function" ? member.bind(target) : member
    },
  })
}
