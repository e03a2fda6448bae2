// Assembles what a cycle needs from the configuration, the conversation and the run.

import { approvalAnswers } from "../../actions/approval.ts"
import type { CallPolicy } from "../../actions/call-policy.ts"
import type { HookCaller } from "../../actions/hook-caller.ts"
import type { Journal } from "../../actions/journal-contract.ts"
import type { Stopwatch } from "../../actions/run-limits.ts"
import type { Message } from "../../core/message.ts"
import type { PromptLanguage } from "../../core/prompt-texts.ts"
import type { RunControl } from "../../core/run.ts"
import { estimateTokens } from "../../core/usage.ts"
import { keepValue, keptNamePattern, outputPrefix } from "../../memory/kept-values.ts"
import type { SkillAccess } from "../../tools/activate-skill.ts"
import type { Tool } from "../../tools/tool.ts"
import type { AgentConfig } from "../agent-config.ts"
import { outputsOfCells } from "../conversation/fold-conversation.ts"
import type { Conversation } from "../conversation.ts"
import type { CycleServices } from "../cycle.ts"
import type { DeclaredOutputs } from "../outputs.ts"
import { clockText } from "../prompt/system-prompt.ts"
import { openToolbox, openToolEnvironment, type Toolbox, type ToolEnvironment, toolContextIn } from "../toolbox.ts"
import type { LoopProgress, LoopSetup } from "./run-loop.ts"

/** The per-run objects from which the services of its cycles are built. */
export interface RunServices {
  outputs: DeclaredOutputs | undefined
  tools: RunTools | undefined
  system: string
  policy: CallPolicy
  caller: HookCaller
  /** The journal of a durable or recorded run. */
  journal: Journal | undefined
  stopwatch: Stopwatch
  signal: AbortSignal
  steers: SteerBuffer
  wasAborted(): boolean
  recordFailure(error: unknown): void
}

interface RunTools extends Toolbox {
  environment: ToolEnvironment
}

export async function openRunTools(
  { control, setup, policy, journal, toolFilter: allowed }: LoopProgress,
  skills: SkillAccess | undefined,
): Promise<RunTools> {
  const { config, conversation } = setup
  const { artifacts, messages, approved } = conversation
  const environment = await toolEnvironmentOf(config, conversation)
  const hasApprover = typeof policy.approver === "function" || control.readersApprove() || journal?.answersApprovals
  const canBeApproved = ({ name, options }: Tool) =>
    options.approve !== true || hasApprover === true || approved.includes(name)
  const toolbox = await openToolbox(config, environment, { allowed, canBeApproved, skills, artifacts, messages })
  return { environment, ...toolbox }
}

/** Returns the context for tools that cells call as functions. */
export async function cellToolContext({ config, conversation }: LoopSetup): Promise<Toolbox["context"]> {
  return toolContextIn(await toolEnvironmentOf(config, conversation), conversation.messages)
}

function toolEnvironmentOf({ workspace }: AgentConfig, conversation: Conversation): Promise<ToolEnvironment> {
  const { state, artifacts } = conversation
  conversation.toolEnvironment ??= openToolEnvironment(workspace, state, {
    events: () => conversation.events,
    artifacts,
  })
  return conversation.toolEnvironment
}

/** The steers that the model has not received yet. */
export interface SteerBuffer {
  /** Collects new steers into the buffer. Returns how many it holds. */
  collect(): number
  takeAll(): string[]
  /** Returns all steers and leaves them in the buffer. */
  peekAll(): readonly string[]
}

export function createSteerBuffer(conversation: Conversation, control: RunControl): SteerBuffer {
  const steers: string[] = []
  const collect = () => steers.push(...conversation.steered.splice(0), ...control.takeSteered())
  return {
    collect,
    peekAll() {
      collect()
      return steers
    },
    takeAll() {
      collect()
      return steers.splice(0)
    },
  }
}

