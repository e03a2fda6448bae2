// Reads the public surface from the emitted types: every exported name of every public module with its declaration and
// its comments. `npm run api` writes it to etc/api.md, `npm run docs` makes the API reference of it.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findName, readTypes, type TypeModule } from "./read-types.ts"
import { root, runTool } from "./tools.ts"

export interface PublicModule {
  /** As it is imported: `karst/models`. */
  name: string
  /** What the first comment of its source file says. */
  summary: string
  /** Sorted by name. */
  exports: PublicExport[]
}

export interface PublicExport {
  name: string
  isType: boolean
  /** The comment before the declaration, without its marks. */
  comment: string
  /** The declaration with the comments inside of it. */
  declaration: string
}

/** Emits the types into a temporary folder and reads them. Gives undefined if they do not compile; the compiler has
 *  then printed its errors. */
export function readPublicSurface(): PublicModule[] | undefined {
  const folder = mkdtempSync(join(tmpdir(), "karst-types-"))
  try {
    const settings = ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", folder]
    if (runTool("typescript/bin/tsc", settings) !== 0) return undefined
    const files = readTypes(folder)
    return publicModules().map(({ name, types, source }) => ({
      name,
      summary: firstComment(readFileSync(join(root, source), "utf8")),
      exports: exportsOf(files, types),
    }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A declaration without the comments inside of it. */
export function withoutComments(declaration: string): string {
  return declaration.replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, "")
}

function publicModules(): { name: string; types: string; source: string }[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, string | { types: string; "karst-source": string }>
  }
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === "string") return []
    const types = target.types.replace("./dist/", "")
    return [{ name: path.replace(".", "karst"), types, source: target["karst-source"] }]
  })
}

function firstComment(source: string): string {
  const [lines = ""] = /^(?:\/\/.*\n)*/.exec(source) ?? []
  return lines
    .replaceAll(/^\/\/ ?/gm, "")
    .replaceAll("\n", " ")
    .trim()
}

function exportsOf(files: Map<string, TypeModule>, path: string): PublicExport[] {
  const names = files.get(path)?.exports.map(({ name }) => name) ?? []
  return [...new Set(names)].sort().map((name) => publicExport(files, path, name))
}

function publicExport(files: Map<string, TypeModule>, path: string, name: string): PublicExport {
  const found = findName(files, path, name)
  if (!found || !("declarations" in found)) throw new Error(`${path} exports ${name}, which is declared nowhere`)
  const { declarations } = found
  const alias = found.name === name ? "" : `// exported as ${name}\n`
  return {
    name,
    isType: declarations.every(({ isType }) => isType),
    comment: withoutMarks(declarations.find(({ comment }) => comment !== "")?.comment ?? ""),
    declaration: `${alias}${declarations.map(({ text }) => text).join("\n")}`,
  }
}

function withoutMarks(comment: string): string {
  return comment
    .slice(3, -2)
    .replaceAll(/^\s*\* ?/gm, "")
    .trim()
}
