// Finds the declaration of a type that a module mentions: in the module, in the files that it imports, or in a package.
import { findPackageJSON, isBuiltin } from "node:module"
import { pathToFileURL } from "node:url"
import { attempt } from "../../../core/attempt.ts"
import { readModule, resolveRelative, type SourceModule } from "./source-module.ts"

export type FoundType =
  /** A type of the user's sources. */
  | { kind: "own"; module: SourceModule; name: string }
  /** A type of the language or of a package, as text that is valid anywhere. */
  | { kind: "text"; text: string }

/** The files that were read for the types of one module. */
export type FollowedFiles = Set<string>

/** Finds `Task`, or `tasks.Task` as a path of two names. */
export function findType(
  path: readonly string[],
  module: SourceModule,
  followed: FollowedFiles,
): FoundType | undefined {
  const [first = "", ...rest] = path
  if (module.declared.has(first)) return rest.length === 0 ? { kind: "own", module, name: first } : undefined
  const imported = module.imports.get(first)
  if (imported?.specifier !== undefined) {
    const inner = imported.name === "*" ? rest : [imported.name, ...rest]
    return findImportedType(imported.specifier, inner, module, followed)
  }
  const text = languageType(path)
  return text === undefined ? undefined : { kind: "text", text }
}

/** Returns the text of a type that every TypeScript program knows. */
export function languageType(path: readonly string[]): string | undefined {
  const [first = "", ...rest] = path
  const isLanguage = rest.length === 0 ? isLanguageType(first) : first === "Intl"
  return isLanguage ? path.join(".") : undefined
}

export function findImportedType(
  specifier: string,
  path: readonly string[],
  module: SourceModule,
  followed: FollowedFiles,
): FoundType | undefined {
  if (path.length === 0) return undefined
  if (!/^\.{0,2}\//.test(specifier) && specifier !== "." && specifier !== "..") {
    return isInstalled(specifier, module)
      ? { kind: "text", text: `import(${JSON.stringify(specifier)}).${path.join(".")}` }
      : undefined
  }
  const target = followFile(specifier, module, followed)
  return target && findExport(path, target, followed)
}

/** At most this many files are read for the types of one module. */
const maxFiles = 5

function followFile(specifier: string, module: SourceModule, followed: FollowedFiles): SourceModule | undefined {
  const path = resolveRelative(module, specifier)
  if (path === undefined || (!followed.has(path) && followed.size >= maxFiles)) return undefined
  followed.add(path)
  return readModule(path)
}

function findExport(
  path: readonly string[],
  module: SourceModule,
  followed: FollowedFiles,
  visited = new Set<SourceModule>(),
): FoundType | undefined {
  if (visited.has(module)) return undefined
  visited.add(module)
  const [first = "", ...rest] = path
  const exported = module.exports.get(first)
  if (exported?.specifier !== undefined) {
    const inner = exported.name === "*" ? rest : [exported.name, ...rest]
    return findImportedType(exported.specifier, inner, module, followed)
  }
  if (exported) return findType([exported.name, ...rest], module, followed)
  if (module.declared.has(first)) return findType(path, module, followed)
  for (const specifier of module.exportedModules) {
    const target = specifier.startsWith(".") ? followFile(specifier, module, followed) : undefined
    const found = target && findExport(path, target, followed, visited)
    if (found) return found
  }
  return undefined
}

function isInstalled(specifier: string, module: SourceModule): boolean {
  if (isBuiltin(specifier)) return true
  return attempt(() => findPackageJSON(specifier, pathToFileURL(module.path)) !== undefined) ?? false
}

/** Returns true for a type that every TypeScript program knows. */
function isLanguageType(name: string): boolean {
  return utilityTypes.has(name) || (/^[A-Z]/.test(name) && Object.hasOwn(globalThis, name))
}

const utilityTypes = new Set(
  `ArrayIterator ArrayLike AsyncGenerator AsyncIterable AsyncIterableIterator AsyncIterator AsyncIteratorObject Awaited
   Capitalize ConstructorParameters Disposable AsyncDisposable ErrorOptions Exclude Extract Generator InstanceType
   Iterable IterableIterator IteratorObject IteratorResult Lowercase MapIterator NoInfer NonNullable Omit
   OmitThisParameter Parameters Partial Pick PromiseLike PromiseSettledResult PropertyDescriptor PropertyKey Readonly
   ReadonlyArray ReadonlyMap ReadonlySet Record RegExpExecArray RegExpMatchArray Required ReturnType SetIterator
   TemplateStringsArray ThisParameterType ThisType Uncapitalize Uppercase`.split(/\s+/),
)
