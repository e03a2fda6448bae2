// Imports a module that the command line names. By naming it, the user trusts its code and the packages of its project.
import { importModule } from "../../config/import-module.ts"
import { allowProjectPackages } from "../../core/optional-package.ts"

/** `name` is used in error messages. */
export function importNamedModule(file: string, name: string): Promise<Record<string, unknown>> {
  allowProjectPackages()
  return importModule(file, name)
}
