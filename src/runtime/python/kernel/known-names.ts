import { type Binding, boundValue } from "../../bindings.ts"
import { isPeerObject } from "../../handles/peer-objects.ts"
import type { CellExecution, RuntimeLoss } from "../../runtime.ts"
import type { KernelBridge } from "./kernel-bridge.ts"

/** What the host knows of the names in a kernel: enough to tell what is gone when the kernel is. */
export interface KnownNames {
  /** Every name in the namespace, as far as it is known. */
  readonly all: Set<string>
  /** Names that the setup made, or modules that were loaded. */
  readonly setup: Set<string>
  /** Names that were put in and that a cell gave another value. */
  readonly changed: ReadonlySet<string>
  /** These were put in, and are what they are given as. */
  markInjected(names: readonly string[], bridge: KernelBridge): Promise<void>
  /** A cell begins: what its text mentions may not be what it was put in as from now on. */
  noteCellCode(code: string): void
  /** The names that were put in and that cells gave another value or may have changed in place. They are data of cells. */
  possiblyChanged(): string[]
  /** What a cell did to them. */
  recordChanges(changes: CellExecution["changes"]): void
  /** Forgets them with their kernel, and tells what is gone. */
  forgetAll(reason: string): RuntimeLoss[]
}

export function createKnownNames(bindings: ReadonlyMap<string, Binding>): KnownNames {
  const all = new Set<string>()
  const setup = new Set<string>()
  const changed = new Set<string>()
  // Of what was put in, what cells can change in place: when they do, nobody is told.
  const changeable = new Set<string>()
  // Those that the text of a cell mentions.
  const mentioned = new Set<string>()
  let used = false

  const isPut = (name: string) => bindings.has(name) || setup.has(name)
  // An object of this kernel cannot be put in again: the next kernel tells.
  const isHandle = (name: string) => {
    const binding = bindings.get(name)
    return binding !== undefined && isPeerObject(boundValue(binding))
  }

  return {
    all,
    setup,
    changed,
    async markInjected(names, bridge) {
      for (const name of names) {
        all.add(name)
        changed.delete(name)
        changeable.delete(name)
        mentioned.delete(name)
      }
      const found = await bridge.ask("changeable", { names })
      if (Array.isArray(found)) for (const name of names) if (found.includes(name)) changeable.add(name)
    },
    noteCellCode(code) {
      used = true
      const words = indirectAccess.test(code) ? undefined : new Set(code.match(/[\p{L}\p{N}_]+/gu))
      for (const name of changeable) if (!words || words.has(name)) mentioned.add(name)
    },
    possiblyChanged: () => [...changed.union(mentioned)].filter((name) => all.has(name) && !isHandle(name)),
    recordChanges({ created, reassigned, removed }) {
      for (const name of created) all.add(name)
      for (const name of removed) all.delete(name)
      for (const name of [...reassigned, ...removed, ...created]) if (isPut(name)) changed.add(name)
    },
    forgetAll(reason) {
      const gone = [...all].filter((name) => !isPut(name))
      const again = used ? [...changed.union(changeable)].filter((name) => !isHandle(name)) : []
      for (const names of [all, changed, changeable, mentioned]) names.clear()
      used = false
      return [
        ...gone.map((name) => ({ name, reason })),
        ...again.map((name) => ({ name, reason: asInjectedReason, asInjected: true })),
      ]
    },
  }
}

// Code that may reach a name without its text.
const indirectAccess = /\b(?:globals|locals|vars|eval|exec|get_ipython|__main__)\b/

const asInjectedReason = "it is as it was injected again; what cells did to it is gone"
