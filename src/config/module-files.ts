// Lists the files that a configuration runs: the file itself and the files that it imports by their paths.
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { attempt } from "../core/attempt.ts"
import { ConfigError } from "../core/errors.ts"
import { isRecord } from "../core/object.ts"
import { walk } from "../runtime/compiler/parse-cell.ts"
import { parseTypeScript } from "../runtime/compiler/typescript-parser.ts"

/** Returns the absolute paths of a module and of everything that it imports by a path, sorted. Links are followed, as
 *  Node does. Does not find imports whose path is computed, nor those of packages. */
export function moduleFiles(file: string): string[] {
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    if (!/\.[cm]?[jt]s$/.test(path)) return
    for (const specifier of importedPaths(readFileSync(path, "utf8"))) {
      const imported = resolveImport(path, specifier)
      const real = imported === undefined ? undefined : realpathSync(imported)
      // Reading a device or a pipe could take forever.
      if (real !== undefined && statSync(real).isFile()) visit(real)
    }
  }
  const main = realpathSync(resolve(file))
  if (!statSync(main).isFile()) throw new ConfigError(`The configuration "${file}" is not a file. Remove it.`)
  visit(main)
  return [...found].sort()
}

/** Whether an import names a file, relative, absolute or by package.json, instead of a package. */
export function isPathImport(specifier: string): boolean {
  return /^(?:\.{0,2}\/|\.{1,2}$|file:|#)/.test(specifier)
}

function importedPaths(source: string): string[] {
  const program = attempt(() => parseTypeScript(source))
  // Node runs some scripts that the parser refuses. Any text in them may be a path.
  if (!program)
    return [...source.matchAll(/(["'`])((?:(?!\1)[^\n\\])+)\1/g)].map(([, , text = ""]) => text).filter(isPathImport)
  const found: string[] = []
  // The function that `createRequire` returns can have any name.
  const makesRequire = source.includes("createRequire")
  const add = (node: object | null | undefined) => {
    const text = node ? literalText(node) : undefined
    if (text !== undefined && isPathImport(text)) found.push(text)
  }
  walk(program, (node) => {
    if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") add(node.source)
    else if (node.type === "ExportNamedDeclaration" || node.type === "ImportExpression") add(node.source)
    else if (node.type === "TSExternalModuleReference") add(node.expression)
    else if (node.type === "CallExpression" && (makesRequire || isRequire(node.callee))) add(node.arguments[0])
  })
  return found
}

/** `require`, or a member of that name. */
function isRequire(callee: object): boolean {
  const named = "property" in callee ? callee.property : callee
  return isRecord(named) && named.name === "require"
}

/** The text of a literal, or of a template without expressions. */
function literalText(node: object): string | undefined {
  if ("value" in node) return typeof node.value === "string" ? node.value : undefined
  if (!("quasis" in node) || !Array.isArray(node.quasis) || node.quasis.length !== 1) return undefined
  return node.quasis[0]?.value?.cooked ?? undefined
}

function resolveImport(from: string, specifier: string): string | undefined {
  const path = specifier.startsWith("#") ? undefined : pathOf(from, specifier)
  if (path === undefined) return attempt(() => createRequire(from).resolve(specifier))
  const asTypeScript = path.replace(/\.([cm]?)js$/, ".$1ts")
  const candidates = [path, asTypeScript, `${path}.ts`, `${path}.mts`, `${path}.cts`, `${path}/index.ts`]
  const found = candidates.find((each) => /\.\w+$/.test(each) && existsSync(each))
  return found ?? attempt(() => createRequire(from).resolve(path))
}

/** The path that `import` would load: without a query, and with escaped characters decoded. */
function pathOf(from: string, specifier: string): string | undefined {
  const asWritten = resolve(dirname(from), specifier)
  if (!specifier.startsWith("file:") && existsSync(asWritten)) return asWritten
  return attempt(() => fileURLToPath(new URL(specifier, pathToFileURL(from)))) ?? asWritten
}
