import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root, runTool } from "../scripts/tools.ts"

export type Karst = typeof import("karst")

/** Karst as users have it: built, so that no process of its own has types to strip when it starts. */
export async function builtKarst(): Promise<Karst> {
  if (runTool("../scripts/build.ts", []) !== 0) throw new Error("The build failed.")
  return import(pathToFileURL(join(root, "dist/index.js")).href)
}
