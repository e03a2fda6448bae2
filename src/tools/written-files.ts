// Records which files the tools of a run write, for `result.files`.
import type { Workspace } from "../workspaces/workspace.ts"
import { cleanPath } from "../workspaces/workspace-path.ts"
import type { ToolState } from "./tool.ts"
import { reservedPrefix, type StateValues } from "./tool-state.ts"

// One key for each file, so that the journal of a call contains only the files that this call wrote.
const keyPrefix = `${reservedPrefix}file:`

/** The same workspace, whose writes are recorded in the state of the tools. Files below `.karst/` belong to Karst and
 *  are not recorded. */
export function recordWrites(workspace: Workspace, state: ToolState): Workspace {
  function record(path: string, isWritten: boolean): void {
    if (path.startsWith(".karst/") || (state.get(keyPrefix + path) ?? false) === isWritten) return
    state.set(keyPrefix + path, isWritten)
  }

  return {
    root: workspace.root,
    inMemory: workspace.inMemory,
    ...(workspace.writableFolders && { writableFolders: () => workspace.writableFolders?.() ?? [] }),
    read: (path, options) => workspace.read(path, options),
    stream: (path, options) => workspace.stream(path, options),
    stat: (path, options) => workspace.stat(path, options),
    list: (folder, options) => workspace.list(folder, options),
    async write(path, data, options) {
      const info = await workspace.write(path, data, options)
      record(info.path, true)
      return info
    },
    async remove(path, options) {
      await workspace.remove(path, options)
      record(cleanPath(path), false)
    },
  }
}

/** Returns the recorded files, in order. */
export function writtenFiles(values: Readonly<StateValues>): string[] {
  const keys = Object.keys(values).filter((key) => key.startsWith(keyPrefix) && values[key] === true)
  return keys.map((key) => key.slice(keyPrefix.length)).toSorted()
}

/** Forgets the files of an earlier run of the conversation. */
export function forgetWrittenFiles(state: ToolState & { values: Readonly<StateValues> }): void {
  for (const path of writtenFiles(state.values)) state.set(keyPrefix + path, false)
}
