// What a snapshot or a restart could not keep of a namespace, and injected data that differs from before.

/** A name, or a place inside its value, that could not be stored, restored or undone. */
export interface RuntimeLoss {
  name: string
  /** Where inside the value, such as `.rows[3].socket`; absent for the whole. */
  path?: string | undefined
  reason: string
  /** The name exists as it was injected; only changes that cells made are lost. */
  asInjected?: boolean | undefined
  /** With `asInjected`: identifies the object in the process that took the snapshot. If the same object is bound at the
   *  restore, nothing is lost. */
  object?: string | undefined
  /** The program injects other data than before. `new`: cells see the new data, because nothing had changed the
   *  earlier data. `kept`: cells or `update` had changed it, and cells see that version; the program's own object
   *  stays as it is. */
  otherData?: "new" | "kept" | undefined
}
