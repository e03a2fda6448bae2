// Finds the module of Node or of a package that exports a class, so that the declarations can refer to the class there.
import { builtinModules, createRequire } from "node:module"
import { dirname, join, resolve, sep } from "node:path"
import { attempt } from "../../../core/attempt.ts"
import { nameOfClass } from "../inspect-class.ts"
import { isIdentifier } from "../type-tree.ts"
import type { FunctionLocation } from "./locate-functions.ts"
import { scriptPath } from "./original-position.ts"
import { readText } from "./source-module.ts"

/** Returns text such as `import("node:sqlite").DatabaseSync`; undefined if no module exports the class by its name.
 *  Loads no module. */
export function packageReference(type: object, location: FunctionLocation | undefined): string | undefined {
  const name = nameOfClass(type)
  if (name === undefined || !isIdentifier(name)) return undefined
  if (!location || location.script.url.startsWith("node:")) return builtinReference(type, name)
  const path = scriptPath(location.script)
  return path === undefined ? undefined : attempt(() => installedReference(type, name, path))
}

/** Returns true for a file of an installed package. */
export function isPackageFile(path: string): boolean {
  return path.includes(`${sep}node_modules${sep}`)
}

function builtinReference(type: object, name: string): string | undefined {
  const module = loadedBuiltins().find((each) => {
    const exported: unknown = attempt(() => process.getBuiltinModule(each))
    return isObject(exported) && Object.getOwnPropertyDescriptor(exported, name)?.value === type
  })
  return module === undefined ? undefined : `import("node:${module.replace(/^node:/, "")}").${name}`
}

/** Returns the public modules of Node that are loaded. Loading others would take time and could print warnings. */
function loadedBuiltins(): string[] {
  const list: unknown = Reflect.get(process, "moduleLoadList")
  const loaded = new Set(Array.isArray(list) ? list : [])
  const isPublic = (name: string) => !name.startsWith("_") && name !== "punycode" && name !== "sys"
  return builtinModules.filter((name) => isPublic(name) && loaded.has(`NativeModule ${name.replace(/^node:/, "")}`))
}

function installedReference(type: object, name: string, path: string): string | undefined {
  const marker = `${sep}node_modules${sep}`
  const at = path.lastIndexOf(marker)
  if (at < 0) return undefined
  const [first = "", second = ""] = path.slice(at + marker.length).split(sep)
  const packageName = first.startsWith("@") ? `${first}/${second}` : first
  const folder = join(path.slice(0, at + marker.length), packageName)
  const inCommonJs = commonJsExport(type, name, packageName, path.slice(0, at))
  if (inCommonJs !== undefined) return `import("${packageName}").${inCommonJs}`
  const entry = entriesOf(folder).find(({ files }) => files.some((file) => exportsName(resolve(folder, file), name)))
  return entry && `import("${packageName}${entry.subpath}").${name}`
}

/** Looks in a CommonJS package that is already loaded. */
function commonJsExport(type: object, name: string, packageName: string, folder: string): string | undefined {
  const require = createRequire(join(folder, "index.js"))
  const exported: unknown = attempt(() => require.cache[require.resolve(packageName)]?.exports)
  if (exported === type) return "default"
  return isObject(exported) && Object.getOwnPropertyDescriptor(exported, name)?.value === type ? name : undefined
}

interface Entry {
  /** "" or text such as "/sqlite". */
  subpath: string
  /** Files of code and of types. */
  files: string[]
}

/** Returns the entry points of a package, the main one first. */
function entriesOf(folder: string): Entry[] {
  const manifest: unknown = JSON.parse(readText(join(folder, "package.json")) ?? "{}")
  if (!isObject(manifest)) return []
  const read = (key: string): unknown => Reflect.get(manifest, key)
  const exported = read("exports")
  const main = [read("types"), read("typings"), read("module"), read("main"), "index.d.ts", "index.js"].filter(isText)
  const hasSubpaths = isObject(exported) && Object.keys(exported).some((key) => key.startsWith("."))
  if (!hasSubpaths) return [{ subpath: "", files: [...filesIn(exported), ...main] }]
  const entries = Object.entries(exported)
    .filter(([key]) => !key.includes("*") && key !== "./package.json")
    .slice(0, maxEntries)
    .map(([key, target]): Entry => ({ subpath: key.slice(1), files: filesIn(target) }))
  return entries.sort((one, other) => one.subpath.length - other.subpath.length)
}

const maxEntries = 30

/** Returns the files named in a conditional export. */
function filesIn(target: unknown): string[] {
  if (isText(target)) return [target]
  return isObject(target) ? Object.values(target).flatMap(filesIn) : []
}

/** Returns true if a file, or one that it exports as a whole, exports the name. */
function exportsName(file: string, name: string, visited = new Set<string>()): boolean {
  if (visited.has(file) || visited.size >= maxFiles) return false
  visited.add(file)
  const text = /\.[cm]?[jt]s$/.test(file) ? readText(file) : undefined
  if (text === undefined) return false
  const word = name.replaceAll("$", "\\$")
  if (
    new RegExp(`\\bexport\\s+(?:declare\\s+)?(?:abstract\\s+)?(?:class|const|let|var)\\s+${word}(?![\\w$])`).test(text)
  )
    return true
  const lists = text.matchAll(/\bexport\s+(?:type\s+)?\{([^}]*)\}/g)
  if (lists.some(([, list = ""]) => list.split(",").some((each) => each.trim().split(/\s+/).at(-1) === name)))
    return true
  if (new RegExp(`\\bexports\\.${word}\\s*=`).test(text)) return true
  const modules = text.matchAll(/\bexport\s+\*\s+from\s+["'](\.[^"']*)["']/g)
  return modules.some(([, specifier = ""]) =>
    candidates(resolve(dirname(file), specifier)).some((each) => exportsName(each, name, visited)),
  )
}

const maxFiles = 40

function candidates(path: string): string[] {
  const typed = path.replace(/\.([cm]?)js$/, ".d.$1ts")
  return path === typed ? [path, `${path}.d.ts`, `${path}/index.d.ts`, `${path}.js`] : [typed, path]
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function"
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}
