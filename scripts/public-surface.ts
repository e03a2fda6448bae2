// Reads the public surface from the emitted types: every exported name of every public module with its declaration and
// its comments. `npm run api` writes it to etc/api.md, `npm run docs` makes the API reference of it.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { tsPlugin } from "@sveltejs/acorn-typescript"
import { Parser } from "acorn"
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

interface Statement {
  type: string
  start: number
  end: number
  declaration?: Statement | null
  declarations?: { id: { name: string } }[]
  id?: { name: string } | null
  source?: { value: string } | null
  specifiers?: { local: { name: string }; exported: { name: string } }[]
}

/** What one emitted file declares or exports again: by name. */
interface DeclarationFile {
  text: string
  declared: Map<string, Declared[]>
  forwarded: Map<string, { from: string; name: string }>
}

interface Declared {
  statement: Statement
  comment: string
}

const parser = Parser.extend(tsPlugin({ dts: true }))

/** Emits the types into a temporary folder and reads them. Gives undefined if they do not compile; the compiler has
 *  then printed its errors. */
export function readPublicSurface(): PublicModule[] | undefined {
  const folder = mkdtempSync(join(tmpdir(), "karst-types-"))
  try {
    const settings = ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", folder]
    if (runTool("typescript/bin/tsc", settings) !== 0) return undefined
    const files = new Map<string, DeclarationFile>()
    return publicModules().map(({ name, types, source }) => ({
      name,
      summary: firstComment(readFileSync(join(root, source), "utf8")),
      exports: exportsOf(folder, types, files),
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

function exportsOf(folder: string, path: string, files: Map<string, DeclarationFile>): PublicExport[] {
  const { declared, forwarded } = readTypes(folder, path, files)
  return [...new Set([...declared.keys(), ...forwarded.keys()])]
    .sort()
    .map((name) => find(folder, path, name, name, files))
}

function find(
  folder: string,
  path: string,
  name: string,
  as: string,
  files: Map<string, DeclarationFile>,
): PublicExport {
  const { text, declared, forwarded } = readTypes(folder, path, files)
  const found = declared.get(name)
  if (found) {
    const isType = found.every(
      ({ statement: { type } }) => type === "TSInterfaceDeclaration" || type === "TSTypeAliasDeclaration",
    )
    const source = found.map(({ statement: { start, end } }) => text.slice(start, end)).join("\n")
    const alias = as === name ? "" : `// exported as ${as}\n`
    const comment = found.find(({ comment }) => comment !== "")?.comment ?? ""
    return { name: as, isType, comment, declaration: `${alias}${source.replace(/^declare /gm, "")}` }
  }
  const target = forwarded.get(name)
  if (!target) throw new Error(`${path} exports ${name}, which is declared nowhere`)
  return find(folder, join(dirname(path), target.from.replace(/\.ts$/, ".d.ts")), target.name, as, files)
}

function readTypes(folder: string, path: string, files: Map<string, DeclarationFile>): DeclarationFile {
  const known = files.get(path)
  if (known) return known
  const text = readFileSync(join(folder, path), "utf8")
  const file: DeclarationFile = { text, declared: new Map(), forwarded: new Map() }
  files.set(path, file)
  const program = parser.parse(text, { ecmaVersion: "latest", sourceType: "module" })
  for (const statement of program.body as unknown as Statement[]) {
    if (statement.type !== "ExportNamedDeclaration") continue
    const { declaration, specifiers = [], source } = statement
    for (const { local, exported } of specifiers)
      if (source) file.forwarded.set(exported.name, { from: source.value, name: local.name })
    if (!declaration) continue
    const declared = { statement: declaration, comment: commentBefore(text, statement.start) }
    const names = declaration.declarations?.map(({ id }) => id.name) ?? [declaration.id?.name ?? ""]
    for (const name of names) file.declared.set(name, [...(file.declared.get(name) ?? []), declared])
  }
  return file
}

function commentBefore(text: string, end: number): string {
  const start = text.lastIndexOf("/**", end)
  const comment = start === -1 ? "" : text.slice(start, end).trimEnd()
  if (!comment.endsWith("*/") || comment.indexOf("*/") !== comment.length - 2) return ""
  return comment
    .slice(3, -2)
    .replaceAll(/^\s*\* ?/gm, "")
    .trim()
}
