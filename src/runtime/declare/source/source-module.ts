// Modules of the user as text and syntax tree: what they declare, import and export.
import { readFileSync, statSync } from "node:fs"
import { dirname, extname, resolve } from "node:path"
import type { ModuleDeclaration, Program, Statement } from "acorn"
import { attempt } from "../../../core/attempt.ts"
import { parseCell } from "../../compiler/parse-cell.ts"
import { type DeclaredNode, declarations } from "../author-source.ts"

export interface SourceModule {
  path: string
  code: string
  program: Program
  /** The top-level declarations by name. */
  declared: ReadonlyMap<string, DeclaredNode[]>
  /** The imported names, by their names here. */
  imports: ReadonlyMap<string, ImportedName>
  /** The exported names that have other names here, or that come from another module. */
  exports: ReadonlyMap<string, ImportedName>
  /** The modules after `export * from`. */
  exportedModules: readonly string[]
}

export interface ImportedName {
  /** Undefined: the module itself. */
  specifier?: string | undefined
  /** The exported name; "*" for the whole module. */
  name: string
}

/** Parses a module. Returns undefined if it is not TypeScript. */
export function parseModule(path: string, code: string): SourceModule | undefined {
  return attempt(() => {
    const { program } = parseCell(code)
    const imports = new Map<string, ImportedName>()
    const exports = new Map<string, ImportedName>()
    const exportedModules: string[] = []
    for (const statement of program.body) readStatement(statement, imports, exports, exportedModules)
    return { path, code, program, declared: declarations(program, code), imports, exports, exportedModules }
  })
}

/** Returns the module in a file, parsed once. Returns undefined if it cannot be read. */
export function readModule(path: string): SourceModule | undefined {
  const known = modules.get(path)
  if (known !== undefined) return known ?? undefined
  const code = readText(path)
  const module = code === undefined ? undefined : parseModule(path, code)
  modules.set(path, module ?? null)
  return module
}

const modules = new Map<string, SourceModule | null>()

/** Returns the text of a file; undefined if it cannot be read or is too long to be written by hand. */
export function readText(path: string): string | undefined {
  return attempt(() => {
    const { size } = statSync(path)
    return size > maxFileBytes ? undefined : readFileSync(path, "utf8").replace(/^\uFEFF/, "")
  })
}

const maxFileBytes = 500_000

/** Returns the file that a relative specifier names, as TypeScript finds it. */
export function resolveRelative(from: SourceModule, specifier: string): string | undefined {
  const target = resolve(dirname(from.path), specifier)
  const end = extname(target)
  const stem = target.slice(0, target.length - end.length)
  const typed = compiledEndings[end]?.map((ending) => stem + ending) ?? []
  const endings = [".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", "/index.ts", "/index.d.ts", "/index.js"]
  const isSource = /^\.[cm]?tsx?$/.test(end)
  return [...(isSource ? [target, ...typed] : [...typed, target]), ...endings.map((ending) => target + ending)].find(
    isFile,
  )
}

/** The files with the types of a compiled file. */
const compiledEndings: { [ending: string]: readonly string[] } = {
  ".js": [".ts", ".tsx", ".d.ts"],
  ".jsx": [".tsx", ".d.ts"],
  ".mjs": [".mts", ".d.mts"],
  ".cjs": [".cts", ".d.cts"],
  ".ts": [".d.ts"],
  ".mts": [".d.mts"],
  ".cts": [".d.cts"],
}

function isFile(path: string): boolean {
  return attempt(() => statSync(path).isFile()) ?? false
}

/** Returns the file of declarations beside a compiled file. */
export function declarationFileOf(path: string): string | undefined {
  const end = extname(path)
  return compiledEndings[end]
    ?.filter((ending) => ending.startsWith(".d."))
    .map((ending) => path.slice(0, path.length - end.length) + ending)
    .find(isFile)
}

function readStatement(
  statement: Statement | ModuleDeclaration,
  imports: Map<string, ImportedName>,
  exports: Map<string, ImportedName>,
  exportedModules: string[],
): void {
  if (statement.type === "ImportDeclaration") {
    const specifier = String(statement.source.value)
    for (const each of statement.specifiers) {
      const isNamed = each.type === "ImportSpecifier"
      const other = each.type === "ImportDefaultSpecifier" ? "default" : "*"
      imports.set(each.local.name, { specifier, name: isNamed ? nameOf(each.imported) : other })
    }
  }
  if (statement.type === "ExportAllDeclaration") {
    const specifier = String(statement.source.value)
    if (statement.exported) exports.set(nameOf(statement.exported), { specifier, name: "*" })
    else exportedModules.push(specifier)
  }
  if (statement.type === "ExportNamedDeclaration") {
    const specifier = statement.source ? String(statement.source.value) : undefined
    for (const { local, exported } of statement.specifiers) {
      exports.set(nameOf(exported), { specifier, name: nameOf(local) })
    }
  }
  if (statement.type === "ExportDefaultDeclaration") {
    const { declaration } = statement
    const name = "id" in declaration && declaration.id?.type === "Identifier" ? declaration.id.name : undefined
    const alias = declaration.type === "Identifier" ? declaration.name : name
    if (alias !== undefined) exports.set("default", { name: alias })
  }
}

function nameOf(node: { name: string } | { value?: unknown }): string {
  return "name" in node ? node.name : String(node.value)
}
