// Chooses the built-in tools of an agent.
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

/** What an agent has. Its built-in tools depend on this. */
export interface BuiltinToolContext {
  /** True if the agent works by tool calls only, so that it needs a tool to ask the user. */
  asks: boolean
  /** True if the agent ends a run with the tool `finish`, false if with an answer. */
  finishes: boolean
  /** True if the model keeps a todo list. */
  todos: boolean
  /** True if the model may have its conversation shortened. */
  compactMemory: boolean
  artifacts: Artifacts | undefined
  workspace: Workspace | undefined
  /** True if the agent's model accepts images. */
  images: boolean
  skills?: SkillAccess | undefined
  /** The agents it can delegate tasks to. */
  agents?: SubAgents | undefined
  /** How many sub-tasks run concurrently. */
  maxParallel?: number | undefined
}

export function builtinTools(context: BuiltinToolContext): Tool[] {
  const { artifacts, workspace, images, skills, agents, maxParallel } = context
  return [
    ...(context.finishes ? finishTools() : []),
    ...(context.asks ? askTools() : []),
    ...(context.todos ? todoTools() : []),
    ...(context.compactMemory ? memoryTools() : []),
    ...(artifacts ? [readArtifactTool(artifacts)] : []),
    ...(workspace ? standardFileTools() : []),
    ...(workspace && images ? [readImageTool()] : []),
    ...(skills?.names.length ? [activateSkillTool(skills)] : []),
    ...(agents ? delegateTools(agents, { maxParallel }) : []),
  ]
}

// The tools get their context with each call, so one instance serves all runs. Creating them takes longer than a cycle.
const finishTools = once(() => [finishTool()])
const askTools = once(() => [askTool()])
const todoTools = once(() => [todosTool()])
const memoryTools = once(() => [compactMemoryTool()])
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
