import { types } from "node:util"
import type { Json } from "../../core/json.ts"
import { type AnyFunction, type FunctionBinding, isClass } from "../bindings.ts"
import { agentRuntime, seenFromAfar } from "../cell-agent.ts"
import { classOf, nameOfClass } from "../declare/inspect-class.ts"

/** An object of the host that Python may speak of. */
export interface HostEntry {
  id: number
  /** What Python uses. */
  value: object
  /** What the host gets when Python gives it back; of an agent, Python uses only a part. */
  original: object
  /** What calls are named by: the binding it was reached by, else its class. */
  binding: string
  /** Set for a function binding; what is called from now on. */
  target?: FunctionBinding | undefined
}

export interface HostObjects {
  /** Gives a function binding its number for life, so that a new target reaches those who kept the old one. */
  bindFunction(name: string, target: FunctionBinding): { [key: string]: Json }
  /** What stands for an object in Python. `binding` names it when it is the value of one. */
  standFor(value: object, binding?: string): { [key: string]: Json }
  /** Throws for a number that Python was never given. */
  find(id: number): HostEntry
  /** The same for the host's own code to use: a function binding as one whose calls are made by `call`. */
  gated(id: number, call: (entry: HostEntry, args: unknown[]) => Promise<unknown>): object
  release(id: number, count: number): void
  /** Forgets what was given out, as nobody is left who has it; bindings stay. */
  clear(): void
}

export function createHostObjects(): HostObjects {
  const entries = new Map<number, Counted>()
  const numbers = new Map<object, number>()
  const functions = new Map<string, Counted>()
  let last = 0

  const enter = (value: object, binding: string): HostEntry => {
    const known = entries.get(numbers.get(value) ?? -1)
    if (known) {
      known.count++
      return known
    }
    if (entries.size >= mostEntries) {
      throw new RangeError(`Python holds ${mostEntries} objects of the host; drop some (del) before there can be more.`)
    }
    const entry: Counted = { id: ++last, value: seenFromAfar(value), original: value, binding, count: 1 }
    entries.set(entry.id, entry)
    numbers.set(value, entry.id)
    return entry
  }

  const shown = ({ id, value, binding, target }: HostEntry): { [key: string]: Json } => {
    if (typeof value !== "function") {
      const whole = holdsFrames(value)
      return { $: "h", id, is: "object", name: className(value), methods: methodsOf(value), ...(whole && { whole }) }
    }
    if (!target && isClass(value)) {
      return { $: "h", id, is: "class", name: nameOfClass(value) ?? binding, methods: methodsOf(value) }
    }
    return { $: "h", id, is: "function", name: binding, doc: target?.options.description ?? null }
  }

  const find = (id: number): Counted => {
    const entry = entries.get(id)
    if (!entry) throw new ReferenceError(`There is no host object ${id}: it was released, or never given.`)
    return entry
  }

  return {
    bindFunction(name, target) {
      const known = functions.get(name)
      if (known && numbers.get(known.value) === known.id) numbers.delete(known.value)
      const value = target.call
      const entry = known ?? { id: ++last, value, original: value, binding: name, count: Number.POSITIVE_INFINITY }
      entry.value = entry.original = value
      entry.target = target
      functions.set(name, entry)
      entries.set(entry.id, entry)
      // The same function under two names is two bindings; by itself it is the first.
      if (!numbers.has(target.call)) numbers.set(target.call, entry.id)
      return shown(entry)
    },
    standFor(value, binding) {
      const named =
        agentRuntime(value)?.title ?? (typeof value === "function" ? value.name || "function" : className(value))
      return shown(enter(value, binding ?? named))
    },
    find,
    gated(id, call) {
      const entry = find(id)
      if (!entry.target) return entry.original
      entry.gated ??= (...args) => call(entry, args)
      // Given to Python again, it is the binding that it was.
      numbers.set(entry.gated, id)
      return entry.gated
    },
    release(id, count) {
      const entry = entries.get(id)
      // What is bound stays, whatever Python says.
      if (!entry || entry.target || !(count > 0)) return
      entry.count -= count
      if (entry.count > 0) return
      entries.delete(id)
      numbers.delete(entry.original)
    },
    clear() {
      for (const [id, { target, original }] of entries) {
        if (target) continue
        entries.delete(id)
        numbers.delete(original)
      }
    },
  }
}

interface Counted extends HostEntry {
  /** How often Python was given it; what is bound is there for good. */
  count: number
  gated?: AnyFunction
}

/** Whether it is the runtime of an agent that works in a kernel too: tables go there and come from there whole. */
export function holdsFrames(value: object): boolean {
  return agentRuntime(value)?.language === "python"
}

/** A member that Python may use: own, or of a class. What every object has (`constructor` and the like) leads out of the
 *  object to the host itself, and is not among them. */
export function hasMember(value: object, name: string): boolean {
  if (forbidden.has(name)) return false
  return chain(value).some((object) => Object.hasOwn(object, name))
}

/** A member that holds a value, and may be given another. */
export function isField(value: object, name: string): boolean {
  return hasMember(value, name) && !chain(value).some((object) => isMethod(object, name))
}

export function membersOf(value: object): string[] {
  const names = chain(value).flatMap((object) => Object.getOwnPropertyNames(object))
  return [...new Set(names)].filter((name) => !forbidden.has(name) && !name.startsWith("_"))
}

export function methodOf(value: object, name: string): AnyFunction {
  const method: unknown = hasMember(value, name) ? Reflect.get(value, name) : undefined
  if (typeof method !== "function") throw new AttributeError(`'${className(value)}' object has no method '${name}'`)
  return method as AnyFunction
}

/** Python's word for a member that is not there. */
export class AttributeError extends Error {
  override name = "AttributeError"
}

export function className(value: object): string {
  const type = classOf(value)
  return (type && nameOfClass(type)) ?? "object"
}

// Generated code must not be able to keep the host's memory full.
const mostEntries = 10_000

const forbidden = new Set(["constructor", "prototype", "__proto__", "caller", "callee", "arguments"])
const roots: unknown[] = [Object.prototype, Function.prototype, null]

function chain(value: object): object[] {
  // Looking behind a proxy runs its traps, which are its owner's affair: its own answers count.
  const objects: object[] = []
  for (let object: object | null = value; object && !roots.includes(object); object = Object.getPrototypeOf(object)) {
    objects.push(object)
  }
  return objects
}

function methodsOf(value: object): string[] {
  if (types.isProxy(value)) return []
  return membersOf(value).filter((name) => chain(value).some((object) => isMethod(object, name)))
}

function isMethod(object: object, name: string): boolean {
  // Described and not read: a getter is not run to find out.
  return typeof Object.getOwnPropertyDescriptor(object, name)?.value === "function"
}
