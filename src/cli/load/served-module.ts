// Loads the runtime and tools that a module offers to MCP clients or coding CLIs.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type { Approver } from "../../actions/approval.ts"
import { ConfigError, errorData } from "../../core/errors.ts"
import type { ServeOptions, ToolSources } from "../../mcp/mcp-types.ts"
import { addSourceTypes } from "../../runtime/bindings/module-bindings.ts"
import { type Bindings, isBinding, isClass } from "../../runtime/bindings.ts"
import { isRuntime } from "../../runtime/is-runtime.ts"
import { jsRuntime } from "../../runtime/js.ts"
import { safeRules } from "../../runtime/rules/safe-rules.ts"
import { UsageError } from "../usage-error.ts"
import { importNamedModule } from "./import-named-module.ts"

export interface ServedModule extends Pick<ServeOptions, "runtime" | "tools"> {
  /** The absolute path of the module. */
  file: string
  /** Answers approval requests; undefined if the module has no approver. */
  approver: Approver | undefined
}

/** Loads the runtime, tools and approver of a module. The runtime is the export `runtime` or the default export; a
 *  function is called first. Without `runtime`, and if the default export is not a runtime, the named exports and the
 *  properties of the default export are bound together in a `jsRuntime` with `safeRules()`; a named export wins.
 *  `approver` answers for the runtime and the tools. */
export async function loadServedModule(path: string | undefined, usage: string): Promise<ServedModule> {
  if (path === undefined) throw new UsageError(`Name the module with your objects: ${usage}`)
  const file = resolve(path)
  if (!existsSync(file)) throw new UsageError(`There is no file ${path}. Name the module with your objects: ${usage}`)
  const { runtime: named, default: main, tools, approver, ...objects } = await importNamedModule(file, path)
  if (approver !== undefined && typeof approver !== "function") {
    throw new UsageError(`${path}: \`approver\` is no function. Export one that answers true or false, or none.`)
  }
  const source = await callIfFunction(named ?? main, path)
  if (named !== undefined && !isRuntime(source)) {
    throw new UsageError(
      `${path}: \`runtime\` is no runtime. Write: export const runtime = jsRuntime({ name: object })`,
    )
  }
  const runtime = isRuntime(source) ? source : await runtimeFromExports(source, objects, file, path)
  if (runtime === undefined && tools === undefined) throw noObjectsError(path)
  return {
    file,
    runtime,
    // Not checked here: the server rejects a value that is not a tool and names it.
    tools: tools as ToolSources | undefined,
    approver: approver as Approver | undefined,
  }
}

async function callIfFunction(source: unknown, path: string): Promise<unknown> {
  if (typeof source !== "function" || isClass(source)) return source
  try {
    return await source()
  } catch (error) {
    throw new ConfigError(`${path}: the exported function failed: ${errorData(error).message}`, {
      cause: error,
    })
  }
}

async function runtimeFromExports(source: unknown, objects: Bindings, file: string, path: string) {
  const bindings = { ...bindingsIn(source, path), ...objects }
  if (Object.keys(bindings).length === 0) return undefined
  return jsRuntime(await addSourceTypes(file, bindings), { rules: safeRules() })
}

function bindingsIn(source: unknown, path: string): Bindings {
  if (source === undefined) return {}
  const prototype = typeof source === "object" && source !== null ? Object.getPrototypeOf(source) : undefined
  const isPlain = prototype === null || (prototype && Object.getPrototypeOf(prototype) === null)
  if (isPlain && !Array.isArray(source) && !isBinding(source)) return { ...source }
  throw new UsageError(
    `${path}: the default export is a value without a name. Give it one: export const name = …, or export default { name: … }`,
  )
}

function noObjectsError(path: string): UsageError {
  return new UsageError(
    `${path} exports no objects. Write there: export const name = object, or export const runtime = jsRuntime({ name: object })`,
  )
}
