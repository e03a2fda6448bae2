// Reads emitted `.d.ts` files: what each declares, imports and exports, and which names a declaration mentions.
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { tsPlugin } from "@sveltejs/acorn-typescript"
import { Parser } from "acorn"

export interface TypeModule {
  declarations: Declaration[]
  /** What it imports or exports again, by the name it has here. `from` is a path in the folder or a package. */
  imports: Map<string, Imported>
  exports: { name: string; typeOnly: boolean }[]
}

export interface Imported {
  from: string
  isPackage: boolean
  /** `*` for the whole module. */
  name: string
}

export interface Declaration {
  /** Several declarations can have one name: overloads, and additions to an interface. */
  names: string[]
  /** The module whose imports the text uses. */
  module: string
  isType: boolean
  /** The comment before it, with its marks. */
  comment: string
  /** Without `export` and `declare`. */
  text: string
  mentions: Mention[]
}

/** A name in the text of a declaration: `Step`, `check.Step` or `import("./check.ts").Step`. */
export interface Mention {
  /** Where it is in the text. */
  start: number
  end: number
  /** The module whose name it is. */
  module: string
  name: string
}

interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

const parser = Parser.extend(tsPlugin({ dts: true }))

/** Reads all `.d.ts` files of a folder, by their paths in it. What a module adds to an interface of another one by
 *  `declare module "./other.ts"` is among the declarations of the other. What it adds to a package is a declaration
 *  named after the package, of the module "". */
export function readTypes(folder: string): Map<string, TypeModule> {
  const modules = new Map<string, TypeModule>([["", { declarations: [], imports: new Map(), exports: [] }]])
  const additions: { to: string; declaration: Declaration }[] = []
  for (const path of globSync("**/*.d.ts", { cwd: folder }).sort()) {
    const text = readFileSync(join(folder, path), "utf8")
    modules.set(
      path,
      readModule(path, text, (to, declaration) => additions.push({ to, declaration })),
    )
  }
  for (const { to, declaration } of additions) modules.get(to)?.declarations.push(declaration)
  return modules
}

/** Where a name leads: to declarations and the name they have, to a package, or nowhere if it is a global name. */
export type Found = { declarations: Declaration[]; name: string } | { external: Imported } | undefined

/** Follows a name of a module through imports. */
export function findName(modules: Map<string, TypeModule>, path: string, name: string): Found {
  const module = modules.get(path)
  if (!module) throw new Error(`There are no types for ${path}.`)
  const declarations = module.declarations.filter(({ names }) => names.includes(name))
  if (declarations.length > 0) return { declarations, name }
  const imported = module.imports.get(name)
  if (!imported) return undefined
  return imported.isPackage ? { external: imported } : findName(modules, imported.from, imported.name)
}

function readModule(path: string, text: string, add: (to: string, declaration: Declaration) => void): TypeModule {
  const module: TypeModule = { declarations: [], imports: new Map(), exports: [] }
  const program = parser.parse(text, { ecmaVersion: "latest", sourceType: "module" }) as unknown as { body: Node[] }
  const imports = (local: string, source: Node, name: string) =>
    module.imports.set(local, { ...target(path, String(source.value)), name })
  // Imports first: mentions are read by them.
  for (const statement of program.body) {
    for (const specifier of nodes(statement.specifiers)) {
      if (statement.type === "ImportDeclaration") {
        const name = specifier.type === "ImportNamespaceSpecifier" ? "*" : nameOf(specifier.imported)
        imports(nameOf(specifier.local), statement.source as Node, name)
      } else if (statement.source) {
        imports(nameOf(specifier.exported), statement.source as Node, nameOf(specifier.local))
        const typeOnly =
          /^export type\b/.test(text.slice(statement.start)) || /^type\s/.test(text.slice(specifier.start))
        module.exports.push({ name: nameOf(specifier.exported), typeOnly })
      } else throw new Error(`${path} exports a name apart from its declaration, which the build does not read.`)
    }
  }
  for (const statement of program.body) {
    const declared = (statement.declaration as Node | null | undefined) ?? statement
    if (declared.type === "TSModuleDeclaration") {
      const to = target(path, String((declared.id as Node).value))
      if (to.isPackage) add("", { ...declaration(declared), names: [to.from] })
      else for (const inner of nodes((declared.body as Node).body)) add(to.from, declaration(inner))
    } else if (declared.id || declared.declarations) {
      module.declarations.push(declaration(declared, statement.start))
      if (declared !== statement) for (const name of namesOf(declared)) module.exports.push({ name, typeOnly: false })
    }
  }
  return module

  function declaration(node: Node, start = node.start): Declaration {
    const source = text.slice(node.start, node.end)
    const shortened = source.replace(/^declare /, "")
    const offset = node.start + source.length - shortened.length
    return {
      names: namesOf(node),
      module: path,
      isType: node.type === "TSInterfaceDeclaration" || node.type === "TSTypeAliasDeclaration",
      comment: /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(text.slice(0, start))?.[0].trim() ?? "",
      text: shortened,
      mentions: mentionsIn(path, module.imports, node).map((mention) => ({
        ...mention,
        start: mention.start - offset,
        end: mention.end - offset,
      })),
    }
  }
}

function target(path: string, source: string): { from: string; isPackage: boolean } {
  if (!source.startsWith(".")) return { from: source, isPackage: true }
  return { from: join(dirname(path), source.replace(/\.[tj]s$/, ".d.ts")), isPackage: false }
}

function mentionsIn(path: string, imports: Map<string, Imported>, root: Node): Mention[] {
  const mentions: Mention[] = []
  const parameters = new Set<string>()
  const mention = (node: Node): void => {
    if (node.type === "Identifier")
      mentions.push({ start: node.start, end: node.end, module: path, name: nameOf(node) })
    const left = (node.left ?? node.object) as Node | undefined
    if (!left) return
    const whole = left.type === "Identifier" ? imports.get(nameOf(left)) : undefined
    if (whole?.name !== "*") mention(left)
    else mentions.push({ start: node.start, end: node.end, module: whole.from, name: nameOf(node.right) })
  }
  const visit = (node: Node): void => {
    if (node.type === "TSTypeParameter") parameters.add(typeof node.name === "string" ? node.name : nameOf(node.name))
    if (node.type === "TSImportType") {
      const qualifier = node.qualifier as Node
      const from = target(
        path,
        String((node.argument as Node).value ?? ((node.argument as Node).literal as Node).value),
      )
      if (!from.isPackage)
        mentions.push({ start: node.start, end: qualifier.end, module: from.from, name: nameOf(qualifier) })
    }
    for (const field of ["typeName", "exprName", "superClass", "expression"]) {
      const named = node[field] as Node | null | undefined
      if (named?.type !== undefined) mention(named)
    }
    if (node.computed === true) mention(node.key as Node)
    for (const value of Object.values(node)) for (const inner of nodes(value)) visit(inner)
  }
  visit(root)
  return mentions.filter(({ module, name }) => module !== path || !parameters.has(name))
}

function namesOf(node: Node): string[] {
  const declarators = nodes(node.declarations)
  return declarators.length > 0 ? declarators.map(({ id }) => nameOf(id)) : [nameOf(node.id)]
}

function nameOf(value: unknown): string {
  return String((value as { name?: unknown } | undefined)?.name)
}

function nodes(value: unknown): Node[] {
  const list = Array.isArray(value) ? value : [value]
  return list.filter((item) => typeof item === "object" && item !== null && typeof item.type === "string")
}
