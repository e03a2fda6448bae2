import type { Json } from "../../core/json.ts"
import type { HostObjects } from "./host-objects.ts"
import type { Operation } from "./operations.ts"
import { Forged, idIn, isRecord, listIn, textIn, type WireObject } from "./wire.ts"

/** Reads an operation that a peer asks for. Throws `Forged` for a message that our own code never sends. */
export function readOperation(
  message: WireObject,
  objects: HostObjects,
  decode: (json: Json) => unknown,
  digest: (value: unknown) => string | undefined,
): Operation {
  const op = textIn(message.op)
  if (!isOperation(op)) throw new Forged("an unknown operation")
  const path = listIn(message.p ?? []).map(textIn)
  if (path.length > longestPath) throw new Forged("a path that is too long")
  if (path.reduce((sum, name) => sum + name.length, 0) > longestNames) {
    throw new RangeError(`The names of members are longer than ${longestNames} characters in all.`)
  }
  const optional = listIn(message.o ?? []).map(idIn)
  if (optional.length > path.length + 1) throw new Forged("a path with more optional steps than steps")
  const object = objects.find(idIn(message.t))
  const value = message.v === undefined ? [] : decode(message.v)
  const [first, second] = Array.isArray(value) ? value : []
  const isCall = op === "call" || op === "new"
  if (isCall && (!Array.isArray(first) || first.length > mostArguments)) throw new Forged("a call without arguments")
  if (isCall && second !== undefined && !isKeywords(second)) throw new Forged("invalid keyword arguments")
  return {
    op,
    object,
    path,
    optional,
    args: isCall ? first : [first],
    named: isCall && isKeywords(second) ? second : {},
    isCopy: message.back === true,
    ...(message.was !== undefined && { readAs: { digest: textIn(message.was), now: digest } }),
  }
}

const longestPath = 32
const longestNames = 10_000
const mostArguments = 1_000

const operations = ["call", "new", "get", "set", "iterate", "list", "members", "instance", "dispose"] as const

function isOperation(op: string): op is Operation["op"] {
  return operations.some((known) => known === op)
}

function isKeywords(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype
}
