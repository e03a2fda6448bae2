// Imports a module that the command line names. Who names code of a folder trusts it, and the packages that are there.
import { importModule } from "../../config/import-module.ts"
import { allowProjectPackages } from "../../core/optional-package.ts"

/** `name` is used in error messages. */
export function importNamedModule(file: string, name: string): Promise<Record<string, unknown>> {
  allowProjectPackages()
  return importModule(file, name)
}
