/** Where a cell's ambient world comes from. No global is patched: generated code reaches `Date`, `Math.random`,
 *  `crypto`, `fetch`, timers and `import()` only through this, so a durable run can record and replay them. */
export interface CellEnv {
  /** Milliseconds since the epoch, as `Date.now()`. */
  now(): number
  /** In [0, 1), as `Math.random()`; random ids and bytes are drawn from it when it is given. */
  random(): number
  fetch: typeof globalThis.fetch
  /** Loads a module for `import`, resolved from the runtime's `cwd`. */
  import(specifier: string): Promise<unknown>
  /** What `process.env` shows. */
  variables: Record<string, string | undefined>
}
