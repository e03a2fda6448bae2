// Checks that only the files of a trusted configuration are loaded, with the bytes that were trusted: files can change
// between the confirmation and the import.
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { ConfigError } from "../core/errors.ts"

/** The digest of each trusted file by its real path. */
export type TrustedFiles = ReadonlyMap<string, string>

export function contentDigest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

/** Reads a file once. Throws a `ConfigError` if it is not as it was trusted. */
export function readTrustedFile(path: string, trusted: TrustedFiles): Buffer {
  const bytes = readFileSync(path)
  if (trusted.get(path) === contentDigest(bytes)) return bytes
  throw new ConfigError(`"${path}" has changed since it was trusted. Read it, and start again.`, {
    code: "untrusted-config",
    details: { file: path, reason: "changed" },
  })
}

/** Throws a `ConfigError` if a trusted file imports a file that is not trusted. */
export function requireTrustedImport(path: string, from: string, trusted: TrustedFiles): void {
  if (trusted.has(path)) return
  throw new ConfigError(
    `${from} imports "${path}", which is not among the trusted files, because its path is computed. Write the path ` +
      "as a text in the import, or load the configuration by its path: --config.",
    { code: "untrusted-config", details: { file: path, reason: "new" } },
  )
}
