// The wire format of live handles: frames, tagged values, and checks of untrusted messages. A frame is a JSON message
// plus buffers. If a frame is flagged `special`, objects with the key "$" are tagged values; each codec lists its tags.
import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"

export type WireObject = { [key: string]: Json }

export interface Frame {
  message: WireObject
  buffers: readonly Uint8Array[]
  /** True if the message contains tagged values. */
  special: boolean
  /** The size of a received frame in bytes. */
  size?: number | undefined
  /** How much heap the decoded values of a received frame may take besides its JSON. Default: half of the heap. */
  maxHeapBytes?: number | undefined
}

/** An encoded value: JSON, the buffers it refers to by number, and whether the JSON contains tagged values. */
export interface EncodedValue {
  json: Json
  buffers: Uint8Array[]
  special: boolean
}

/** Sends and receives whole frames. */
export interface FrameLink {
  /** Throws a `RangeError` if the frame is larger than the other side accepts. */
  send(frame: Frame): void
  /** Call it once per connection, before the first frame arrives. */
  listen(handlers: FrameHandlers): void
  /** Sets whether the open link keeps this process alive. */
  keepProcessAlive(alive: boolean): void
  close(): void
}

export interface FrameHandlers {
  onFrame(frame: Frame): void
  /** Called once, when the other side is gone. `problem` is set if it sent bytes that are not a frame. */
  onEnd(problem?: string): void
}

/** Turns objects and functions that are not copied into tagged values. */
export interface EncodeReferences {
  /** Returns the tagged value for an object or function with behaviour. Throws `CannotCross` if it cannot be sent.
   *  `owner`: the plain object that has the function as a method, if such objects are copied. */
  encodeReference(value: object, where: string, owner?: object): WireObject
  /** Returns true for a handle of this side. Handles are Proxies and must not be inspected. */
  isHandle(value: object): boolean
  /** If true, a plain object with methods is copied and its methods are sent as references. Default: false, the object
   *  is sent as a reference. */
  copiesMethods?: boolean | undefined
}

/** Finds the objects and functions that tagged values refer to. */
export interface DecodeReferences {
  decodeHostObject(tagged: WireObject): unknown
  /** `of` in the tagged value is the owner, `name` the method. */
  decodeHostMethod(tagged: WireObject): unknown
  decodePeerObject(tagged: WireObject): unknown
}

/** Encodes values for one language. If the name is empty, `encode` takes the body of a message: an object of our own
 *  whose members are values. */
export interface WireCodec {
  encode(value: unknown, name: string, references: EncodeReferences): EncodedValue
  decode(json: Json, frame: FrameContents, references: DecodeReferences): unknown
}

/** The parts of a frame that decoding its values needs. */
export type FrameContents = Pick<Frame, "buffers" | "special" | "maxHeapBytes">

/** A value cannot be sent to the other process. */
export class CannotCross extends TypeError {
  override name = "CannotCross"
}

export function tooManyHoles(where: string, most: number): CannotCross {
  return new CannotCross(`${where} has an array with more than ${most} holes, which cannot cross. Use a Map instead.`)
}

/** The peer sent a message that our own code never sends. The host then ends the peer. */
export class ForgedMessage extends AgentError {
  override name = "Forged"
  readonly #mark = true

  constructor(what: string) {
    super(what, { code: "forged" })
  }

  /** Unlike `instanceof`, this runs no code of the thrown value. */
  static is(thrown: unknown): thrown is ForgedMessage {
    return typeof thrown === "object" && thrown !== null && #mark in thrown
  }
}

/** Members that JavaScript itself calls: to await a value, to write JSON, to convert to a primitive. The host must not
 *  call a peer's function in this way. */
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

/** Appends a member to an expression, for example `order.items[3]["a b"]`. */
export function appendMember(where: string, key: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(key)) return `${where}.${key}`
  if (/^(?:0|[1-9]\d*)$/.test(key)) return `${where}[${key}]`
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `${where}.${key}` : `${where}[${JSON.stringify(key)}]`
}

// Checks of untrusted messages. They test the type and never convert: a conversion would call methods of the value.

export function expectText(value: unknown): string {
  if (typeof value !== "string") throw new ForgedMessage("a message with something else where a text belongs")
  return value
}

export function expectId(value: unknown): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw new ForgedMessage("a message with an impossible number")
  return Number(value)
}

export function expectTime(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new ForgedMessage("an invalid time")
  return value
}

export function expectList(value: unknown): Json[] {
  if (!Array.isArray(value)) throw new ForgedMessage("a message with something else where a list belongs")
  return value
}

export function expectRecord(value: unknown): WireObject {
  if (!isRecord(value)) throw new ForgedMessage("a message with something else where an object belongs")
  return value as WireObject
}
