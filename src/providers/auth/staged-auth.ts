// A folder with what containers need to sign coding CLIs in: copies of credentials and reduced settings, and a
// manifest.
import { lstat, readdir, readFile, readlink, rename, rm } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { ConfigError } from "../../core/errors.ts"
import { newId } from "../../core/message.ts"
import { isRecord } from "../../core/object.ts"
import { makePrivateFolder, replacePrivateFile } from "../../core/private-files.ts"
import { checkAuth, type ProviderAuth } from "./auth.ts"
import type { Variables } from "./auth-locations.ts"
import { reduceSettings } from "./reduce-settings.ts"

/** Paths, names and times; no secret. */
export interface AuthManifest {
  version: 1
  createdAt: string
  hostHome: string
  /** The folder that is trusted in the container. */
  workdir: string
  agents: { [name: string]: { files: StagedFile[]; variables: string[] } }
}

export interface StagedFile {
  /** What is mounted: a copy, or the file itself if the CLI renews the login in it. */
  source: string
  /** The path in the container, relative to the home there. */
  target: string
  original: string
  kind: "credential" | "settings"
  /** `copy`: unchanged; `reduced`: only what a container needs; `original`: not copied. */
  strategy: "copy" | "reduced" | "original"
  readOnly: boolean
}

export interface StageOptions {
  folder: string
  workdir: string
  env?: Variables | undefined
}

/** Writes the folder anew for the CLIs that are signed in. Undefined, and nothing is written, if none is. */
export async function stageAuth(names: readonly string[], options: StageOptions): Promise<AuthManifest | undefined> {
  const { workdir, env = process.env } = options
  const folder = resolve(options.folder)
  await refuseForeignFolder(folder)
  const ready = (await checkAuth(names, { env })).filter(({ state }) => state === "ready")
  if (ready.length === 0) return undefined
  const manifest: AuthManifest = {
    version: 1,
    createdAt: new Date().toISOString(),
    hostHome: env.HOME ?? homedir(),
    workdir,
    agents: {},
  }
  const next = `${folder}.${newId("t")}`
  await makePrivateFolder(next)
  try {
    for (const auth of ready) {
      const files: StagedFile[] = []
      for (const file of filesOf(auth, env)) {
        const staged = await stageFile(file, { workdir, next, folder, agent: auth.provider })
        if (staged) files.push(staged)
      }
      manifest.agents[auth.provider] = { files, variables: auth.variables.map(({ name }) => name) }
    }
    await replacePrivateFile(join(next, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`)
    await rm(folder, { recursive: true, force: true })
    await rename(next, folder)
  } catch (error) {
    await rm(next, { recursive: true, force: true })
    throw error
  }
  return manifest
}

/** Reads the manifest of a folder. Undefined if there is none. */
export async function readStagedAuth(folder: string): Promise<AuthManifest | undefined> {
  const path = join(folder, manifestName)
  const text = await readFile(path, "utf8").catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const read: unknown = JSON.parse(text)
    // Only `stageAuth` writes this file; the mark tells it from others.
    if (isRecord(read) && read.version === 1 && isRecord(read.agents)) return read as unknown as AuthManifest
  } catch {
    // Reported below.
  }
  throw new ConfigError(`"${path}" is not a manifest of Karst. Run \`karst auth setup\` again with another --folder.`)
}

/** The staged files as `containerAuth` takes them. */
export function stagedProviders({ agents }: AuthManifest): ProviderAuth[] {
  return Object.entries(agents).map(([provider, { files, variables }]) => ({
    provider,
    state: "ready",
    files: files.map(({ source, target, kind, readOnly }) => ({
      ...{ path: source, target, kind, state: "present" as const, renewedByCli: !readOnly },
    })),
    variables: variables.map((name) => ({ name, kind: "credential" as const })),
    cure: "",
  }))
}

/** Removes the folder. Throws if a file of the host is a link into it, unless `force`: a CLI would be signed out.
 *  Returns the removed files; empty if there is no such folder. With `dryRun` nothing is removed. */
export async function removeStagedAuth(
  folder: string,
  { dryRun = false, force = false }: { dryRun?: boolean; force?: boolean } = {},
): Promise<string[]> {
  const root = resolve(folder)
  const manifest = await readStagedAuth(root)
  if (!manifest) {
    await refuseForeignFolder(root)
    return []
  }
  for (const { original } of Object.values(manifest.agents).flatMap(({ files }) => files)) {
    if (force || !(await isLinkInto(original, root))) continue
    throw new ConfigError(
      `"${original}" is a link into "${root}": removing that would sign the CLI out. Replace the link by the file, or ` +
        "pass --force.",
    )
  }
  const files = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  if (!dryRun) await rm(root, { recursive: true, force: true })
  return files.sort()
}

const manifestName = "manifest.json"

type FoundFile = ProviderAuth["files"][number]

function filesOf({ provider, files }: ProviderAuth, env: Variables): FoundFile[] {
  const usable = files.filter(({ state }) => state !== "unreadable")
  if (provider !== "claude") return usable
  // Claude Code asks for a theme and for trust in a folder if this file does not say so.
  const path = join(env.CLAUDE_CONFIG_DIR ?? env.HOME ?? homedir(), ".claude.json")
  return [...usable, { path, target: ".claude.json", kind: "settings", state: "present", renewedByCli: false }]
}

async function stageFile(
  { path, target, kind, renewedByCli }: FoundFile,
  { workdir, next, folder, agent }: { workdir: string; next: string; folder: string; agent: string },
): Promise<StagedFile | undefined> {
  const about = { target, original: path, kind }
  if (renewedByCli) return { source: path, ...about, strategy: "original", readOnly: false }
  const text = await readFile(path, "utf8").catch(() => undefined)
  if (text === undefined) return undefined
  const reduced = reduceSettings(target, text, workdir)
  await replacePrivateFile(join(next, agent, target), reduced ?? text)
  // Claude Code writes this file when it starts.
  const readOnly = target !== ".claude.json"
  return {
    source: join(folder, agent, target),
    ...about,
    strategy: reduced === undefined ? "copy" : "reduced",
    readOnly,
  }
}

async function refuseForeignFolder(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [] as string[]
    throw new ConfigError(`"${folder}" cannot be used: ${error.code}. Choose another folder with --folder.`, {
      cause: error,
    })
  })
  if (entries.length === 0 || entries.includes(manifestName)) return
  throw new ConfigError(`"${folder}" has other files than those of \`karst auth setup\`. Choose another with --folder.`)
}

async function isLinkInto(path: string, folder: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  if (!found?.isSymbolicLink()) return false
  const to = relative(folder, resolve(dirname(path), await readlink(path)))
  return to !== ".." && !to.startsWith("../")
}
