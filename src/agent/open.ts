import type { Emit, EventBody } from "../core/event.ts"
import { type Message, userMessage } from "../core/message.ts"
import type { Name } from "../runtime/runtime.ts"
import type { Conversation } from "./conversation.ts"
import type { Durable } from "./durable.ts"
import { interruptedSessionText, interruptionText } from "./interruption.ts"
import type { LoopSetup } from "./loop.ts"
import { outputsAsked } from "./outputs.ts"
import { announcement } from "./prompt.ts"
import { hashOfPrompt, promptFor, skillsFor } from "./prompt-for.ts"
import { lostText, stateLostWarning } from "./restore.ts"
import type { AgentSkills } from "./skills.ts"

/** Tells how the run begins, and gives the system prompt and the skills it works with. */
export async function open(setup: LoopSetup, emit: Emit): Promise<{ system: string; skills: AgentSkills | undefined }> {
  const { config, conversation, prompt, metadata, outputs, values, durable } = setup
  const { runtime } = conversation
  const messages: Message[] = conversation.messages.length === 0 ? [...config.messages] : []
  const start = (system?: string): EventBody => {
    messages.push(prompt)
    const { name: agent, model } = config
    return { type: "run-start", agent, model: model.id, messages, metadata, ...(system !== undefined && { system }) }
  }
  try {
    const skills = await skillsFor(config, runtime)
    // The values of one run are no part of the definition.
    const before = values && !config.freshPrompt && !conversation.promptHash && (await promptFor(config, runtime))
    if (values) await runtime.update(values)
    const there = config.usesCode ? await runtime.names() : []
    const names = there.filter((name) => name.injected).map(({ name }) => name)
    const frozen = config.freshPrompt ? undefined : conversation.system
    const fresh = [
      ...(frozen === undefined ? [] : names.filter((name) => !conversation.told.has(name))),
      ...madeByOthers(there, conversation.told),
    ]
    const system = frozen ?? (await promptFor(config, runtime))
    if (conversation.lost.length > 0) messages.push(userMessage(lostText(conversation.lost), "host"))
    const { interrupted } = conversation
    if (interrupted) messages.push(userMessage(interruptedSessionText(interrupted.calls), "host"))
    if (fresh.length > 0) {
      const text = announcement(await runtime.describe(fresh), config.tag(runtime.language))
      messages.push({ ...userMessage(text, "host"), pinned: true })
    }
    if (outputs) {
      messages.push(userMessage(await outputsAsked(outputs, runtime, config.tag(runtime.language)), "host"))
    }
    const stateLost = lostIsTold(conversation)
    conversation.interrupted = undefined
    for (const name of fresh) conversation.told.add(name)
    // What one run alone says differently is not for those after it.
    if (!config.freshPrompt) {
      conversation.system = system
      conversation.promptHash ??= hashOfPrompt(before || system)
      for (const name of names) conversation.told.add(name)
    }
    emit(start(frozen === undefined ? system : undefined))
    if (stateLost) emit(stateLost)
    if (durable && config.workspace?.inMemory) emit(workspaceNotDurable)
    for (const message of conversation.warnings.splice(0)) emit({ type: "warning-raised", code: "archive", message })
    if (frozen === undefined) {
      for (const message of runtime.warnings ?? []) emit({ type: "warning-raised", code: "runtime", message })
      for (const message of skills?.warnings ?? []) emit({ type: "warning-raised", code: "skill", message })
    }
    return { system, skills }
  } catch (error) {
    emit(start())
    throw error
  }
}

const workspaceNotDurable: EventBody = {
  type: "warning-raised",
  code: "workspace-not-durable",
  message:
    "The files of this durable run are in a memoryWorkspace, and are lost when the process ends or another worker goes on. " +
    "Use localWorkspace(folder) or s3Workspace().",
}

/** The same for a run that goes on: it has begun before, so only what was lost since is told. */
export async function reopen({ config, conversation, durable }: LoopSetup, emit: Emit): ReturnType<typeof open> {
  const { runtime, lost } = conversation
  const skills = await skillsFor(config, runtime)
  const system = conversation.system ?? (await promptFor(config, runtime))
  if (lost.length > 0) emit({ type: "prompt-steered", message: userMessage(lostText(lost), "host") })
  const stateLost = lostIsTold(conversation)
  if (stateLost) emit(stateLost)
  // A run whose last cycle was saved asks its model nothing more.
  if (!durable?.interruption?.answered && !durable?.resumed?.state.end) tellInterruption(durable, emit)
  return { system, skills }
}

/** Tells the model, once, that the run goes on after a crash. Where its answer in the interrupted cycle is recorded, that
 *  comes after the cycle was run again: the answer was given before the crash. */
export function tellInterruption(durable: Durable | undefined, emit: Emit): void {
  if (!durable?.interruption) return
  const text = interruptionText(durable.interruption.calls())
  durable.interruption = undefined
  emit({ type: "prompt-steered", message: userMessage(text, "host") })
}

/** Gives the warning for the host about objects whose state is lost. */
function lostIsTold(conversation: Conversation): EventBody | undefined {
  const warning = stateLostWarning(conversation.lost)
  for (const { name, path, asInjected } of conversation.lost) {
    if (path === undefined && !asInjected) conversation.gone.add(name)
  }
  conversation.lost = []
  return warning
}

// What cells of other conversations left in a runtime that is shared; of much, the newest.
function madeByOthers(there: readonly Name[], told: ReadonlySet<string>): string[] {
  const made = there.filter(({ name, injected }) => !injected && !name.startsWith("_") && !told.has(name))
  return made.map(({ name }) => name).slice(-mostAnnounced)
}

const mostAnnounced = 30
