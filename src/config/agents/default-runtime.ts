// Finds the runtime that the definition of an agent names. `isolatedRuntime` is the default of agents without tools.
import type { RuntimeSource } from "../../runtime/typed-runtime.ts"
import type { AgentDefinition } from "../define-config.ts"

/** Returns the factory of a named runtime. A runtime that was made in code is returned unchanged. */
export function runtimeOf(runtime: NonNullable<AgentDefinition["runtime"]>): RuntimeSource {
  switch (runtime) {
    case "process":
      return isolatedRuntime
    case "js":
      return async () => (await import("../../runtime/js.ts")).jsRuntime()
    case "python":
      return async () => (await import("../../runtime/python.ts")).pythonRuntime()
    default:
      return runtime
  }
}

/** Cells run in a child process, isolated by the operating system if that is possible, and with `safeRules`. */
export async function isolatedRuntime() {
  const [{ processRuntime }, { safeRules }] = await Promise.all([
    import("../../runtime/process.ts"),
    import("../../runtime/rules/safe-rules.ts"),
  ])
  return processRuntime({}, { isolation: "auto", rules: safeRules() })
}
