// Digests of a skill's code files, and module hooks that import only files with the digested bytes.
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { registerHooks } from "node:module"
import { dirname, extname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { ConfigError } from "../core/errors.ts"
import { isWithin } from "../core/path-within.ts"

/** SHA-256 of each code file when the skill was loaded, by absolute path. Only these bytes run on the host. */
export type CodeDigests = ReadonlyMap<string, string>

/** Digests the code files of a folder and its subfolders, except `node_modules`. Throws if there are too many. */
export async function digestCode(folder: string): Promise<CodeDigests> {
  const digests = new Map<string, string>()
  await collectDigests(folder, digests, 0)
  return digests
}

/** Runs work that imports code of a skill's folder. From then on, this process imports a file of that folder only if
 *  its bytes match the digests, also when a function of the skill imports it later. */
export async function importVerified<T>(folder: string, digests: CodeDigests, work: () => Promise<T>): Promise<T> {
  const known = verifiedFolders.get(folder)
  if (known && !haveSameDigests(known.digests, digests)) {
    throw new ConfigError(
      `"${folder}" has changed since its code was first run in this process, and Node runs a module once. Restart the process.`,
    )
  }
  const entry = known ?? { digests, uses: 0 }
  verifiedFolders.set(folder, entry)
  registerModuleHooks()
  entry.uses++
  try {
    const result = await work()
    entry.hasRun = true
    return result
  } finally {
    entry.uses--
    // Nothing ran, so another version of the folder may be used later.
    if (entry.uses === 0 && !entry.hasRun) verifiedFolders.delete(folder)
  }
}

interface VerifiedFolder {
  digests: CodeDigests
  uses: number
  hasRun?: boolean
}

const verifiedFolders = new Map<string, VerifiedFolder>()
let registered = false

// Node reads and caches modules itself. Only in these hooks are the checked bytes the executed bytes.
function registerModuleHooks(): void {
  if (registered) return
  registered = true
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const importer = pathOf(context.parentURL)
      const folder = importer === undefined ? undefined : verifiedFolderOf(importer)
      const path = pathOf(resolved.url)
      if (folder === undefined || importer === undefined || path === undefined) return resolved
      const written = /^(\.{0,2}\/|file:)/.test(specifier) ? targetOf(specifier, importer) : path
      // A link inside the folder may lead to a file outside, which must not run unchecked.
      if (verifiedFolderOf(written) === folder && !verifiedFolders.get(folder)?.digests.has(path))
        throw unknownFileError(written)
      return resolved
    },
    load(url, context, next) {
      const path = pathOf(url)
      const folder = path === undefined ? undefined : verifiedFolderOf(path)
      if (path === undefined || folder === undefined) return next(url, context)
      const digest = verifiedFolders.get(folder)?.digests.get(path)
      if (digest === undefined) throw unknownFileError(path)
      const loaded = next(url, context)
      const source = readFileSync(path)
      if (digestOf(source) !== digest) throw changedFileError(path)
      return { ...loaded, source }
    },
  })
}

/** The verified folder that contains a file; undefined for other files and for packages inside such a folder. */
function verifiedFolderOf(path: string): string | undefined {
  for (const folder of verifiedFolders.keys()) {
    if (isWithin(folder, path) && !path.slice(folder.length).includes("/node_modules/")) return folder
  }
  return undefined
}

function pathOf(url: string | undefined): string | undefined {
  return url?.startsWith("file:") ? fileURLToPath(url) : undefined
}

function targetOf(specifier: string, importer: string): string {
  return specifier.startsWith("file:") ? fileURLToPath(specifier) : resolve(dirname(importer), specifier)
}

async function collectDigests(folder: string, digests: Map<string, string>, depth: number): Promise<void> {
  if (depth > maxDepth) return
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && !ignoredFolders.has(entry.name)) await collectDigests(path, digests, depth + 1)
    if (!entry.isFile() || !codeFiles.has(extname(entry.name))) continue
    if (digests.size >= maxFiles) throw new Error(`has more than ${maxFiles} code files: move some out of the skill`)
    digests.set(path, digestOf(await readFile(path)))
  }
}

const codeFiles = new Set([".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", ".wasm"])
const ignoredFolders = new Set(["node_modules", ".git"])
const maxFiles = 2_000
const maxDepth = 16

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

function haveSameDigests(one: CodeDigests, other: CodeDigests): boolean {
  return one.size === other.size && [...one].every(([path, digest]) => other.get(path) === digest)
}

function changedFileError(path: string): ConfigError {
  return new ConfigError(`"${path}" has changed since the skill was loaded. ${reloadAdvice}`)
}

function unknownFileError(path: string): ConfigError {
  return new ConfigError(`"${path}" is not one of the files that were there when the skill was loaded. ${reloadAdvice}`)
}

const reloadAdvice = "If the change is yours, load the skill again in a new process."
