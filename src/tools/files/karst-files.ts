// Keeps file tools away from the configuration of Karst: `karst.config.*` and `.karst` folders. A model that could
// write them could grant itself tools, and stored sessions may contain secrets.
import { realpath } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import type { Workspace } from "../../workspaces/workspace.ts"
import { workspaceError } from "../../workspaces/workspace-errors.ts"
import { cleanFolder } from "../../workspaces/workspace-path.ts"
import type { ToolContext, ToolResult } from "../tool.ts"
import { withFailuresAsResults } from "./file-results.ts"

/** Runs a file tool on a workspace without the files of Karst. An `AgentError` becomes a failure that the model can act
 *  on, with the same code. */
export function useFiles(
  context: ToolContext,
  work: (context: ToolContext) => Promise<ToolResult>,
): Promise<ToolResult> {
  return withFailuresAsResults(() => work({ ...context, workspace: withoutKarstFiles(context.workspace) }))
}

/** The same files without those of Karst: access fails with `protected`, and lists leave them out. The output of
 *  commands in `.karst/commands` can be read. A link is judged by the file that it leads to. */
function withoutKarstFiles(workspace: Workspace): Workspace {
  const { root } = workspace
  let realRoot: Promise<string> | undefined

  async function allow(path: string, access: "read" | "write"): Promise<void> {
    const clean = cleanFolder(path)
    if (isKarstFile(clean, access)) throw protectedError(clean)
    if (root === undefined) return
    realRoot ??= realpath(root).catch(() => root)
    if (isKarstFile(await realPathIn(await realRoot, clean), access)) throw protectedError(clean)
  }

  return {
    ...(root !== undefined && { root }),
    async read(path, options) {
      // At the same time, because searches read many files. The bytes of a protected file are dropped.
      const reading = workspace.read(path, options)
      reading.catch(() => {})
      await allow(path, "read")
      return await reading
    },
    async *stream(path, options) {
      await allow(path, "read")
      yield* workspace.stream(path, options)
    },
    async stat(path, options) {
      await allow(path, "read")
      return workspace.stat(path, options)
    },
    async *list(folder = "", options) {
      await allow(folder, "read")
      for await (const info of workspace.list(folder, options)) if (!isKarstFile(info.path, "read")) yield info
    },
    async write(path, data, options) {
      await allow(path, "write")
      return workspace.write(path, data, options)
    },
    async remove(path, options) {
      await allow(path, "write")
      return workspace.remove(path, options)
    },
  }
}

/** Judges a path relative to the workspace. Letter case does not count, because some file systems ignore it. */
function isKarstFile(path: string, access: "read" | "write"): boolean {
  const lower = path.toLowerCase()
  if (access === "read" && /^\.karst\/commands(\/|$)/.test(path)) return false
  return lower.split("/").includes(".karst") || /(^|\/)karst\.config\.([cm]?[jt]s|json)$/.test(lower)
}

function protectedError(path: string) {
  const text = `"${path}" is closed to tools: only the user reads and changes the configuration and files of Karst. Work without it.`
  return workspaceError("protected", path, text)
}

/** The path that a path leads to, relative to the root. Of a missing file, links of its folders are followed. */
async function realPathIn(top: string, path: string): Promise<string> {
  const rest: string[] = []
  for (let each = join(top, path); each !== top && each !== dirname(each); each = dirname(each)) {
    const real = await realpath(each).catch(() => undefined)
    if (real !== undefined) return relative(top, join(real, ...rest))
    rest.unshift(basename(each))
  }
  return path
}
