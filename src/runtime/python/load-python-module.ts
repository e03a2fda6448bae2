import { readFile } from "node:fs/promises"
import { ConfigError } from "../../core/errors.ts"
import { PythonError } from "./cell-report.ts"
import type { KernelBridge } from "./kernel/kernel-bridge.ts"

/** Lets a kernel run a module file and gives the names of what it exports. The host reads the file, so that a kernel need
 *  not see it; what else the module reads or imports, the kernel must see. */
export async function loadPythonModule(file: string, bridge: KernelBridge): Promise<string[]> {
  const code = await readFile(file, "utf8").catch((error) => {
    throw moduleError(file, error)
  })
  try {
    const names: unknown = await bridge.ask("module", { code, file })
    return Array.isArray(names) ? names.map(String) : []
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    throw moduleError(file, error)
  }
}

function moduleError(file: string, cause: Error): ConfigError {
  return new ConfigError(`The module "${file}" could not be loaded: ${cause.message}`, { cause })
}
