// Lists the files that a configuration runs: the file itself and the files that it imports by relative paths.
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, resolve } from "node:path"
import { attempt } from "../core/attempt.ts"
import { walk } from "../runtime/compiler/parse-cell.ts"
import { parseTypeScript } from "../runtime/compiler/typescript-parser.ts"

/** Returns the absolute paths of a module and of everything that it imports by a relative path, sorted. Does not find
 *  imports whose path is computed, nor those of packages. */
export function moduleFiles(file: string): string[] {
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    if (!/\.[cm]?[jt]s$/.test(path)) return
    for (const specifier of relativeImports(readFileSync(path, "utf8"))) {
      const imported = resolveImport(path, specifier)
      if (imported !== undefined) visit(imported)
    }
  }
  visit(resolve(file))
  return [...found].sort()
}

function relativeImports(source: string): string[] {
  const program = attempt(() => parseTypeScript(source))
  const found: string[] = []
  const add = (node: { type: string } | null | undefined) => {
    if (node && "value" in node && typeof node.value === "string" && /^\.{1,2}\//.test(node.value))
      found.push(node.value)
  }
  if (!program) return found
  walk(program, (node) => {
    if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") add(node.source)
    else if (node.type === "ExportNamedDeclaration" || node.type === "ImportExpression") add(node.source)
    else if (node.type === "CallExpression" && node.callee.type === "Identifier" && node.callee.name === "require")
      add(node.arguments[0])
  })
  return found
}

function resolveImport(from: string, specifier: string): string | undefined {
  const path = resolve(dirname(from), specifier)
  const asTypeScript = path.replace(/\.([cm]?)js$/, ".$1ts")
  const candidates = [path, asTypeScript, `${path}.ts`, `${path}.mts`, `${path}.cts`, `${path}/index.ts`]
  const found = candidates.find((each) => /\.\w+$/.test(each) && existsSync(each))
  return found ?? attempt(() => createRequire(from).resolve(specifier))
}