export function createCycleServices(
  control: RunControl,
  { config, conversation, durable }: LoopSetup,
  services: RunServices,
): CycleServices {
  const { outputs, tools, system, policy, journal, stopwatch, signal, steers, wasAborted, recordFailure, caller } =
    services
  const { runtime } = conversation
  const valueStore = config.usesCode || !tools ? runtime : conversation.artifacts
  const reservedNames = namesMentionedIn(config.messages).union(conversation.mentionedNames)
  return {
    model: journal ? journal.wrapModel(config.model) : config.model,
    request: { ...config.request, system, ...(tools && { tools: tools.specs }) },
    systemTokens: estimateTokens(system) + toolTokens(tools?.tools ?? noTools),
    memory: journal ? { ...config.memory, model: journal.wrapModel(config.memory.model) } : config.memory,
    messages: conversation.messages,
    signal,
    codeSyntax: config.codeSyntax(runtime.language),
    language: runtime.language,
    promptLanguage: config.promptLanguage,
    promptTimes: describeTimes(conversation.promptTimes, config.promptLanguage),
    contextWindow: config.contextWindow,
    runtime,
    maxOutputChars: config.maxOutputChars,
    cellTimeoutMs: config.cellTimeoutMs,
    // The Python runtime cannot roll a cell back and refuses the option.
    transaction: config.transaction ?? (durable && runtime.language !== "python" ? true : undefined),
    allowFinish: config.usesCode,
    journal,
    cellEnv: journal?.cellEnv,
    typeGate: config.typeGate,
    activeMs: stopwatch.activeMs,
    ...policy,
    caller,
    approved: conversation.approved,
    state: conversation.state,
    ...approvalAnswers(control),
    pauseSignal: stopwatch.pauseSignal,
    leftMs: stopwatch.leftMs,
    usesCode: config.usesCode,
    tools: tools?.tools ?? noTools,
    toolContext: tools?.context,
    maxParallelTools: config.maxParallelTools,
    seesImages: config.images,
    noTool: config.noTool,
    stopOn: config.stopOn,
    callIds: usedCallIds(conversation),
    valueStore,
    resultStorage: valueStore === runtime ? "variable" : "artifact",
    keepResult: (text, position) => keepValue(outputPrefix(position), text, { valueStore, reservedNames, signal }),
    hasNewSteers: () => steers.collect() > 0,
    receiveSteers: durable?.readInbox,
    takeSteers: steers.takeAll,
    reservedNames,
    keptNames: () => outputsToDrop(conversation),
    findOutputProblems: outputs?.findProblems,
    spend: control.spend,
    takeSpent: control.takeSpent,
    wasAborted,
    recordFailure,
  }
}

const noTools: ReadonlyMap<string, Tool> = new Map()

const toolTokenCache = new WeakMap<Tool, number>()

function toolTokens(tools: ReadonlyMap<string, Tool>): number {
  let sum = 0
  for (const tool of tools.values()) {
    const { name, description, input } = tool
    const tokens = toolTokenCache.get(tool) ?? estimateTokens(JSON.stringify({ name, description, input }))
    toolTokenCache.set(tool, tokens)
    sum += tokens
  }
  return sum
}

// The ids of all tool calls, also of those removed by compaction: new calls must not reuse them.
function usedCallIds({ messages, events }: Conversation): Set<string> {
  const ended = events.flatMap((event) => (event.type === "message-end" ? [event.message] : []))
  const ids = new Set<string>()
  for (const { parts } of [...messages, ...ended]) {
    for (const part of parts) if (part.type === "tool-call") ids.add(part.id)
  }
  return ids
}

// Memory refers to the text of a cleared result by its name, so that text stays.
function outputsToDrop({ events, folded, messages }: Conversation): string[] {
  const cleared = new Set(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "code-result" && part.cleared && part.kept ? part.kept : [])),
    ),
  )
  return outputsOfCells(events, folded).filter((name) => !cleared.has(name))
}

// Names that the given messages mention. Another value of the same name would mislead the model.
function namesMentionedIn(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.length === 0 ? [] : JSON.stringify(messages).match(keptNamePattern))
}

function describeTimes(times: Conversation["promptTimes"], language: PromptLanguage | undefined): typeof times {
  for (const time of times.values()) time.text ??= clockText(new Date(time.at), undefined, language)
  return times
}
