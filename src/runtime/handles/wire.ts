import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"

// The wire format of live handles. A frame is a JSON message plus buffers. In a frame that is flagged `special`, an object
// with the key "$" is a tagged value; see the codecs for the tags of each language.

export type WireObject = { [key: string]: Json }

export interface Frame {
  message: WireObject
  buffers: readonly Uint8Array[]
  /** Whether the message contains tagged values. */
  special: boolean
  /** How many bytes a received frame had. */
  size?: number | undefined
  /** The heap that values of a received frame may still take besides its JSON. Default: half of this process's heap. */
  maxHeapBytes?: number | undefined
}

/** A value as it travels: JSON, the buffers it refers to by number, and whether the JSON contains tagged values. */
export interface EncodedValue {
  json: Json
  buffers: Uint8Array[]
  special: boolean
}

/** Sends and receives whole frames. */
export interface FrameLink {
  /** Throws a `RangeError` for a frame that the other side would not accept. */
  send(frame: Frame): void
  /** Called once per connection, before the first frame arrives. */
  listen(handlers: FrameHandlers): void
  /** Whether an open link keeps this process alive. */
  keepProcessAlive(alive: boolean): void
  close(): void
}

export interface FrameHandlers {
  onFrame(frame: Frame): void
  /** Called once: the other side is gone, or it sent bytes that are no frame (`problem` says which). */
  onEnd(problem?: string): void
}

/** How a codec represents objects and functions that are not copied. */
export interface EncodeReferences {
  /** The tagged value for an object or function with behaviour; throws `CannotCross` when it cannot leave. `owner`: the
   *  plain object whose method a function is, where such objects are copied. */
  reference(value: object, where: string, owner?: object): WireObject
  /** Whether a value is a handle of this side; handles are Proxies and must not be inspected. */
  isHandle(value: object): boolean
  /** Whether a plain object with methods is copied, and its methods cross one by one. Default: it crosses by reference. */
  copiesMethods?: boolean | undefined
}

/** How a codec finds the objects and functions that tagged values refer to. */
export interface DecodeReferences {
  hostObject(tagged: WireObject): unknown
  /** `of` of the tagged value is the owner, `name` the method. */
  hostMethod(tagged: WireObject): unknown
  peerObject(tagged: WireObject): unknown
}

/** A language's representation of values. `encode` with an empty name takes the body of a message: an object of ours
 *  whose members are values. */
export interface WireCodec {
  encode(value: unknown, name: string, references: EncodeReferences): EncodedValue
  decode(json: Json, frame: FrameContents, references: DecodeReferences): unknown
}

/** What values need of the frame that they came in. */
export type FrameContents = Pick<Frame, "buffers" | "special" | "maxHeapBytes">

/** A value cannot be sent to the other process. */
export class CannotCross extends TypeError {
  override name = "CannotCross"
}

/** The peer sent something that our own code never sends. The peer is ended. */
export class ForgedMessage extends AgentError {
  override name = "Forged"
  readonly #mark = true

  constructor(what: string) {
    super(what, { code: "forged" })
  }

  /** Unlike `instanceof`, this runs no code of the value that was thrown. */
  static is(thrown: unknown): thrown is ForgedMessage {
    return typeof thrown === "object" && thrown !== null && #mark in thrown
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function"
}

/** Names under which the language itself calls a function: to await a value, to write JSON, to convert to a primitive.
 *  A peer's function must not be called unasked. */
const calledImplicitly: ReadonlySet<string> = new Set(["then", "toJSON", "toString", "valueOf"])

export function isCalledImplicitly(key: string): boolean {
  return calledImplicitly.has(key)
}

export function refuseImplicitCall(key: string, value: unknown): void {
  if (typeof value !== "function" || !calledImplicitly.has(key)) return
  throw new CannotCross(
    `An object with a function under "${key}" cannot cross: the language would call it unasked. Rename the key.`,
  )
}

/** `order.items[3]["a b"]`: a path as a program would write it. */
export function appendMember(where: string, key: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(key)) return `${where}.${key}`
  if (/^(?:0|[1-9]\d*)$/.test(key)) return `${where}[${key}]`
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `${where}.${key}` : `${where}[${JSON.stringify(key)}]`
}

// Readers of untrusted messages. They test the type and never convert: a conversion would call methods of the value.

export function expectText(value: unknown): string {
  if (typeof value !== "string") throw new ForgedMessage("a message with something else where a text belongs")
  return value
}

export function expectId(value: unknown): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw new ForgedMessage("a message with an impossible number")
  return Number(value)
}

export function expectList(value: unknown): Json[] {
  if (!Array.isArray(value)) throw new ForgedMessage("a message with something else where a list belongs")
  return value
}

export function expectRecord(value: unknown): WireObject {
  if (!isRecord(value)) throw new ForgedMessage("a message with something else where an object belongs")
  return value as WireObject
}
