// The tools of a run: those of the user and the built-in ones, and what the tools of a conversation share.
import { notOfferedText } from "../actions/approval.ts"
import type { ToolFilter } from "../actions/tool-policy.ts"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import type { ToolSpec } from "../models/model.ts"
import type { SkillAccess } from "../tools/activate-skill.ts"
import type { Artifacts } from "../tools/artifacts.ts"
import type { ShellTools } from "../tools/shell.ts"
import type { Tool, ToolContext, ToolState } from "../tools/tool.ts"
import { recordWrites } from "../tools/written-files.ts"
import { memoryWorkspace } from "../workspaces/memory.ts"
import type { Workspace } from "../workspaces/workspace.ts"
import type { AgentConfig } from "./agent-config.ts"

export interface ToolEnvironment {
  workspace: Workspace
  state: ToolState
  /** Returns the environment of a conversation that continues this one, in the same workspace or another. */
  continueWith(state: ToolState, workspace?: Workspace): ToolEnvironment
  /** Ends the sub-tasks that are still open. */
  close(): Promise<void>
}

/** The tools of one run. Disposing it ends the processes that they left running. */
export interface Toolbox extends AsyncDisposable {
  tools: ReadonlyMap<string, Tool>
  specs: readonly ToolSpec[]
  context: Pick<ToolContext, "workspace" | "state" | "messages">
  warnings: readonly { code: string; message: string }[]
}

/** What the tools of one run depend on, besides the agent's configuration. */
export interface ToolboxSetup {
  allowed: ToolFilter
  /** Returns true if a call of the tool can be approved in this run, or needs no approval. */
  canBeApproved(tool: Tool): boolean
  skills: SkillAccess | undefined
  artifacts: Artifacts
  messages: readonly Message[]
}

/** Opens the environment of a conversation's tools. `log.events` returns the events of the conversation. */
export async function openToolEnvironment(
  workspace: Workspace | undefined,
  first: ToolState,
  log: { events(): readonly AgentEvent[]; artifacts: Artifacts },
): Promise<ToolEnvironment> {
  const [{ continueSubtasks, closeSubtasks }, { setConversationLog: letRecall }] = await loadDelegateModules()

  function create(state: ToolState, workspace: Workspace): ToolEnvironment {
    letRecall(state, log)
    return {
      workspace: recordWrites(workspace, state),
      state,
      continueWith(next, other = workspace) {
        continueSubtasks(state, next)
        return create(next, other)
      },
      close: () => closeSubtasks(state),
    }
  }

  return create(first, workspace ?? memoryWorkspace())
}

// Loaded when the first agent has tools. Cached here, because even a repeated dynamic import costs time in every run.
const loadDelegateModules = once(() =>
  Promise.all([import("../tools/delegate/subtasks.ts"), import("../tools/delegate/restore-subtask.ts")]),
)
const loadBuiltinTools = once(() => import("../tools/builtin.ts"))
const loadChinese = once(() => import("../tools/chinese-descriptions.ts"))

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load()
    return loading
  }
}

/** Collects the user's tools and the built-in tools for this configuration, without those that the policy forbids. */
export async function openToolbox(
  config: AgentConfig,
  environment: ToolEnvironment,
  setup: ToolboxSetup,
): Promise<Toolbox> {
  const { builtinTools } = await loadBuiltinTools()
  const shell = await openShell(config)
  const { usesCode, workspace, agents, maxParallelTools } = config
  const { allowed, messages } = setup
  const builtin = builtinTools({
    asks: !usesCode,
    finishes: !usesCode && config.noTool === "continue",
    todos: config.todos,
    compactMemory: config.compactMemory,
    artifacts: usesCode ? undefined : setup.artifacts,
    workspace,
    images: config.images,
    skills: usesCode ? undefined : setup.skills,
    agents,
    maxParallel: maxParallelTools,
  })
  builtin.push(...(shell?.tools ?? []))
  const tools = new Map<string, Tool>()
  for (const tool of config.tools) {
    if (tools.has(tool.name)) throw new ConfigError(`tools: there are two with the name "${tool.name}".`)
    tools.set(tool.name, tool)
  }
  // A tool of the user replaces a built-in tool of the same name.
  for (const tool of builtin) if (!tools.has(tool.name)) tools.set(tool.name, tool)
  for (const tool of tools.values()) if (!allowed(tool)) tools.delete(tool.name)
  // A tool whose every call would be refused is not offered. A call of it still gets the reason.
  const refused = [...tools.values()].filter((tool) => !setup.canBeApproved(tool)).map(({ name }) => name)
  const isOffered = ({ name }: Tool) => !refused.includes(name === "check_command" ? "shell" : name)
  const specs = [...tools.values()]
    .filter(isOffered)
    .map(({ name, description, input }) => ({ name, description, input }))
    .map(config.promptLanguage === "zh" ? (await loadChinese()).withChineseDescriptions : (spec) => spec)
  const { warning } = shell?.commands ?? {}
  return {
    tools,
    specs,
    context: toolContextIn(environment, messages),
    warnings: [
      ...(warning === undefined ? [] : [{ code: "shell", message: warning }]),
      ...(refused.length > 0 ? [{ code: "no-approver", message: notOfferedText(refused) }] : []),
    ],
    [Symbol.asyncDispose]: async () => await shell?.close(),
  }
}

async function openShell({ shell, workspace }: AgentConfig): Promise<ShellTools | undefined> {
  if (!shell) return undefined
  if (workspace?.root === undefined) {
    throw new ConfigError(
      "shell: a shell needs a workspace that is a folder. Give the agent workspace: localWorkspace(dir).",
    )
  }
  const { shellTools } = await import("../tools/shell.ts")
  return shellTools(shell === true ? {} : shell)
}

/** Returns the context for the tools of a conversation. */
export function toolContextIn({ workspace, state }: ToolEnvironment, messages: readonly Message[]): Toolbox["context"] {
  return { workspace, state, messages: () => messagesBeforeAnswer(messages) }
}

function messagesBeforeAnswer(messages: readonly Message[]): Message[] {
  const answer = messages.findLastIndex(({ role }) => role === "assistant")
  return messages.slice(0, answer === -1 ? undefined : answer)
}
