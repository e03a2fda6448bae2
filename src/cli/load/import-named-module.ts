// Imports a module that the command line names. By naming it, the user trusts its code and the packages of its project.
import { statSync } from "node:fs"
import { importModule } from "../../config/import-module.ts"
import { allowProjectPackages } from "../../core/optional-package.ts"
import { UsageError } from "../usage-error.ts"

/** `name` is used in error messages. Throws for a folder, a pipe or a device, whose import could wait for ever, and for
 *  a file that is no module. */
export async function importNamedModule(file: string, name: string): Promise<Record<string, unknown>> {
  if (!statSync(file).isFile()) throw new UsageError(`${name} is not a file. Name a module: a .ts or .js file.`)
  if (!/\.[cm]?[jt]sx?$/.test(file)) throw new UsageError(`${name} is no module. Name a .ts or .js file.`)
  allowProjectPackages()
  return importModule(file, name)
}
