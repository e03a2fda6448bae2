// Gathers the emitted types of the public modules in one file, dist/types.d.ts: a file takes at least 4 KB of a disk,
// and the compiler emits a file for each module, also with declarations that no public module needs.
import { globSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { type Declaration, findName, readTypes, type TypeModule } from "./read-types.ts"

const shared = "types.d.ts"

/** Replaces the `.d.ts` files of a folder by one for each entry and a file that these export from. An entry that
 *  imports from one of the `optional` packages keeps its own declarations, so that no other entry needs the package. */
export function gatherTypes(folder: string, entries: readonly string[], optional: ReadonlySet<string>): void {
  const modules = readTypes(folder)
  const paths = entries.map((entry) => `${entry}.d.ts`)
  const kept = keptDeclarations(modules, paths)
  const files = new Map([shared, ...paths].map((path) => [path, [] as Declaration[]]))
  for (const declaration of kept) {
    const imported = optionalImport(modules, declaration, optional)
    const file = files.get(imported === undefined ? shared : declaration.module)
    if (!file)
      throw new Error(
        `${declaration.module} imports the types of the optional package ${imported}. Only a public module may: move what uses them there, or declare the part that is used.`,
      )
    file.push(declaration)
  }
  const names = chooseNames(modules, kept, paths)
  for (const path of globSync("**/*.d.ts", { cwd: folder })) rmSync(join(folder, path))
  for (const [path, declarations] of files) {
    const parts = [
      importLines(modules, path, declarations, names),
      ...declarations.map((one) => print(modules, one, names)),
    ]
    if (path !== shared) parts.push(exportLine(modules, path, files, names))
    writeFileSync(join(folder, path), indentedByTabs(`${parts.filter((part) => part !== "").join("\n")}\n`))
  }
  removeEmptyFolders(folder)
}

type Modules = Map<string, TypeModule>
/** The names that declarations have in the output, by the names that they have in their modules. */
type Names = Map<Declaration, Map<string, string>>

/** What the entries export, and everything that is mentioned there. */
function keptDeclarations(modules: Modules, entries: string[]): Set<Declaration> {
  const kept = new Set<Declaration>()
  const keep = (path: string, name: string): void => {
    const found = findName(modules, path, name)
    if (found === undefined) return
    const declarations = "declarations" in found ? found.declarations : additionsTo(modules, found.external.from)
    for (const declaration of declarations) {
      if (kept.has(declaration)) continue
      kept.add(declaration)
      for (const mention of declaration.mentions) keep(mention.module, mention.name)
    }
  }
  for (const path of entries) for (const { name } of modules.get(path)?.exports ?? []) keep(path, name)
  return kept
}

function additionsTo(modules: Modules, packageName: string): Declaration[] {
  return modules.get("")?.declarations.filter(({ names }) => names.includes(packageName)) ?? []
}

function optionalImport(modules: Modules, { module }: Declaration, optional: ReadonlySet<string>): string | undefined {
  const imports = [...(modules.get(module)?.imports.values() ?? [])]
  return imports.find(({ from }) => optional.has(from))?.from
}

/** Gives each declaration a name of its own. The first of several with the same name keeps it, public ones first. */
function chooseNames(modules: Modules, kept: Set<Declaration>, entries: string[]): Names {
  const taken = globalNames(modules, kept)
  const names: Names = new Map()
  const choose = (declarations: Declaration[], name: string): void => {
    if (declarations.every((declaration) => names.get(declaration)?.has(name))) return
    let unique = name
    for (let n = 2; taken.has(unique); n++) unique = `${name}_${n}`
    taken.add(unique)
    for (const declaration of declarations) {
      const chosen = names.get(declaration) ?? new Map<string, string>()
      names.set(declaration, chosen.set(name, unique))
    }
  }
  for (const path of entries) {
    for (const { name } of modules.get(path)?.exports ?? []) {
      const found = findName(modules, path, name)
      if (found && "declarations" in found) choose(found.declarations, found.name)
    }
  }
  for (const [path, { declarations }] of modules) {
    if (path === "") continue
    for (const declaration of declarations.filter((one) => kept.has(one)))
      for (const name of declaration.names)
        choose(
          declarations.filter(({ names }) => names.includes(name)),
          name,
        )
  }
  return names
}

/** Names that mean something outside of the modules: globals and what is imported from packages. */
function globalNames(modules: Modules, kept: Set<Declaration>): Set<string> {
  const found = new Set<string>()
  for (const { mentions } of kept) {
    for (const { module, name } of mentions) {
      const target = findName(modules, module, name)
      if (target === undefined || "external" in target) found.add(name)
    }
  }
  return found
}

function print(modules: Modules, declaration: Declaration, names: Names): string {
  const { comment, isType } = declaration
  let text = declaration.text
  for (const { start, end, module, name } of declaration.mentions.toSorted((a, b) => b.start - a.start)) {
    const found = findName(modules, module, name)
    if (!found || !("declarations" in found)) continue
    const [target] = found.declarations
    const chosen = target && names.get(target)?.get(found.name)
    if (chosen !== undefined) text = `${text.slice(0, start)}${chosen}${text.slice(end)}`
  }
  for (const [name, chosen] of names.get(declaration) ?? [])
    if (name !== chosen) text = text.replace(new RegExp(`\\b${name}\\b`), chosen)
  const start = text.startsWith("module ") ? "declare " : isType ? "export " : "export declare "
  return `${comment === "" ? "" : `${comment}\n`}${start}${text}`
}

function importLines(modules: Modules, path: string, declarations: Declaration[], names: Names): string {
  const lines = new Map<string, Set<string>>()
  for (const { mentions } of declarations) {
    for (const { module, name } of mentions) {
      const found = findName(modules, module, name)
      if (found === undefined) continue
      if ("external" in found) {
        if (found.external.name !== name) throw new Error(`${module} renames ${found.external.name} in an import.`)
        lines.set(found.external.from, (lines.get(found.external.from) ?? new Set()).add(name))
      } else if (path !== shared && found.declarations.some((one) => !declarations.includes(one))) {
        const [first] = found.declarations
        const chosen = (first && names.get(first)?.get(found.name)) ?? name
        lines.set(addressFrom(path), (lines.get(addressFrom(path)) ?? new Set()).add(chosen))
      }
    }
  }
  return [...lines].map(([from, list]) => `import type { ${[...list].join(", ")} } from "${from}";`).join("\n")
}

function exportLine(modules: Modules, path: string, files: Map<string, Declaration[]>, names: Names): string {
  const specifiers: string[] = []
  for (const { name, typeOnly } of modules.get(path)?.exports ?? []) {
    const found = findName(modules, path, name)
    if (!found || !("declarations" in found)) throw new Error(`${path} exports ${name}, which is declared nowhere.`)
    const [first] = found.declarations
    // What an entry declares itself is exported where it is declared.
    if (!first || files.get(path)?.includes(first)) continue
    const chosen = names.get(first)?.get(found.name) ?? name
    const type = typeOnly || found.declarations.every(({ isType }) => isType) ? "type " : ""
    const specifier = `${type}${chosen === name ? name : `${chosen} as ${name}`}`
    if (!specifiers.includes(specifier)) specifiers.push(specifier)
  }
  return specifiers.length === 0 ? "" : `export { ${specifiers.join(", ")} } from "${addressFrom(path)}";`
}

function addressFrom(path: string): string {
  return relative(dirname(path), "types.js").replace(/^(?!\.)/, "./")
}

function indentedByTabs(types: string): string {
  return types.replaceAll(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4))
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name))
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}
