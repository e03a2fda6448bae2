// Whether a file can be run.
import { accessSync, constants } from "node:fs"

/** Returns true if there is such a file and this user may execute it. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
