import { AgentError } from "../../core/errors.ts"
import type { AnyFunction } from "../bindings.ts"
import { agentCallOptions, seenFromAfar } from "../cell-agent.ts"
import { type RunningCell, running, type Shared } from "../cells/running-cell.ts"
import { type AskedCall, passGate } from "../gated-call.ts"
import type { Guards } from "../guard.ts"
import { type Crossing, pack, reviveError, type Stand, unpack } from "./crossing.ts"
import { createHandles, type HandleTable, readMember, writeMember } from "./handles.ts"
import type { Operation } from "./protocol.ts"

/** What a child sent is not what any child of ours would send: it is no longer trusted with anything. */
export class Forged extends AgentError {
  override name = "Forged"
  readonly #mark = true
  constructor(message: string) {
    super(message, { code: "forged" })
  }

  /** Unlike `instanceof`, this runs nothing of what was thrown. */
  static is(thrown: unknown): thrown is Forged {
    return typeof thrown === "object" && thrown !== null && #mark in thrown
  }
}

/** What the host does for one child: gives and takes values, and performs what cells ask of its objects. */
export interface Service {
  /** `binding` is the name that live things in it are called by. */
  give(value: unknown, binding: string): Crossing
  /** Several values in one crossing, each under its own name, so that what they share is shared on the other side. */
  giveAll(values: readonly unknown[], names: readonly string[]): Crossing
  /** Throws `Forged` for a handle or function that the child was never given. */
  take(crossing: Crossing): unknown
  perform(operation: Operation, cell: RunningCell): Promise<Crossing>
  readonly handles: HandleTable
}

export interface Functions {
  /** The function binding of a name as cells call it, gate and all. */
  find(name: string): AnyFunction | undefined
  nameOf(value: object): string | undefined
  original(name: string): unknown
  /** The methods of objects whose calls ask, or are limited. */
  readonly guards: Guards
}

export function createService(functions: Functions, shared: Shared, maxHandles: number): Service {
  const handles = createHandles(maxHandles)

  const standFor = (live: object, binding: string, where: string): Stand => {
    const name = functions.nameOf(live)
    return name === undefined ? handles.expose(live, binding, where) : { type: "function", name }
  }

  const give = (value: unknown, binding: string) =>
    pack(value, (live, where) => standFor(live, binding, where), binding)

  const take = (crossing: Crossing): unknown => unpack(crossing, revive)

  const revive = (stand: Stand): unknown => {
    switch (stand.type) {
      case "handle": {
        const exposed = handles.find(stand.id)
        if (!exposed) throw new Forged(`handle ${stand.id}, which it was not given`)
        return exposed.value
      }
      case "function":
        if (!functions.find(stand.name)) throw new Forged(`function "${stand.name}", which it was not given`)
        return functions.original(stand.name)
      case "error":
        return reviveError(stand)
    }
  }

  const gated = (cell: RunningCell, call: Omit<AskedCall, "signal">) => {
    const make = (args: readonly unknown[]) => {
      cell.check()
      return call.make(args)
    }
    return passGate({ ...call, signal: cell.signal, make }, cell.gate ?? shared.gate)
  }

  const onHandle = async (
    { path, op }: Operation,
    id: number,
    args: unknown[],
    cell: RunningCell,
  ): Promise<Crossing> => {
    const exposed = handles.find(id)
    if (!exposed) throw new Forged(`handle ${id}, which it was not given`)
    const { binding } = exposed
    const value = seenFromAfar(exposed.value)
    const name = [binding, ...path].join(".")
    const key = path.at(-1)
    switch (op) {
      case "call": {
        const owner = walk(value, path.slice(0, -1))
        const member = key === undefined ? value : readMember(owner, key)
        if (typeof member !== "function") throw new TypeError(`${name} is not a function`)
        const self = key === undefined ? undefined : owner
        const guarded = functions.guards.find(self, key, member)
        const make = (made: readonly unknown[]) => Reflect.apply(member, self, made)
        const options = agentCallOptions(self)
        const call = { binding, method: path.join(".") || "call", args, options, ...guarded, make }
        return give(await gated(cell, call), binding)
      }
      case "new": {
        const type = walk(value, path)
        if (typeof type !== "function") throw new TypeError(`${name} is not a class`)
        const make = (made: readonly unknown[]) => Reflect.construct(type, made)
        return give(await gated(cell, { binding, method: [...path, "new"].join("."), args, make }), binding)
      }
      case "get":
        return give(await walk(value, path), binding)
      case "set":
        if (key === undefined) throw new TypeError("Nothing to set.")
        writeMember(walk(value, path.slice(0, -1)), key, args[0])
        return { body: undefined }
      case "iterate":
        return give(iteratorOf(walk(value, path)), binding)
      case "check":
        throw new Forged("a check of what is none")
      case "dispose": {
        const target = walk(value, path)
        const dispose = symbolMethod(target, Symbol.asyncDispose) ?? symbolMethod(target, Symbol.dispose)
        await gated(cell, { binding, method: "dispose", args: [], make: () => dispose?.() })
        return { body: undefined }
      }
    }
  }

  return {
    give,
    giveAll(values, names) {
      const named = (live: object, where: string): Stand => {
        const [index = ""] = /\d+/.exec(where) ?? []
        const name = names[Number(index)] ?? where
        return standFor(live, name, name + where.slice(index.length + 2))
      }
      return pack([...values], named, "")
    },
    take,
    handles,
    async perform(operation, cell) {
      // Taken before anything is awaited, so that what was sent first is also done first.
      const taken = take(operation.args)
      const args = Array.isArray(taken) ? taken : []
      if (typeof operation.on === "number") return running.run(cell, onHandle, operation, operation.on, args, cell)
      const call = functions.find(operation.on)
      if (!call || operation.op !== "call" || operation.path.length > 0) {
        throw new Forged(`function "${operation.on}", which it was not given`)
      }
      return give(await running.run(cell, () => call(...args)), operation.on)
    },
  }
}

function walk(value: unknown, path: readonly string[]): unknown {
  return path.reduce((target: unknown, key) => readMember(target, key), value)
}

function iteratorOf(value: unknown): object {
  const start = symbolMethod(value, Symbol.asyncIterator) ?? symbolMethod(value, Symbol.iterator)
  const iterator = start?.()
  if (typeof iterator !== "object" || iterator === null) throw new TypeError("The handle is not iterable.")
  return iterator
}

function symbolMethod(value: unknown, symbol: symbol): (() => unknown) | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined
  const method: unknown = Reflect.get(value, symbol)
  return typeof method === "function" ? () => Reflect.apply(method, value, []) : undefined
}
