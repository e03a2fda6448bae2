// The section of the system prompt about the workspace.

export interface WorkspaceFacts {
  /** The name of the local folder; absent if there is none. Its path is not shown: the tools take relative paths. */
  name?: string | undefined
  /** The first entries at the top, in order; folders end with a slash. */
  entries: string[]
  /** How many entries are left out; undefined if they were not counted. */
  more: number | undefined
  git?: { branch: string /** Files that differ from the index, or are in none. */; changed?: number } | undefined
}

/** The section of the system prompt. */
export function workspaceText({ name, entries, more, git }: WorkspaceFacts): string {
  const changed = git?.changed === undefined ? "" : `, ${git.changed} changed file${git.changed === 1 ? "" : "s"}`
  const state = git ? ` (git branch ${git.branch}${changed})` : ""
  const place = name === undefined ? "Your workspace" : `Your workspace, the folder "${name}"${state},`
  if (entries.length === 0) return `# Workspace\n\n${place} was empty at the start.`
  const rest = more === 0 ? "" : `, and ${more ?? "perhaps"} more`
  return `# Workspace\n\n${place} contained at the start: ${entries.join(", ")}${rest}`
}
