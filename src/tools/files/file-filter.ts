import { compileGlob } from "../../workspaces/glob.ts"

/** What is passed over unless it is asked for: names that begin with a dot, and installed packages. */
export function isHidden(path: string): boolean {
  return path.split("/").some((name) => (name.startsWith(".") && name !== ".") || name === "node_modules")
}

export interface FileFilterOptions {
  glob: string | undefined
  hidden: boolean
}

/** Whether a file is meant, by its path below the folder where one looks. A glob without a slash is about names in any folder; one that
 *  names something hidden means it. */
export function createFileFilter({ glob, hidden }: FileFilterOptions): (path: string) => boolean {
  const seeHidden = hidden || isHidden(glob ?? "")
  const fits = glob === undefined ? () => true : createGlobTest(glob)
  return (path) => (seeHidden || !isHidden(path)) && fits(path)
}

/** A glob as a workspace takes it; undefined when it says what is not meant. */
export function toWorkspaceGlob(glob: string | undefined): string | undefined {
  if (glob === undefined || glob.startsWith("!")) return undefined
  return glob.includes("/") ? glob : `**/${glob}`
}

function createGlobTest(glob: string): (path: string) => boolean {
  const not = glob.startsWith("!")
  const { matches } = compileGlob(toWorkspaceGlob(not ? glob.slice(1) : glob) ?? "**")
  return (path) => matches(path) !== not
}
