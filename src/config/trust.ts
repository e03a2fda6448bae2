// Remembers which configuration files the user has trusted. A configuration can run code and start programs, so a file
// that is new or has changed is loaded only after a confirmation.
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { checkOptionNames } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { isRecord } from "../core/object.ts"
import { replacePrivateFile } from "../core/private-files.ts"
import { type Environment, findUser, trustsAll } from "./find-files.ts"
import { moduleFiles } from "./module-files.ts"
import { contentDigest, type TrustedFiles } from "./trusted-files.ts"

/** A configuration file that was not trusted yet in this version. */
export interface TrustQuestion {
  /** The absolute path of the configuration file. */
  file: string
  /** Whether it was never trusted, or has changed since. */
  reason: "new" | "changed"
  /** All files that it runs: itself, and those that it imports by their paths. Links are followed. */
  files: readonly string[]
}

/** Answers whether a configuration file may be loaded. */
export type ConfirmTrust = (question: TrustQuestion) => boolean | Promise<boolean>

/** Throws a `ConfigError` unless the file is trusted in this version or `confirm` returns true; what was confirmed is
 *  remembered. Returns the trusted files, which alone may be loaded; undefined if any may. */
export async function requireTrust(
  file: string,
  env: Environment,
  confirm?: ConfirmTrust,
): Promise<TrustedFiles | undefined> {
  if (trustsAll(env)) return undefined
  const files = moduleFiles(file)
  const { digest, trusted } = digestOf(files)
  const known = (await readTrusted(trustFile(env)))[file]
  if (known === digest) return trusted
  const reason = known === undefined ? "new" : "changed"
  if (await confirm?.({ file, reason, files })) {
    await remember(file, digest, env)
    return trusted
  }
  const why = reason === "new" ? "is new to Karst" : "or a file that it imports has changed since it was last trusted"
  const refused = confirm ? "It was not confirmed." : "Nobody was there to confirm it."
  throw new ConfigError(
    `The configuration "${file}" ${why}, and it can run code. ${refused} Read it; then run ` +
      "`karst config trust`, or call trustConfig(file) of karst/config, or set KARST_TRUST_CONFIG=1.",
    { code: "untrusted-config", details: { file, reason } },
  )
}

/** Trusts a configuration file, and the files that it imports by their paths, as they are now. */
export async function trustConfig(file: string, options: { env?: Environment | undefined } = {}): Promise<void> {
  checkOptionNames("trustConfig()", options, "env")
  const path = resolve(file)
  await remember(path, digestOf(moduleFiles(path)).digest, options.env ?? process.env)
}

async function remember(file: string, digest: string, env: Environment): Promise<void> {
  const path = trustFile(env)
  const trusted = { ...(await readTrusted(path)), [file]: digest }
  await replacePrivateFile(path, `${JSON.stringify({ version: 1, trusted }, null, 2)}\n`)
}

function trustFile(env: Environment): string {
  return join(findUser(env).folder, "trusted.json")
}

/** The digests of trusted files by path. A file that cannot be read trusts nothing. */
async function readTrusted(path: string): Promise<Record<string, string>> {
  try {
    const { version, trusted }: Record<string, unknown> = JSON.parse(await readFile(path, "utf8"))
    if (version !== 1 || !isRecord(trusted)) return {}
    return Object.fromEntries(Object.entries(trusted).filter((entry): entry is [string, string] => isText(entry[1])))
  } catch {
    return {}
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}

function digestOf(files: readonly string[]): { digest: string; trusted: TrustedFiles } {
  const hash = createHash("sha256")
  const trusted = new Map<string, string>()
  for (const file of files) {
    const bytes = readFileSync(file)
    hash.update(`${file.length}:${file}:${bytes.length}:`).update(bytes)
    trusted.set(file, contentDigest(bytes))
  }
  return { digest: hash.digest("hex"), trusted }
}
