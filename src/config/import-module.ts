// Imports a module of the user's project, also TypeScript that Node does not run by itself.
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { type ResolveFnOutput, type ResolveHookContext, type ResolveHookSync, registerHooks } from "node:module"
import { fileURLToPath, pathToFileURL } from "node:url"
import { ConfigError } from "../core/errors.ts"
import { describeModuleError } from "./module-error.ts"
import { isPathImport } from "./module-files.ts"
import { isEsModule, lowerModuleSyntax } from "./module-syntax.ts"
import { readTrustedFile, requireTrustedImport, type TrustedFiles } from "./trusted-files.ts"

/** Runs a module and returns its exports. Throws a `ConfigError` with the line and the cause; `name` is used in its
 *  message. */
export async function importModule(file: string, name: string): Promise<Record<string, unknown>> {
  try {
    return await runModule(file)
  } catch (cause) {
    const { line, text } = describeModuleError(file, cause)
    throw new ConfigError(`${name}${line === undefined ? "" : `:${line}`} could not be loaded: ${text}`, { cause })
  }
}

/** Runs a module and returns its exports. Supports TypeScript as the project's compiler would: enums and other syntax
 *  that Node does not strip, imports with a missing or different extension, and `import` and `export` in a CommonJS
 *  project. With `trusted`, only these files are loaded of those that the module imports by their paths. Throws what
 *  the module throws. */
export async function runModule(file: string, trusted?: TrustedFiles | undefined): Promise<Record<string, unknown>> {
  registerOnce()
  const url = pathToFileURL(trusted ? realpathSync(file) : file).href
  if (trusted) trustedModules.set(url, trusted)
  return exportsOf(await import(url))
}

/** Returns the exports of a CommonJS module, which Node offers as properties of its default export. A module compiled
 *  to CommonJS has its default export among them. */
function exportsOf(module: Record<string, unknown>): Record<string, unknown> {
  if (!("module.exports" in module)) return module
  const { default: defaultExport, "module.exports": _, ...named } = module
  if (typeof defaultExport !== "object" || defaultExport === null || isInstance(defaultExport))
    return { ...named, default: defaultExport }
  return "__esModule" in defaultExport ? { ...defaultExport } : { ...defaultExport, ...named }
}

function isInstance(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype !== null && Object.getPrototypeOf(prototype) !== null
}

/** The modules of trusted configurations, by address. */
const trustedModules = new Map<string, TrustedFiles>()

let isRegistered = false

function registerOnce(): void {
  if (isRegistered) return
  isRegistered = true
  registerHooks({
    resolve(specifier, context, next) {
      const found = resolveModule(specifier, context, next)
      const trusted = trustedModules.get(context.parentURL ?? "")
      if (trusted && found.url.startsWith("file:") && isPathImport(specifier)) {
        requireTrustedImport(fileURLToPath(found.url), fileURLToPath(context.parentURL ?? ""), trusted)
        trustedModules.set(found.url, trusted)
      }
      return found
    },
    load(url, context, next) {
      const trusted = trustedModules.get(url)
      const bytes = trusted && readTrustedFile(fileURLToPath(url), trusted)
      if (!/^file:.*\.[cm]?ts(?:[?#]|$)/.test(url) || url.includes("/node_modules/")) {
        const loaded = next(url, context)
        return bytes && loaded.source != null ? { ...loaded, source: bytes } : loaded
      }
      // Node would reject the syntax while detecting the file's format.
      const source = lowerModuleSyntax((bytes ?? readFileSync(fileURLToPath(url))).toString("utf8"))
      if (context.format === "module-typescript") return { format: context.format, source, shortCircuit: true }
      if (!isEsModule(source)) return { format: "commonjs-typescript", source, shortCircuit: true }
      return { format: "module-typescript", source: commonJsDeclarations(source) + source, shortCircuit: true }
    },
  })
}

function resolveModule(
  specifier: string,
  context: ResolveHookContext,
  next: Parameters<ResolveHookSync>[2],
): ResolveFnOutput {
  try {
    return next(specifier, context)
  } catch (error) {
    const found = typeScriptFile(specifier, context)
    if (found === undefined) throw error
    return next(found, context)
  }
}

/** Finds the file that TypeScript would import: `./a.ts` for `./a` and `./a.js`. */
function typeScriptFile(specifier: string, { parentURL }: ResolveHookContext): string | undefined {
  if (!/^\.{0,2}\//.test(specifier) || !/\.[cm]?ts$/.test(parentURL ?? "")) return undefined
  const url = new URL(specifier, parentURL).href
  const candidates = [url.replace(/\.([cm]?)js$/, ".$1ts"), `${url}.ts`, `${url}.mts`, `${url}.cts`, `${url}/index.ts`]
  return candidates.find((candidate) => candidate !== url && existsSync(fileURLToPath(candidate)))
}

/** Declares the CommonJS variables that the file may use beside `import`. */
function commonJsDeclarations(source: string): string {
  const values = {
    require: 'process.getBuiltinModule("node:module").createRequire(import.meta.url)',
    __filename: "import.meta.filename",
    __dirname: "import.meta.dirname",
  }
  return Object.entries(values)
    .filter(([name]) => new RegExp(`\\b${name}\\b`).test(source))
    .filter(([name]) => !new RegExp(`\\b(?:const|let|var|function)\\s+${name}\\b`).test(source))
    .map(([name, value]) => `const ${name} = ${value};`)
    .join("")
}
