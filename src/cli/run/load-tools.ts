// Loads the tools that modules of the user export.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { isTool, type Tool } from "../../tools/tool.ts"
import { importNamedModule } from "../load/import-named-module.ts"
import { UsageError } from "../usage-error.ts"

/** Returns the tools of all modules: the export `tools`, which is a list, and every export that is a tool. */
export async function loadTools(paths: readonly string[]): Promise<Tool[]> {
  return (await Promise.all(paths.map(toolsOf))).flat()
}

async function toolsOf(path: string): Promise<Tool[]> {
  const file = resolve(path)
  if (!existsSync(file)) throw new UsageError(`--tools: there is no file ${path}.`)
  const exported = await importNamedModule(file, `--tools: ${path}`)
  const lists = [exported.tools, exported.default].filter((value) => Array.isArray(value))
  const found = [...Object.values(exported), ...lists.flat()].filter((value): value is Tool => isTool(value))
  if (found.length > 0) return [...new Set(found)]
  throw new UsageError(`--tools: ${path} exports no tool. Write there: export const tools = [tool({ … })]`)
}
