// Makes tools of agents: `agentTool` runs a sub-task, `handoffTool` hands over the conversation.

import * as z from "zod"
import type { Agent, RunResult } from "../../core/agent.ts"
import { checkOptions, mustBeText } from "../../core/checks/check-options.ts"
import { ConfigError } from "../../core/errors.ts"
import type { Message } from "../../core/message.ts"
import { trajectory } from "../../core/trajectory.ts"
import { noUsage } from "../../core/usage.ts"
import { isAgent } from "../../runtime/bindings.ts"
import type { Artifacts } from "../artifacts.ts"
import type { Tool, ToolContext, ToolOptions, ToolResult } from "../tool.ts"
import { isToolResult, tool, toolChecks, toolFailure, toolResult } from "../tool.ts"
import { artifactsOf, continuations } from "./restore-subtask.ts"
import { reportSubtasks } from "./subtask-report.ts"
import { type Subtask, subtasksOf } from "./subtasks.ts"

export interface AgentToolOptions extends ToolOptions {
  /** The tool's name. Default: the agent's name. */
  name?: string | undefined
  /** Default: the agent's description. */
  description?: string | undefined
}

const agentToolChecks = { ...toolChecks, name: mustBeText, description: mustBeText }

/** An agent as a tool: takes a prompt, returns the agent's answer. Each call is a child run of the calling run. A
 *  failure of the agent is a result with a code; a question of the agent is passed to the user. */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  checkAgent("agentTool", agent)
  checkOptions("agentTool()", options, agentToolChecks)
  const { name = toolName(agent.name), description = agent.description, ...rest } = options
  return tool({
    name,
    description: description ?? `Gives a task to the agent "${agent.name}", which works on its own and reports back.`,
    input: z.strictObject({
      prompt: z.string().min(1).describe("All it must know: it sees nothing of this conversation."),
      continue: continueInput,
    }),
    // Runs on separate runtimes do not interfere.
    parallel: agent.runtime === undefined,
    maxOutputChars: 40_000,
    // The calls of the child run are journaled individually.
    journal: false,
    ...rest,
    async run({ prompt, continue: id }, context) {
      const task = await runSubtask(agent, name, { prompt, id }, context)
      if (isToolResult(task)) return task
      const report = reportSubtasks([task], { continueHint: continueHint(name) })
      // A single answer needs no title.
      return task.status === "done" ? toolResult({ ...report, text: task.reply?.output ?? "" }) : report
    },
  })
}

/** Hands the conversation over: the run ends with the answer of the other agent, which knows the whole conversation.
 *  If the other agent fails, the run continues. */
export function handoffTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  checkAgent("handoffTool", agent)
  checkOptions("handoffTool()", options, agentToolChecks)
  const { name = `transfer_to_${toolName(agent.name)}`, description, ...rest } = options
  const purpose = agent.description ? `: ${agent.description}` : "."
  return tool({
    name,
    description:
      description ?? `Hands the whole conversation to the agent "${agent.name}"${purpose} This ends your work.`,
    input: z.strictObject({
      prompt: z.string().optional().describe("What to tell it beside the conversation, which it knows."),
      continue: continueInput,
    }),
    maxOutputChars: 40_000,
    // The calls of the child run are journaled individually.
    journal: false,
    ...rest,
    async run({ prompt = defaultHandoverPrompt, continue: id }, context) {
      const from = handoverResult(context.messages?.() ?? [], artifactsOf(context.state))
      const task = await runSubtask(agent, name, { prompt, id, from }, context)
      if (isToolResult(task)) return task
      const report = reportSubtasks([task], { continueHint: continueHint(name) })
      if (task.status !== "done") return report
      const { output = "", files } = task.reply ?? {}
      const directive = { kind: "finish", message: output, handedTo: agent.name, ...(files && { files }) } as const
      return toolResult({ ...report, text: output, directive })
    },
  })
}

const continueInput = z.string().optional().describe("Id of a task that asked; prompt is the answer.")

const defaultHandoverPrompt = "(The conversation was handed over to you. Go on with what the user asked for.)"

async function runSubtask(
  agent: Agent,
  name: string,
  { prompt, id, from }: { prompt: string; id: string | undefined; from?: RunResult },
  { state, signal }: ToolContext,
): Promise<Subtask | ToolResult> {
  const known = subtasksOf(state)
  const continues = id === undefined ? undefined : known.get(id, (asked) => (asked === name ? agent : undefined))
  if (id !== undefined && (!continues?.waitingRun || continues.agent !== agent)) {
    return toolFailure("not-waiting", `No task "${id}" of ${name} waits for an answer. Give it as a new task.`)
  }
  const task = known.start({ agent, name, prompt, continues, from, signal })
  await task.settled
  return task
}

function continueHint(name: string): (task: Subtask) => string {
  return ({ id }) => `pass it on: ${name}({ continue: "${id}", prompt: "<the answer>" })`
}

/** A conversation that another agent continues. Artifacts named in its messages stay readable. */
function handoverResult(messages: readonly Message[], artifacts: Artifacts | undefined): RunResult {
  const result: RunResult = {
    id: "handover",
    status: "done",
    output: "",
    completion: { by: "handoff" },
    cycles: 0,
    usage: noUsage,
    messages: [...messages],
    trajectory: trajectory([]),
  }
  if (artifacts) {
    const head = () => ({ artifacts: { ...artifacts.counts } })
    continuations.set(result, { head, unsaved: () => new Map(), readArtifact: artifacts.find })
  }
  return result
}

function toolName(name: string): string {
  const word = name.replace(/[^\p{ID_Continue}]+/gu, "_").slice(0, 50)
  return /^[\p{ID_Start}_]/u.test(word) ? word : `agent_${word}`
}

function checkAgent(use: string, agent: unknown): void {
  if (!isAgent(agent)) throw new ConfigError(`${use}: this is no agent. Make one by createAgent({ … }).`)
}
