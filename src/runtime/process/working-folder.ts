import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { ConfigError } from "../../core/errors.ts"

/** Where the cells of a runtime work. */
export interface WorkingFolder {
  /** Its path, without links. A temporary one is made when it is first asked for. */
  path(): string
  readonly isTemporary: boolean
  /** Removes it where it is a temporary one. */
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
  const remove = () => {
    if (made === undefined) return
    rmSync(made, { recursive: true, force: true })
    foldersToRemove.delete(remove)
    made = undefined
  }
  return {
    path() {
      if (made === undefined) {
        made = realpathSync(mkdtempSync(join(tmpdir(), "karst-")))
        removeAtExit(remove)
      }
      return made
    },
    isTemporary: true,
    remove,
  }
}

/** Functions that remove the folders of runtimes that were not closed. */
const foldersToRemove = new Set<() => void>()
let watchesExit = false

function removeAtExit(remove: () => void): void {
  foldersToRemove.add(remove)
  if (watchesExit) return
  watchesExit = true
  process.on("exit", () => {
    for (const each of [...foldersToRemove]) each()
  })
}
