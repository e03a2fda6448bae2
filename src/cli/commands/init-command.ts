// `karst init [template]`: creates a project from a template, without overwriting any file.
import { existsSync, readFileSync, statSync } from "node:fs"
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { trustConfig } from "../../config/trust.ts"
import { namedIfFull } from "../../core/full-disk.ts"
import { isRecord } from "../../core/object.ts"
import { ownVersion } from "../../core/own-version.ts"
import { replacePrivateFile } from "../../core/private-files.ts"
import type { Input } from "../command.ts"
import { suggestion } from "../parse-command-line.ts"
import { printLine } from "../print-text.ts"
import { quoteShellWord } from "../shell-words.ts"
import { type initOptions, templates } from "../table/project.ts"
import { UsageError } from "../usage-error.ts"

const templatesFolder = fileURLToPath(new URL("../../../templates/", import.meta.url))

/** A project may have these of its own: they are then kept. */
const keptFiles = ["README.md", ".gitignore", "tsconfig.json"]

export async function initProjectCommand({
  values,
  positionals: [template = templates[0]],
}: Input<typeof initOptions>): Promise<number> {
  await checkTemplate(template)
  const folder = resolve(values.to ?? ".")
  if (!(statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? true))
    throw new UsageError(`--to: ${values.to} is not a folder. Name a new or an existing one.`)
  const files = { ...(await readTemplate("shared")), ...(await readTemplate(template)) }
  const existing = Object.keys(files).filter((path) => existsSync(join(folder, path)))
  refuseOverwriting(existing, folder)
  const manifest = projectManifest(folder)
  const written = Object.entries(files).filter(([path]) => !existing.includes(path))
  const manifestFile = join(folder, "package.json")
  const hasManifest = existsSync(manifestFile)
  await writeAll({ ...Object.fromEntries(written), ...(!hasManifest && { "package.json": manifest }) }, folder)
  if (hasManifest) await replacePrivateFile(manifestFile, manifest)
  // The user asked for these files, so the command need not ask whether it may load them.
  await trustConfig(join(folder, "karst.config.ts"))
  for (const path of existing) printLine(`kept     ${path}`)
  for (const path of ["package.json", ...written.map(([path]) => path)].sort()) printLine(`written  ${path}`)
  const steps = [...(folder === process.cwd() ? [] : [`cd ${quoteShellWord(relative(".", folder))}`]), "npm install"]
  printLine(`\nNext: ${[...steps, "npm test"].join(" && ")}\nThe README.md of the project says more.`)
  return 0
}

/** Writes new files. If one cannot be written, those before it are removed. */
async function writeAll(files: Readonly<Record<string, string>>, folder: string): Promise<void> {
  const begun: string[] = []
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    try {
      await mkdir(dirname(path), { recursive: true })
      begun.push(path)
      await writeFile(path, text, { flag: "wx" })
    } catch (error) {
      for (const each of begun) await rm(each, { force: true })
      throw namedIfFull(error, path)
    }
  }
}

async function checkTemplate(name: string): Promise<void> {
  if (templates.some((each) => each === name)) return
  const hint = await suggestion(name, templates)
  throw new UsageError(
    `There is no template "${name}".${hint} There are: ${templates.join(", ")}. To name a folder: karst init --to ${quoteShellWord(name)}`,
  )
}

function refuseOverwriting(existing: readonly string[], folder: string): void {
  const taken = existing.filter((path) => !keptFiles.includes(path))
  if (taken.length === 0) return
  throw new UsageError(
    `${folder} has ${taken.join(", ")} already. Nothing was written. Create the project elsewhere: karst init --to my-agent`,
  )
}

/** The files of a template by path, with their texts. npm leaves files named `.gitignore` out of packages. */
async function readTemplate(name: string): Promise<Record<string, string>> {
  const folder = join(templatesFolder, name)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const files = paths.map(async (path): Promise<[string, string]> => {
    const name = relative(folder, path).replaceAll("\\", "/")
    return [name === "gitignore" ? ".gitignore" : name, await readFile(path, "utf8")]
  })
  return Object.fromEntries(await Promise.all(files))
}

type JsonObject = Record<string, unknown>

/** The text of package.json: what is there already, and what it lacks. */
function projectManifest(folder: string): string {
  const path = join(folder, "package.json")
  const found = existsSync(path) ? readManifest(path) : newManifest(folder)
  if (found.type !== undefined && found.type !== "module")
    throw new UsageError(`${path} says "type": "${found.type}". The project needs "type": "module"; change it first.`)
  const { test, ...scripts } = objectOf(found.scripts)
  // `npm init` writes a test script that only fails.
  const ownTest = typeof test === "string" && !test.includes("no test specified") ? { test } : {}
  const merged = {
    ...found,
    type: "module",
    scripts: { start: "karst run", test: 'node --test "test/**/*.test.ts"', check: "tsc", ...scripts, ...ownTest },
    dependencies: { karst: `^${ownVersion()}`, ...objectOf(found.dependencies) },
    devDependencies: { "@types/node": "^24.0.0", typescript: "^7.0.0", ...objectOf(found.devDependencies) },
  }
  return `${JSON.stringify(merged, undefined, 2)}\n`
}

function newManifest(folder: string): JsonObject {
  const name = (
    basename(folder)
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  ).join("-")
  return { name: name || "my-agent", version: "0.0.0", private: true, engines: { node: ">=24" } }
}

function readManifest(path: string): JsonObject {
  try {
    const read: unknown = JSON.parse(readFileSync(path, "utf8"))
    if (isRecord(read)) return read
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new UsageError(`${path} is no JSON object. Correct it, or create the project elsewhere with --to.`)
}

function objectOf(value: unknown): JsonObject {
  return isRecord(value) ? value : {}
}
