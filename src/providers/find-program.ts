import { accessSync, constants, statSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { ConfigError, ProviderError } from "../core/errors.ts"
import type { Provider } from "./provider.ts"

type Variables = Readonly<Record<string, string | undefined>>

/** The program of a CLI: the one that was named, else the first in PATH or where its installer puts it. Undefined where it is
 *  not installed. */
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

/** The same, or an error with the cure. */
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

/** The folder a CLI works in, absolute. */
export function requireFolder(cwd: string | undefined): string {
  const folder = resolve(cwd ?? process.cwd())
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return folder
  const what = found ? "is not a folder" : "does not exist"
  throw new ConfigError(`cwd: "${folder}" ${what}. Make it, or name another.`)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
