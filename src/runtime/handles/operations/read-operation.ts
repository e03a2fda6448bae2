// Parses an operation message of a peer. Throws `ForgedMessage` for a message that our own code never sends.
import type { Json } from "../../../core/json.ts"
import { isRecord } from "../../../core/object.ts"
import type { HostObjects } from "../host-objects.ts"
import type { Operation } from "../operations.ts"
import { expectId, expectList, expectText, ForgedMessage, type WireObject } from "../wire.ts"

export function readOperation(
  message: WireObject,
  objects: HostObjects,
  decode: (json: Json) => unknown,
  digest: (value: unknown) => string | undefined,
): Operation {
  const op = expectText(message.op)
  if (!isOperation(op)) throw new ForgedMessage("an unknown operation")
  const path = expectList(message.p ?? []).map(expectText)
  if (path.length > maxPathLength) throw new ForgedMessage("a path that is too long")
  if (path.reduce((sum, name) => sum + name.length, 0) > maxNameCharacters) {
    throw new RangeError(`The names of members are longer than ${maxNameCharacters} characters in all.`)
  }
  const optional = expectList(message.o ?? []).map(expectId)
  if (optional.length > path.length + 1) throw new ForgedMessage("a path with more optional steps than steps")
  const object = objects.find(expectId(message.t))
  const value = message.v === undefined ? [] : decode(message.v)
  const [first, second] = Array.isArray(value) ? value : []
  const isCall = op === "call" || op === "new"
  if (isCall && (!Array.isArray(first) || first.length > maxArguments))
    throw new ForgedMessage("a call without arguments")
  if (isCall && second !== undefined && !isKeywordObject(second)) throw new ForgedMessage("invalid keyword arguments")
  return {
    op,
    object,
    path,
    optional,
    args: isCall ? first : [first],
    keywordArgs: isCall && isKeywordObject(second) ? second : {},
    isCopy: message.back === true,
    ...(message.was !== undefined && { copyState: { digest: expectText(message.was), now: digest } }),
  }
}

const maxPathLength = 32
const maxNameCharacters = 10_000
const maxArguments = 1_000

const operations = [
  "call",
  "new",
  "get",
  "set",
  "iterate",
  "list",
  "members",
  "declare",
  "instance",
  "dispose",
] as const

function isOperation(op: string): op is Operation["op"] {
  return operations.some((known) => known === op)
}

function isKeywordObject(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype
}
