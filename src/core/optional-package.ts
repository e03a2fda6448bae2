import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { MissingPeerError } from "./errors.ts"

/** Loads an optional package at first use: from the user's project, else from beside Karst. `purpose` completes the
 *  sentence "… is needed for". */
export async function importOptionalPackage(name: string, purpose: string): Promise<Record<string, unknown>> {
  try {
    return await importFromProject(name)
  } catch (error) {
    if (!isMissingPackage(error, name)) throw error
    throw new MissingPeerError(`The package "${name}" is needed for ${purpose}. Install it: npm install ${name}`, {
      cause: error,
      details: { package: name },
    })
  }
}

async function importFromProject(name: string): Promise<Record<string, unknown>> {
  try {
    const require = createRequire(join(process.cwd(), "package.json"))
    // Resolving through the project lets a globally installed `karst` use the project's own packages.
    return await import(pathToFileURL(require.resolve(name)).href)
  } catch (error) {
    if (!isMissingPackage(error, name) && !isUnresolvable(error)) throw error
    return await import(name)
  }
}

// A package that is there but lacks one of its own imports is a different trouble and must not be reported as missing.
function isMissingPackage(error: unknown, name: string): boolean {
  const code = (error as { code?: unknown }).code
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return false
  return String((error as Error).message).includes(name)
}

function isUnresolvable(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_PACKAGE_PATH_NOT_EXPORTED"
}
