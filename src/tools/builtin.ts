import type { Workspace } from "../workspaces/workspace.ts"
import { activateSkillTool, type SkillAccess } from "./activate-skill.ts"
import type { Artifacts } from "./artifacts.ts"
import { compactMemoryTool } from "./compact-memory.ts"
import { delegateTools, type SubAgents } from "./delegate.ts"
import { editFileTool } from "./files/edit-file.ts"
import { fileInfoTool, findFilesTool, listFilesTool } from "./files/list-files.ts"
import { readFileTool } from "./files/read-file.ts"
import { writeFileTool } from "./files/write-file.ts"
import { askTool, finishTool } from "./finish-and-ask.ts"
import { readArtifactTool } from "./read-artifact.ts"
import { readImageTool } from "./read-image.ts"
import { searchFilesTool } from "./search.ts"
import type { Tool } from "./tool.ts"
import { todosTool } from "./write-todos.ts"

/** What an agent has, from which its tools follow. */
export interface BuiltinToolContext {
  /** Whether it ends by a tool, and not by an answer. */
  endsByTool: boolean
  artifacts: Artifacts | undefined
  workspace: Workspace | undefined
  /** Whether its model can see images. */
  images: boolean
  skills?: SkillAccess | undefined
  /** To whom it may give tasks. */
  agents?: SubAgents | undefined
  /** How many sub-tasks run at a time. */
  maxParallel?: number | undefined
}

/** The tools that follow from what an agent has. */
export function builtinTools(equipment: BuiltinToolContext): Tool[] {
  const { endsByTool: ends, artifacts, workspace, images, skills, agents, maxParallel } = equipment
  return [
    ...(ends ? endingTools() : []),
    ...(artifacts ? [readArtifactTool(artifacts)] : []),
    ...(workspace ? standardFileTools() : []),
    ...(workspace && images ? [readImageTool()] : []),
    ...(skills?.names.length ? [activateSkillTool(skills)] : []),
    ...(agents ? delegateTools(agents, { maxParallel }) : []),
  ]
}

// What they work with comes with each call, so one of each serves every run; making them costs more than a step.
const endingTools = once(() => [finishTool(), askTool(), todosTool(), compactMemoryTool()])
const standardFileTools = once(fileTools)

function once(make: () => Tool[]): () => Tool[] {
  let made: Tool[] | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** The tools that work on files. */
export function fileTools(): Tool[] {
  return [
    listFilesTool(),
    findFilesTool(),
    fileInfoTool(),
    readFileTool(),
    writeFileTool(),
    editFileTool(),
    searchFilesTool(),
  ]
}
