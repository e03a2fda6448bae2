import { ConfigError } from "../../core/errors.ts"
import { createRunField, parentForNewRun, type RunContext, runAndAncestors } from "../../core/run-context.ts"
import { type Workspace, writableFolders } from "../../workspaces/workspace.ts"
import type { AgentConfig, AgentOptions } from "../agent-config.ts"

/** Refuses a run whose cost nobody could know, where a run above it may cost only so much. */
export function refuseUnpriced({ name, model }: AgentConfig): void {
  if (model.price) return
  const limited = [...runAndAncestors(parentForNewRun()?.parent)].find((run) => run.budget?.limitsCost)
  if (!limited) return
  throw new ConfigError(
    `"${name}" was not run: the price of "${model.id}" is not known, and "${limited.agent}", which started it, has ` +
      "limits.costUsd. Give the model a price, e.g. resolveModel(id, { price: { input: 1.25, output: 10 } }).",
  )
}

interface InheritedFiles {
  workspace: Workspace | undefined
  usesCode: boolean
}

const inheritedFiles = createRunField<InheritedFiles>()

/** Lets the runs below this one have its files. */
export function shareFilesWithChildRuns(run: RunContext, { workspace, usesCode }: AgentConfig): void {
  inheritedFiles.set(run, { workspace, usesCode })
}

/** Folders of this machine that the tools of an agent can write, and those of the runs above the one under way. */
export function foldersWritableByTools({ workspace }: AgentConfig): string[] {
  const above = [...runAndAncestors(parentForNewRun()?.parent)].map((run) => inheritedFiles.get(run)?.workspace)
  return [...new Set([workspace, ...above])].flatMap((each) => (each ? writableFolders(each) : []))
}

/** The options of a run with the files of the run that starts it, where it has none and works by tools. An agent that was
 *  given nothing to work with works as the one that starts it does: where that one only calls tools, it may not run code. */
export function withInheritedWorkspace(options: AgentOptions): AgentOptions {
  if (options.workspace !== undefined) return options
  const above = inheritedFiles.findInherited(parentForNewRun()?.parent)
  if (!above?.workspace) return options
  const hasTools = Boolean(options.tools?.length || options.agents)
  if (!hasTools && (options.runtime !== undefined || above.usesCode)) return options
  return { ...options, workspace: above.workspace }
}

const approvalsOfRunTree = createRunField<Map<object, string[]>>()

/** What was approved for good in earlier runs of an agent that the same run has started, itself or through others; grows
 *  with each `always`. Undefined for a run that nobody started. */
export function approvedInRunTree({ parent }: RunContext, agent: object): string[] | undefined {
  const root = [...runAndAncestors(parent)].at(-1)
  if (!root) return undefined
  const known = approvalsOfRunTree.get(root) ?? new Map<object, string[]>()
  approvalsOfRunTree.set(root, known)
  const approved = known.get(agent) ?? []
  known.set(agent, approved)
  return approved
}
