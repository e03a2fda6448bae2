// Codecs: how the host lets snapshots store instances of its classes.
import { checkOptionNames } from "../../core/checks/check-options.ts"
import { ConfigError } from "../../core/errors.ts"

/** Converts instances of one class for snapshots. Created by `codec()`. */
export interface Codec<T extends object = object> {
  readonly class: abstract new (...args: never[]) => T
  /** Returns data that fully describes an instance. It may contain other instances that have a codec. */
  encode(value: T): unknown
  /** Returns an instance for the data. `current` is the instance injected under the same name, to be updated. */
  decode(data: unknown, current?: T): T
}

/** Codecs by name. The names must not change as long as snapshots are stored. */
export type Codecs = { readonly [name: string]: Codec }

export interface CodecMethods<T extends object, D> {
  /** Returns plain data that fully describes an instance. It may contain other instances that have a codec. */
  encode(value: T): D
  /** Returns an instance with that state. `current` is the instance your program bound to the name: update and return
   *  it, so that your program continues with the same object. Without `current`, return a new instance. */
  decode(data: D, current?: T): T
}

/** Stores the state of a class's instances in snapshots, and so in checkpoints and archived sessions: `jsRuntime({
 *  charts }, { codecs: { charts: codec(Charts, { encode, decode }) } })`. */
export function codec<T extends object, D>(
  type: abstract new (...args: never[]) => T,
  methods: CodecMethods<T, D>,
): Codec<T> {
  if (typeof type !== "function" || typeof methods?.encode !== "function" || typeof methods.decode !== "function") {
    throw new ConfigError("codec() takes a class and { encode, decode }.")
  }
  checkOptionNames("codec()", methods, "encode", "decode")
  // `decode` is called only with data that `encode` returned.
  return { ...methods, class: type }
}
