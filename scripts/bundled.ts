// Decides which packages the build puts into dist.
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { OutputAsset, OutputChunk, Plugin } from "rollup"
import { type MinifyOptions, minify } from "terser"
import { root } from "./tools.ts"

// As dependencies, the packages that serve MCP would make an install 8.6 MB larger; the part that Karst uses is far
// smaller.
const bundled = /(?:^|\/node_modules\/)(?:@modelcontextprotocol\/(?:server|node|core)|@hono\/node-server|hono)(?=\/|$)/

/** Whether a module of a package is put into dist. */
export function isBundled(id: string): boolean {
  return bundled.test(id)
}

/** Finds the modules of those packages and makes them small. */
export function packagesInside(): Plugin {
  return {
    name: "packages-inside",
    resolveId(source, importer) {
      if (importer === undefined || source.startsWith(".") || source.startsWith("/") || !isBundled(source)) return null
      return moduleFile(source, importer)
    },
    load: (id) => (validators.test(id) ? noValidator : null),
    transform: async (code, id) => (isBundled(id) ? { code: await minified(code), map: null } : null),
  }
}

// The server's validator of JSON Schemas is ajv, 150 KB. Karst passes one of its own (mcp/server/schema-validator.ts).
const validators = /\/@modelcontextprotocol\/server\/dist\/shimsNode\.mjs$/
const noValidator = `
import process from "node:process"
class DefaultJsonSchemaValidator {
  constructor() { throw new Error("The build of Karst has no default validator. Pass jsonSchemaValidator.") }
}
export { DefaultJsonSchemaValidator, process }`

// Names of classes and functions stay, because errors show them.
const minifyOptions: MinifyOptions = {
  module: true,
  keep_classnames: true,
  keep_fnames: true,
  format: { comments: /^!|@license|@preserve/ },
}

async function minified(code: string): Promise<string> {
  const result = await minify(code, minifyOptions)
  if (result.code === undefined) throw new Error("terser returned no code.")
  return result.code
}

function moduleFile(specifier: string, importer: string): string {
  const manifest = findPackageJSON(specifier, pathToFileURL(importer))
  if (manifest === undefined) throw new Error(`"${specifier}" is not installed. Run: npm ci`)
  const { name, exports }: { name: string; exports: Record<string, Target> } = JSON.parse(
    readFileSync(manifest, "utf8"),
  )
  const file = pick(exports[`.${specifier.slice(name.length)}`])
  if (file === undefined) throw new Error(`"${name}" has no module "${specifier}" for Node.`)
  return join(dirname(manifest), file)
}

type Target = string | { [condition: string]: Target } | undefined

function pick(target: Target): string | undefined {
  if (typeof target !== "object") return target
  for (const [condition, inner] of Object.entries(target)) {
    if (["node", "import", "default"].includes(condition)) return pick(inner)
  }
  return undefined
}

/** Writes the licences of everything that was put into dist, also of the code that those packages contain. */
export function writeNotice(folder: string, output: readonly (OutputChunk | OutputAsset)[]): void {
  const modules = output.flatMap((file) => (file.type === "chunk" ? Object.entries(file.modules) : []))
  // With the version, where it is known: what a package has put together itself may be another than is installed here.
  const names = new Map<string, string>()
  for (const [path, { renderedLength }] of modules) {
    const [name] = namesIn(path)
    if (name === undefined || renderedLength === 0) continue
    names.set(name, ` ${manifestOf(name).version}`)
    for (const [line] of readFileSync(path, "utf8").matchAll(/^\/\/#region .*$/gm)) {
      for (const inner of namesIn(line)) if (!names.has(inner)) names.set(inner, "")
    }
  }
  const sections = [...names].sort().map(([name, version]) => licenceOf(name, version))
  writeFileSync(join(folder, "THIRD-PARTY.md"), `${[head, ...sections].join("\n\n")}\n`)
}

const head =
  "# Code of others in this package\n\nFiles in `chunks/` contain code of these packages, under their own licences."

/** The package that a path below node_modules belongs to. */
function namesIn(path: string): string[] {
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? []
  return name === undefined ? [] : [name]
}

function manifestOf(name: string): { version: string; license: string } {
  return JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"))
}

function licenceOf(name: string, version: string): string {
  const folder = join(root, "node_modules", name)
  const [file] = globSync("LICEN[CS]E*", { cwd: folder })
  if (file === undefined) throw new Error(`"${name}" has no file with its licence. It cannot be put into dist.`)
  const text = readFileSync(join(folder, file), "utf8").trim()
  return `## ${name}${version} (${manifestOf(name).license})\n\n\`\`\`\n${text}\n\`\`\``
}
