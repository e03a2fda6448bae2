// Tracks the names in a kernel's namespace, so that the host can report which are lost when the kernel dies.
import { type Binding, boundValue } from "../../bindings.ts"
import { isPeerObject } from "../../handles/peer-objects.ts"
import type { CellExecution, RuntimeLoss } from "../../runtime.ts"
import type { KernelBridge } from "./kernel-bridge.ts"

export interface KnownNames {
  /** All known names of the namespace. */
  readonly all: Set<string>
  /** Names that the setup code or a loaded module defined. */
  readonly setup: Set<string>
  /** Injected names to which a cell assigned another value. */
  readonly changed: ReadonlySet<string>
  /** Records that these names now have their injected values. */
  markInjected(names: readonly string[], bridge: KernelBridge): Promise<void>
  /** Returns the names that were injected since the last call. */
  takeNewlyInjected(): string[]
  /** Called before a cell runs: the injected values that its code mentions may change. */
  noteCellCode(code: string): void
  /** The injected names that cells reassigned or may have changed in place. Snapshots include them. */
  possiblyChanged(): string[]
  recordChanges(changes: CellExecution["changes"]): void
  /** Forgets all names after their kernel ended, and returns the lost ones. */
  forgetAll(reason: string): RuntimeLoss[]
}

export function createKnownNames(bindings: ReadonlyMap<string, Binding>): KnownNames {
  const all = new Set<string>()
  const setup = new Set<string>()
  const changed = new Set<string>()
  // Injected values that cells can change in place, which is not reported.
  const changeable = new Set<string>()
  // Those of them that the code of a cell mentions.
  const mentioned = new Set<string>()
  const newlyInjected = new Set<string>()
  let hasRunCells = false

  const isInjected = (name: string) => bindings.has(name) || setup.has(name)
  // Objects of this kernel cannot be injected into the next one, which reports them as lost.
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
        newlyInjected.add(name)
        changed.delete(name)
        changeable.delete(name)
        mentioned.delete(name)
      }
      const found = await bridge.ask("changeable", { names })
      if (Array.isArray(found)) for (const name of names) if (found.includes(name)) changeable.add(name)
    },
    takeNewlyInjected() {
      const names = [...newlyInjected]
      newlyInjected.clear()
      return names
    },
    noteCellCode(code) {
      hasRunCells = true
      const words = indirectAccess.test(code) ? undefined : new Set(code.match(/[\p{L}\p{N}_]+/gu))
      for (const name of changeable) if (!words || words.has(name)) mentioned.add(name)
    },
    possiblyChanged: () => [...changed.union(mentioned)].filter((name) => all.has(name) && !isHandle(name)),
    recordChanges({ created, reassigned, removed }) {
      for (const name of created) all.add(name)
      for (const name of removed) all.delete(name)
      for (const name of [...reassigned, ...removed, ...created]) if (isInjected(name)) changed.add(name)
    },
    forgetAll(reason) {
      const lostNames = [...all].filter((name) => !isInjected(name))
      const resetNames = hasRunCells ? [...changed.union(changeable)].filter((name) => !isHandle(name)) : []
      for (const names of [all, changed, changeable, mentioned]) names.clear()
      hasRunCells = false
      return [
        ...lostNames.map((name) => ({ name, reason })),
        ...resetNames.map((name) => ({ name, reason: asInjectedReason, asInjected: true })),
      ]
    },
  }
}

// Code that may use a name without mentioning it.
const indirectAccess = /\b(?:globals|locals|vars|eval|exec|get_ipython|__main__)\b/

const asInjectedReason = "it is as it was injected again; what cells did to it is gone"
