// Loads optional packages when they are first used.
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { MissingPackageError } from "./errors.ts"

/** Imports a package from the user's project, or from beside Karst. If it is missing, throws a `MissingPackageError`
 *  with the install command. `purpose` completes the sentence "… is needed for". */
export async function importOptionalPackage(name: string, purpose: string): Promise<Record<string, unknown>> {
  try {
    return await importFromProject(name)
  } catch (error) {
    if (!isMissingPackage(error, name)) throw error
    throw new MissingPackageError(`The package "${name}" is needed for ${purpose}. Install it: npm install ${name}`, {
      cause: error,
      details: { package: name },
    })
  }
}

async function importFromProject(name: string): Promise<Record<string, unknown>> {
  try {
    const require = createRequire(join(process.cwd(), "package.json"))
    // Resolving from the project lets a globally installed `karst` use the project's packages.
    return await import(pathToFileURL(require.resolve(name)).href)
  } catch (error) {
    if (!isMissingPackage(error, name) && !isUnresolvable(error)) throw error
    return await import(name)
  }
}

// If an installed package lacks one of its own imports, that must not be reported as the package missing.
function isMissingPackage(error: unknown, name: string): boolean {
  const { code, message } = Object(error)
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return false
  const [, missing] = /'([^']+)'/.exec(String(message)) ?? []
  return `${name}/`.startsWith(`${missing}/`)
}

function isUnresolvable(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_PACKAGE_PATH_NOT_EXPORTED"
}
