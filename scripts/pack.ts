// Builds and packs the package as npm would publish it.
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { root } from "./tools.ts"

/** Builds and packs Karst as npm would publish it. Gives the tarball's path in `folder`. */
export async function pack(folder: string): Promise<string> {
  const output = await npm(root, ["pack", "--json", "--foreground-scripts=false", "--pack-destination", folder])
  const [{ filename }] = JSON.parse(output) as [{ filename: string }]
  return join(folder, filename)
}

/** Installs packages into a project, which is made where there is none, the way a user does. */
export async function installInto(project: string, packages: string[]): Promise<void> {
  await mkdir(project, { recursive: true })
  const manifest = join(project, "package.json")
  if (!existsSync(manifest)) await writeFile(manifest, JSON.stringify({ private: true, type: "module" }))
  await npm(project, ["install", "--prefer-offline", ...packages])
}

/** Runs npm in `cwd` and gives what it prints. Its own errors come as the rejection's `stderr`. */
export async function npm(cwd: string, args: string[]): Promise<string> {
  const cli = process.env.npm_execpath
  const [command, ...first] = cli?.endsWith(".js") ? [process.execPath, cli] : ["npm"]
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--engine-strict=false"]
  const { stdout } = await promisify(execFile)(command, [...first, ...args, ...quiet], { cwd, maxBuffer: 2 ** 26 })
  return stdout
}
