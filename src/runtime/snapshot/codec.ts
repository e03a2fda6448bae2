/** How instances of one of your classes go into a snapshot and come back. */
export interface Codec<T extends object = object> {
  readonly class: abstract new (...args: never[]) => T
  /** Data that says all there is to say about an instance. It may hold other instances that have a codec. */
  encode(value: T): unknown
  /** An instance again. `current` is the one that is injected under the name it had, to be brought up to date. */
  decode(data: unknown, current?: T): T
}

/** Codecs by a name that must stay the same as long as snapshots are kept. */
export type Codecs = { readonly [name: string]: Codec }
