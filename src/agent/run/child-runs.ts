// What a run passes on to its child runs: its files, its cost limit and what was approved with `always`.
import { ConfigError } from "../../core/errors.ts"
import { findInherited, parentForNewRun, type RunContext, runAndAncestors } from "../../core/run-context.ts"
import { type Workspace, writableFolders } from "../../workspaces/workspace.ts"
import type { AgentConfig, AgentOptions } from "../agent-config.ts"
import { hasTools } from "../agent-option-checks.ts"

/** Throws for a model without a price if a run above has a cost limit. */
export function refuseUnpriced({ name, model }: AgentConfig): void {
  if (model.price) return
  const limited = [...runAndAncestors(parentForNewRun()?.parent)].find((run) => run.budget?.limitsCost)
  if (!limited) return
  throw new ConfigError(
    `"${name}" was not run: the price of "${model.id}" is not known, and "${limited.agent}", which started it, has ` +
      "limits.costUsd. Give the model a price, e.g. resolveModel(id, { price: { input: 1.25, output: 10 } }).",
  )
}

declare module "../../core/run-context.ts" {
  interface Inherited {
    files?: { workspace: Workspace | undefined; usesCode: boolean }
    /** The calls approved with `always`, for each agent. Only the root run of a tree has it. */
    approvedByAgent?: Map<object, string[]>
  }
}

export function shareFilesWithChildRuns(run: RunContext, { workspace, usesCode }: AgentConfig): void {
  run.inherited.files = { workspace, usesCode }
}

/** Returns the folders that the tools of an agent, or of the runs above the current one, can write. */
export function foldersWritableByTools({ workspace }: AgentConfig): string[] {
  const above = [...runAndAncestors(parentForNewRun()?.parent)].map(({ inherited }) => inherited.files?.workspace)
  return [...new Set([workspace, ...above])].flatMap((each) => (each ? writableFolders(each) : []))
}

/** Adds the workspace of the starting run to a child run that works by tools and has none. An agent without tools and
 *  runtime gets it, and works by tools, only if the starting run does not use code. */
export function withInheritedWorkspace(options: AgentOptions): AgentOptions {
  if (options.workspace !== undefined) return options
  const above = findInherited(parentForNewRun()?.parent, "files")
  if (!above?.workspace) return options
  if (!hasTools(options) && (options.runtime !== undefined || above.usesCode)) return options
  return { ...options, workspace: above.workspace }
}

/** Returns the calls approved with `always` in earlier runs of an agent in the same tree of runs; each `always` adds
 *  one. Undefined for a run without a parent. */
export function approvedInRunTree({ parent }: RunContext, agent: object): string[] | undefined {
  const root = [...runAndAncestors(parent)].at(-1)
  if (!root) return undefined
  root.inherited.approvedByAgent ??= new Map()
  const { approvedByAgent } = root.inherited
  const approved = approvedByAgent.get(agent) ?? []
  approvedByAgent.set(agent, approved)
  return approved
}
