import { fn, variable } from "../../../src/runtime/bindings.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { CallGate } from "../../../src/runtime/runtime.ts"

type Any = (...args: unknown[]) => unknown

/** A typical host object: fields, containers, guarded and unguarded methods. */
export class Light {
  readonly name: string
  brightness = 50
  onChange: unknown = null
  items: unknown[] = [1, 2, 3]
  config: Record<string, unknown> = { mode: "a", nested: { level: 1 } }
  tags = new Set(["a"])
  readonly fixed = Object.freeze(["x"])
  readonly created = new Date(0)
  readonly #log: string[]

  constructor(name: string, log: string[]) {
    this.name = name
    this.#log = log
  }
  wipe(): string {
    this.#log.push(`${this.name}.wipe`)
    return "wiped"
  }
  dim(to: number): number {
    this.brightness = to
    return to
  }
  get total(): number {
    return this.items.length
  }
  *[Symbol.iterator]() {
    yield* [1, 2]
  }
}

/** One function under several names. */
export class Aliased extends Light {
  erase = this.wipe;
  [Symbol.dispose] = this.wipe;
  [Symbol.asyncIterator] = this.wipe
}

export class Fresh {}

/** A host that logs every forbidden call: `log` must stay empty. Calls that need approval are refused. */
export function createLab() {
  const log: string[] = []
  const kept: unknown[] = []
  const saved: Any[] = []
  const listeners: Any[] = []
  const light = new Light("light", log)
  const aliased = new Aliased("aliased", log)
  const plain = {
    name: "plain",
    wipe: () => void log.push("plain.wipe"),
    onSave: () => "saved",
  }
  const house = { plain, light, rooms: [light], byName: new Map([["light", light]]), visit: () => light }
  const bag = new (class Bag {
    size = 1
  })()
  const call: CallGate = async ({ approve, binding, method }, next) => {
    if (approve) throw new Error(`denied: ${binding}${method === undefined ? "" : `.${method}`}`)
    return next()
  }
  const bindings = {
    wipe: fn(() => void log.push("wipe"), { approve: true }),
    spare: () => "spare",
    light: variable(light, { guard: { wipe: { approve: true } } }),
    aliased: variable(aliased, { guard: { wipe: { approve: true } } }),
    plain: variable(plain, { guard: { wipe: { approve: true } } }),
    shade: new Proxy(light, {}),
    house,
    bag: variable(bag, { extend: true }),
    echo: (value: unknown) => value,
    keep: (value: unknown) => void kept.push(value),
    fresh: () => new Fresh(),
    broken: () => [new Fresh(), Symbol("a symbol cannot cross")],
    loose: () => [light.wipe, plain.wipe],
    fails: (text: string) => {
      throw new Error(text)
    },
    big: (size: number) => "x".repeat(size),
    never: () => new Promise(() => {}),
    use: async (value: unknown) => {
      const awaited = await value
      return [JSON.stringify(awaited), `${awaited}`, Number(awaited), awaited === 1].length
    },
    // Host code that calls its arguments in every possible way.
    callNow: async (given: Any, ...args: unknown[]) => await given(...args),
    callNew: (given: new () => unknown) => new given(),
    callReflect: async (given: Any) => await Reflect.apply(given, light, []),
    callBound: async (given: Any) => await given.bind(light)(),
    callTag: async (given: Any) => await given`x`,
    callThen: async (given: Any) => await Promise.resolve(1).then(given),
    callTwice: async (given: Any) => await ((await given()) as Any)(),
    callField: async (given: { f: Any }) => await given.f(),
    callRead: async (given: { f: Promise<Any> }) => await (await given.f)(),
    callEach: async (given: Iterable<Any>) => {
      for (const each of given) await each()
    },
    callValues: async (given: Map<unknown, Any>) => {
      for (const each of given.values()) await each()
    },
    callCause: async (given: Error) => await (given.cause as Any)(),
    callCaught: async (given: Any) => {
      try {
        await given()
      } catch (error) {
        return await ((error as Error).cause as Any)()
      }
    },
    callTimer: (given: Any) =>
      new Promise((resolve, reject) => setTimeout(() => Promise.resolve(given()).then(resolve, reject))),
    save: (given: Any) => void saved.push(given),
    on: (given: Any) => void listeners.push(given),
    emit: () => {
      for (const each of listeners.splice(0)) each()
    },
  }
  const runtime = processRuntime(bindings, { limits: { handles: 300 } })
  /** Reverts the allowed changes of fields. */
  const restore = () => {
    kept.length = saved.length = listeners.length = 0
    house.plain = plain
    light.onChange = null
    light.items = [1, 2, 3]
    light.config = { mode: "a", nested: { level: 1 } }
  }
  return { runtime, call, log, kept, saved, light, aliased, plain, bag, restore }
}

export type Lab = ReturnType<typeof createLab>
