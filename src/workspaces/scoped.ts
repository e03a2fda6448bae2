// A workspace that is one folder of another.
import { join } from "node:path"
import { type FileInfo, type Workspace, writableFolders } from "./workspace.ts"
import { cleanFolder, cleanPath, joinPath } from "./workspace-path.ts"

/** One folder of a workspace, as a workspace. A link that `localWorkspace` follows may lead to another folder of the
 *  same workspace; if that matters, make a `localWorkspace` of the folder. */
export function scopedWorkspace(workspace: Workspace, folder: string): Workspace {
  const base = cleanFolder(folder)
  const outer = (path: string) => joinPath(base, cleanPath(path))
  const inner = (info: FileInfo): FileInfo => ({
    ...info,
    path: base === "" ? info.path : info.path.slice(base.length + 1),
  })
  return {
    ...(workspace.root !== undefined && { root: join(workspace.root, base) }),
    ...(workspace.inMemory && { inMemory: true }),
    // A link inside the folder may lead to another folder of the same workspace.
    writableFolders: () => writableFolders(workspace),
    read: async (path, options) => workspace.read(outer(path), options),
    async *stream(path, options) {
      yield* workspace.stream(outer(path), options)
    },
    write: async (path, data, options) => inner(await workspace.write(outer(path), data, options)),
    async stat(path, options) {
      const info = await workspace.stat(outer(path), options)
      return info && inner(info)
    },
    async *list(folder = "", options) {
      for await (const info of workspace.list(joinPath(base, cleanFolder(folder)), options)) yield inner(info)
    },
    remove: async (path, options) => workspace.remove(outer(path), options),
  }
}
