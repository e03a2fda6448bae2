// Finds the program of a coding CLI and the folder it works in.
import { statSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { isExecutable } from "../core/child/executable.ts"
import { ConfigError, ProviderError } from "../core/errors.ts"
import type { Provider } from "./provider.ts"

type Variables = Readonly<Record<string, string | undefined>>

/** The path of a CLI's program: the given one, else the first in PATH or in its install folders; undefined if not
 *  installed. */
export function findProgram(
  { binary, installFolders: places = [] }: Pick<Provider, "binary" | "installFolders">,
  { program, env = process.env }: { program?: string | undefined; env?: Variables | undefined } = {},
): string | undefined {
  if (program !== undefined && /[\\/]/.test(program)) return isProgram(program) ? resolve(program) : undefined
  const home = env.HOME ?? homedir()
  const folders = [...(env.PATH ?? "").split(delimiter), ...places.map((place) => place.replace(/^~(?=\/)/, home))]
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, program ?? binary))
    .find(isProgram)
}

/** Like `findProgram`, but throws an error with the cure if the program is not installed. */
export function requireProgram(
  provider: Provider,
  options: { program?: string | undefined; env?: Variables | undefined } = {},
): string {
  const found = findProgram(provider, options)
  if (found !== undefined) return found
  const { name, title, binary, install } = provider
  const { program } = options
  const missing = program === undefined ? `"${binary}" is not in PATH` : `there is no program "${program}"`
  const cure = install === "" ? "Install it" : `Install it with \`${install}\``
  throw new ProviderError(
    `${title} is not installed: ${missing}. ${cure}, or say where it is: ${name}({ program: "/path/to/${binary}" }).`,
    { code: "not-installed", provider: name },
  )
}

/** Returns the absolute path of the folder a CLI works in; throws if it does not exist. */
export function requireFolder(cwd: string | undefined): string {
  const folder = resolve(cwd ?? process.cwd())
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return folder
  const what = found ? "is not a folder" : "does not exist"
  throw new ConfigError(`cwd: "${folder}" ${what}. Make it, or name another.`)
}

function isProgram(path: string): boolean {
  return isExecutable(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
