import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { Approver } from "../actions/approve.ts"
import { ConfigError, errorData } from "../core/errors.ts"
import type { ServeOptions, ToolSources } from "../mcp/mcp.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { UsageError } from "./usage-error.ts"

/** What a module wants served: a runtime, its export `runtime` or its default export, or a function that makes it; beside it, or
 *  instead, its `tools`; and who answers for its approvals, `approve`. */
export async function loadServed(
  path: string | undefined,
): Promise<Pick<ServeOptions, "runtime" | "tools" | "approve">> {
  if (path === undefined) throw new UsageError("Say what to serve: --runtime ./objects.ts")
  const file = resolve(path)
  if (!existsSync(file)) throw new UsageError(`--runtime: there is no file ${path}.`)
  const { runtime: named, default: main, tools, approve } = await load(file, path)
  const source = named ?? main
  const runtime = typeof source === "function" ? await made(() => source(), path) : source
  if (runtime !== undefined && !isRuntime(runtime)) throw nothingIn(path)
  if (runtime === undefined && tools === undefined) throw nothingIn(path)
  if (approve !== undefined && typeof approve !== "function") {
    throw new UsageError(`--runtime: \`approve\` of ${path} is no function.`)
  }
  return {
    runtime,
    // What is no tool is refused when it is served, by name.
    tools: tools as ToolSources | undefined,
    approve: (approve as Approver | undefined) ?? "client",
  }
}

async function load(file: string, path: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(file).href)
  } catch (error) {
    throw new ConfigError(`--runtime: ${path} could not be loaded: ${errorData(error).message}`, { cause: error })
  }
}

async function made(make: () => unknown, path: string): Promise<unknown> {
  try {
    return await make()
  } catch (error) {
    throw new ConfigError(`--runtime: the runtime of ${path} could not be made: ${errorData(error).message}`, {
      cause: error,
    })
  }
}

function nothingIn(path: string): UsageError {
  return new UsageError(
    `--runtime: ${path} exports no runtime. Write there: export const runtime = jsRuntime({ name: object })`,
  )
}

function isRuntime(value: unknown): value is Runtime {
  if (typeof value !== "object" || value === null) return false
  return ["execute", "describe", "retrieve", "close"].every((name) => typeof Reflect.get(value, name) === "function")
}
