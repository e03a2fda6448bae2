import type { Workspace } from "../workspace/workspace.ts"
import type { Artifacts } from "./artifacts.ts"
import { askTool, finishTool } from "./control.ts"
import { delegateTools, type SubAgents } from "./delegate.ts"
import { editFileTool } from "./edit.ts"
import { readImageTool } from "./image.ts"
import { fileInfoTool, findFilesTool, listFilesTool } from "./list.ts"
import { compactMemoryTool } from "./memory.ts"
import { readFileTool } from "./read.ts"
import { readArtifactTool } from "./read-artifact.ts"
import { searchFilesTool } from "./search.ts"
import { activateSkillTool, type SkillAccess } from "./skills.ts"
import { todosTool } from "./todos.ts"
import type { Tool } from "./tool.ts"
import { writeFileTool } from "./write.ts"

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
