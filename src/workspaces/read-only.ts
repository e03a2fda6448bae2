// A workspace that refuses changes.
import type { Workspace } from "./workspace.ts"
import { workspaceError } from "./workspace-errors.ts"
import { cleanPath } from "./workspace-path.ts"

/** The same files; writing and removing fail with `read-only`. It has no `root`, because a shell there could write. */
export function readOnlyWorkspace(workspace: Workspace): Workspace {
  return {
    read: (path, options) => workspace.read(path, options),
    stream: (path, options) => workspace.stream(path, options),
    stat: (path, options) => workspace.stat(path, options),
    list: (folder, options) => workspace.list(folder, options),
    write: async (path) => refuse("written", path),
    remove: async (path) => refuse("removed", path),
  }
}

function refuse(what: string, path: string): never {
  const clean = cleanPath(path)
  throw workspaceError("read-only", clean, `"${clean}" cannot be ${what}: this workspace is read-only.`)
}
