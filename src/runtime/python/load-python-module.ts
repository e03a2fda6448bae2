// Runs the Python module of a skill in a kernel.
import { readFile } from "node:fs/promises"
import { ConfigError } from "../../core/errors.ts"
import { PythonError } from "./cell-report.ts"
import type { KernelBridge } from "./kernel/kernel-bridge.ts"

/** Runs a module file in a kernel and returns the names it exports. The host reads the file, so a sandboxed kernel need
 *  not have access to it; other files that the module reads or imports must be readable for the kernel. */
export async function loadPythonModule(file: string, bridge: KernelBridge): Promise<string[]> {
  const code = await readFile(file, "utf8").catch((error) => {
    throw moduleError(file, error)
  })
  try {
    const names: unknown = await bridge.ask("module", { code, file })
    return Array.isArray(names) ? names.map(String) : []
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    if (!/\.[cm]?[jt]sx?$/.test(file)) throw moduleError(file, error)
    throw moduleError(
      file,
      new Error("it is not Python. Load it in jsRuntime() or processRuntime().", { cause: error }),
    )
  }
}

function moduleError(file: string, cause: Error): ConfigError {
  return new ConfigError(`The module "${file}" could not be loaded: ${cause.message}`, { cause })
}
