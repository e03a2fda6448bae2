// The section of the system prompt about the workspace.
import { type PromptLanguage, textsIn } from "../../core/prompt-texts.ts"

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
export function workspaceText({ name, entries, more, git }: WorkspaceFacts, language?: PromptLanguage): string {
  const texts = textsIn(language)
  const place = texts.workspacePlace(name, git?.branch, git?.changed)
  const text = entries.length === 0 ? texts.workspaceEmpty(place) : texts.workspaceContents(place, entries, more)
  return `${texts.workspace}\n\n${text}`
}
