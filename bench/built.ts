// The built package with the types of the source, for benchmarks of what users install.
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root, runTool } from "../scripts/tools.ts"

type Doors = typeof import("karst") & typeof import("karst/process") & typeof import("karst/python")

/** What the runtime bench uses of Karst. */
export type Karst = Pick<Doors, "jsRuntime" | "processRuntime" | "pythonRuntime" | "table">

/** Karst as users have it: built, so that no process of its own has types to strip when it starts. */
export async function builtKarst(): Promise<Karst> {
  if (runTool("../scripts/build.ts", []) !== 0) throw new Error("The build failed.")
  const [front, process, python] = await Promise.all(["index.js", "runtime/process.js", "runtime/python.js"].map(load))
  return { ...front, ...process, ...python } as Doors
}

function load(file: string): Promise<object> {
  return import(pathToFileURL(join(root, "dist", file)).href)
}
