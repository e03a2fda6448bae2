import type { Workspace } from "../workspace/workspace.ts"
import { type Artifacts, readArtifactTool } from "./artifacts.ts"
import { askTool, finishTool } from "./control.ts"
import { todosTool } from "./todos.ts"
import type { Tool } from "./tool.ts"

/** What an agent has, from which its tools follow. */
export interface Equipment {
  /** Whether it ends by a tool, and not by an answer. */
  ends: boolean
  artifacts: Artifacts | undefined
  workspace: Workspace | undefined
}

/** The tools that follow from what an agent has. */
export function builtinTools({ ends, artifacts }: Equipment): Tool[] {
  return [...(ends ? [finishTool(), askTool(), todosTool()] : []), ...(artifacts ? [readArtifactTool(artifacts)] : [])]
}
