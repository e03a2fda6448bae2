// Loads module files in a child: the host asks for it, and the child injects the module's exports.
import { existsSync, realpathSync } from "node:fs"
import { ConfigError } from "../../core/errors.ts"
import { isRecord } from "../../core/object.ts"
import { isWithin } from "../../core/path-within.ts"
import { type Bindings, isBinding, toBinding } from "../bindings.ts"
import type { Runtime } from "../runtime.ts"
import type { BindingRegistry } from "./binding-registry.ts"
import { isStringArray } from "./child-protocol.ts"
import type { ConnectedChild } from "./connected-child.ts"
import type { ChildLaunchOptions } from "./process-launch.ts"

/** The names that a module file has defined in a child. */
export interface LoadedModule {
  names: string[]
  /** The names that cells may have changed. */
  variables: string[]
}

/** Loads a module file in a child, and registers it so that later children load it too. */
export async function loadModuleInChild(
  file: string,
  child: ConnectedChild,
  { bindings, modules }: BindingRegistry,
): Promise<string[]> {
  const module = await child.ask("load", { file })
  const { names, variables } = isRecord(module) ? module : {}
  // A child cannot claim names that the host has injected.
  if (!isStringArray(names) || !isStringArray(variables) || names.some((name) => bindings.has(name))) {
    throw child.killForViolation("an invalid module")
  }
  modules.set(file, { names, variables })
  return names
}

/** Throws if the child could not read the file. Called before a child is started for it. */
export function refuseUnreadableFile(file: string, { isolation, read, write, folder }: ChildLaunchOptions): void {
  const readablePaths = [...read, ...write, folder.path()].map((path) => (existsSync(path) ? realpathSync(path) : path))
  if (isolation === "process" || readablePaths.some((path) => isWithin(path, file))) return
  throw new ConfigError(
    `"${file}" cannot be read inside the sandbox. Name its folder in the \`read\` option of processRuntime, ` +
      "or load it on the host: a skill by `trusted: true`.",
  )
}

/** Called in the child: runs a module file and injects its exports. */
export async function injectModuleExports(file: string, runtime: Runtime): Promise<LoadedModule> {
  // Imported here because few children need it.
  const { loadModuleBindings: moduleBindings } = await import("../bindings/module-bindings.ts")
  const bindings = await moduleBindings(file)
  refuseGatedBindings(bindings)
  await runtime.inject(bindings)
  const variables = Object.keys(bindings).filter((name) => toBinding(bindings[name]).kind === "variable")
  return { names: Object.keys(bindings), variables }
}

/** Throws for bindings with approval or limits: only the host's gate can enforce them. */
function refuseGatedBindings(bindings: Bindings): void {
  const gated = Object.entries(bindings).filter(([, binding]) => {
    if (!isBinding(binding)) return false
    if (binding.kind === "variable") return binding.guard !== undefined
    if (binding.kind !== "function") return false
    const { approve = false, maxCalls, timeoutMs } = binding.options
    return approve !== false || maxCalls !== undefined || timeoutMs !== undefined
  })
  if (gated.length === 0) return
  const names = gated.map(([name]) => `"${name}"`).join(", ")
  throw new ConfigError(
    `${names} would be called in the runtime's own process, where approval and limits cannot be enforced. ` +
      "Load the module on the host: a skill by `trusted: true`.",
  )
}
