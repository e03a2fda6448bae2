import { ConfigError } from "../../core/errors.ts"

/** How instances of one of your classes go into a snapshot and come back. `codec()` makes one. */
export interface Codec<T extends object = object> {
  readonly class: abstract new (...args: never[]) => T
  /** Data that says all there is to say about an instance. It may hold other instances that have a codec. */
  encode(value: T): unknown
  /** An instance again. `current` is the one that is injected under the name it had, to be brought up to date. */
  decode(data: unknown, current?: T): T
}

/** Codecs by a name that must stay the same as long as snapshots are kept. */
export type Codecs = { readonly [name: string]: Codec }

/** How the state of an instance becomes data, and data an instance. */
export interface CodecMethods<T extends object, D> {
  /** Plain data that says all there is to say about an instance. It may hold other instances that have a codec. */
  encode(value: T): D
  /** Gives an instance with that state. `current` is the instance that your program bound to the name: give it the state and
   *  return it, so that your program goes on with the same object. Without `current`, return a new instance. */
  decode(data: D, current?: T): T
}

/** Keeps the state of instances of a class in snapshots, and so in checkpoints and archived sessions:
 *  `jsRuntime({ charts }, { codecs: { charts: codec(Charts, { encode, decode }) } })`. */
export function codec<T extends object, D>(
  type: abstract new (...args: never[]) => T,
  methods: CodecMethods<T, D>,
): Codec<T> {
  if (typeof type !== "function" || typeof methods?.encode !== "function" || typeof methods.decode !== "function") {
    throw new ConfigError("codec() takes a class and { encode, decode }.")
  }
  // `decode` takes only data that `encode` gave.
  return { ...methods, class: type }
}
