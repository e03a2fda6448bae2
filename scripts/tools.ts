// Runs development tools, for the other scripts.
import { spawnSync } from "node:child_process"
import { dirname, resolve } from "node:path"

export const root = dirname(import.meta.dirname)

/** Runs a development tool from node_modules under this very Node, in the repository. Gives its exit code. */
export function runTool(path: string, args: string[]): number {
  const { status } = spawnSync(process.execPath, [resolve(root, "node_modules", path), ...args], {
    cwd: root,
    stdio: "inherit",
  })
  return status ?? 1
}
