// The working folder of a runtime's cells: a given one, or a temporary one that is removed at the end.
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { onProgramExit } from "../../core/child/child-end.ts"
import { ConfigError } from "../../core/errors.ts"

export interface WorkingFolder {
  /** Returns the path without symbolic links. Creates a temporary folder on the first call. */
  path(): string
  readonly isTemporary: boolean
  /** Removes a temporary folder. */
  remove(): void
}

export function createWorkingFolder(given: string | undefined): WorkingFolder {
  if (given !== undefined) {
    const path = resolve(given)
    if (!existsSync(path)) throw new ConfigError(`cwd: there is no folder "${path}". Make it first, or leave cwd out.`)
    const real = realpathSync(path)
    return { path: () => real, isTemporary: false, remove() {} }
  }
  let made: string | undefined
  let cancelRemoval: (() => void) | undefined
  const remove = () => {
    if (made === undefined) return
    rmSync(made, { recursive: true, force: true })
    cancelRemoval?.()
    made = undefined
  }
  return {
    path() {
      if (made === undefined) {
        made = realpathSync(mkdtempSync(join(tmpdir(), "karst-")))
        cancelRemoval = onProgramExit(remove)
      }
      return made
    },
    isTemporary: true,
    remove,
  }
}
