// Selects files by glob, and skips hidden ones.
import { compileGlob } from "../../workspaces/glob.ts"

/** Returns true for files that are skipped by default: names with a leading dot, and installed packages. */
export function isHidden(path: string): boolean {
  return path.split("/").some((name) => (name.startsWith(".") && name !== ".") || name === "node_modules")
}

/** Creates a filter for paths below the searched folder. A glob without a slash applies to names in any folder. A
 *  glob that names something hidden includes hidden files. */
export function createFileFilter({ glob, hidden }: { glob: string | undefined; hidden: boolean }) {
  const seeHidden = hidden || isHidden(glob ?? "")
  const fits = glob === undefined ? () => true : createGlobTest(glob)
  return (path: string) => (seeHidden || !isHidden(path)) && fits(path)
}

/** Converts a glob to the form that workspaces take; undefined if it is negated. */
export function toWorkspaceGlob(glob: string | undefined): string | undefined {
  if (glob === undefined || glob.startsWith("!")) return undefined
  return glob.includes("/") ? glob : `**/${glob}`
}

function createGlobTest(glob: string): (path: string) => boolean {
  const not = glob.startsWith("!")
  const { matches } = compileGlob(toWorkspaceGlob(not ? glob.slice(1) : glob) ?? "**")
  return (path) => matches(path) !== not
}
