// Loads a module file and turns its exports into bindings, with types and docs from its source.
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { pathToFileURL } from "node:url"
import { ConfigError } from "../../core/errors.ts"
import { type Bindings, classType, fn, isBinding, isClass, toBinding } from "../bindings.ts"

/** Runs a module file in this process and returns its exports as bindings: the named exports, and the members of the
 *  default export or, if that is a function, of the object it returns. Types and docs of bare functions and classes are
 *  read from the source, or for JavaScript from the `.d.ts` or `.d.mts` beside it. Throws a `ConfigError` if the module
 *  cannot be run or exports nothing to bind. */
export async function loadModuleBindings(file: string): Promise<Bindings> {
  try {
    const exported: Record<string, unknown> = await import(pathToFileURL(file).href)
    const bindings = { ...(await defaultExportBindings(exported.default)), ...namedExports(exported) }
    if (Object.keys(bindings).length === 0) throw new Error("it exports nothing to bind")
    return await addSourceTypes(file, bindings)
  } catch (error) {
    const reason = file.endsWith(".py") ? "it is Python. Load it in pythonRuntime()." : loadFailureReason(error)
    throw new ConfigError(`The module "${file}" could not be loaded: ${reason}`, { cause: error })
  }
}

/** Adds the types and docs of a module file's source to its bindings. */
export async function addSourceTypes(file: string, bindings: Bindings): Promise<Bindings> {
  const source = await readTypeSource(file)
  return Object.fromEntries(Object.entries(bindings).map(([name, value]) => [name, addSource(value, source)]))
}

async function readTypeSource(file: string): Promise<string> {
  const declarations = file.replace(/\.(m?)js$/, ".d.$1ts")
  if (declarations !== file && existsSync(declarations)) return readFile(declarations, "utf8")
  return readFile(file, "utf8")
}

/** The exports without the default one and without those that Node adds to a CommonJS module. */
function namedExports(exported: Record<string, unknown>): Bindings {
  const isOurs = (name: string) => !["default", "module.exports", "__esModule"].includes(name)
  return Object.fromEntries(Object.entries(exported).filter(([name]) => isOurs(name)))
}

async function defaultExportBindings(exported: unknown): Promise<Bindings> {
  const members: unknown = typeof exported === "function" && !isClass(exported) ? await exported() : exported
  if (members === undefined) return {}
  if (typeof members === "object" && members !== null && !Array.isArray(members)) return { ...members }
  throw new Error("its default export must be an object of bindings, or a function that gives one")
}

function addSource(value: unknown, source: string): unknown {
  if (isBinding(value)) return value
  const binding = toBinding(value)
  if (binding.kind === "function") return fn(binding.call, { source })
  return binding.kind === "type" ? classType(binding.type, { source }) : value
}

function loadFailureReason(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING") {
    return "Node runs no TypeScript below node_modules. Ship it as JavaScript, or copy the skill out."
  }
  return message === undefined ? String(error) : String(message)
}
