// Loads optional packages when they are first used: those of the project in the working directory, or those beside
// Karst. A program runs in its own project; the command runs in any folder, so it must not load code from there
// unasked.
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { attempt } from "./attempt.ts"
import { ConfigError, MissingPackageError } from "./errors.ts"
import { isWithin } from "./path-within.ts"

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

/** The folders in which packages are searched, in this order. */
export function packageFolders(): string[] {
  return usesProject ? [process.cwd(), karstFolder] : [karstFolder]
}

/** Stops the use of the project's packages until `allowProjectPackages` is called, unless Karst itself is one of
 *  them. */
export function refuseProjectPackages(): void {
  const [home = karstFolder] = karstFolder.split(/[\\/]node_modules[\\/]/)
  usesProject = isWithin(home, process.cwd())
}

/** Allows the use of the project's packages, because the user trusts the project. */
export function allowProjectPackages(): void {
  usesProject = true
}

let usesProject = true

const karstFolder = dirname(fileURLToPath(new URL("../../package.json", import.meta.url)))

async function importFromProject(name: string): Promise<Record<string, unknown>> {
  if (!usesProject) return await importBesideKarst(name)
  try {
    // Resolving from the project lets a globally installed `karst` use the project's packages.
    return await import(pathToFileURL(resolveInProject(name)).href)
  } catch (error) {
    if (!isMissingPackage(error, name) && !isUnresolvable(error)) throw error
    return await import(name)
  }
}

async function importBesideKarst(name: string): Promise<Record<string, unknown>> {
  try {
    return await import(name)
  } catch (error) {
    if (!isMissingPackage(error, name) || attempt(() => resolveInProject(name)) === undefined) throw error
    throw new ConfigError(
      `The package "${name}" is in node_modules of this folder, whose code runs only if you trust it. Read and trust ` +
        "its configuration (`karst config trust`), set KARST_TRUST_CONFIG=1, or run the Karst of the project: npx karst.",
      { code: "untrusted-config", details: { package: name } },
    )
  }
}

function resolveInProject(name: string): string {
  return createRequire(join(process.cwd(), "package.json")).resolve(name)
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
