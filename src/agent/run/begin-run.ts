import type { Emit, EventBody } from "../../core/event.ts"
import { type Message, userMessage } from "../../core/message.ts"
import type { RuntimeName } from "../../runtime/runtime.ts"
import type { AgentSkills } from "../agent-skills.ts"
import { interruptedSessionText, interruptionText } from "../conversation/interruption.ts"
import { lostObjectsText, stateLostWarning } from "../conversation/restore-conversation.ts"
import type { Conversation } from "../conversation.ts"
import { outputsPrompt } from "../outputs.ts"
import { buildPrompt, hashPrompt, openAgentSkills } from "../prompt/build-prompt.ts"
import { newNamesText } from "../prompt/system-prompt.ts"
import type { DurableRun } from "./durable-run.ts"
import type { LoopSetup } from "./run-loop.ts"

/** Tells how the run begins, and gives the system prompt and the skills it works with. */
export async function beginRun(
  setup: LoopSetup,
  emit: Emit,
): Promise<{ system: string; skills: AgentSkills | undefined }> {
  const { config, conversation, prompt, metadata, outputs, values, durable } = setup
  const { runtime } = conversation
  const messages: Message[] = conversation.messages.length === 0 ? [...config.messages] : []
  const start = (system?: string): EventBody => {
    messages.push(prompt)
    const { name: agent, model } = config
    return { type: "run-start", agent, model: model.id, messages, metadata, ...(system !== undefined && { system }) }
  }
  try {
    const skills = await openAgentSkills(config, runtime)
    // The values of one run are no part of the definition.
    const before = values && !config.changesPrompt && !conversation.promptHash && (await buildPrompt(config, runtime))
    if (values) await runtime.update(values)
    const there = config.usesCode ? await runtime.names() : []
    const names = there.filter((name) => name.injected).map(({ name }) => name)
    const frozen = config.changesPrompt ? undefined : conversation.system
    const fresh = [
      ...(frozen === undefined ? [] : names.filter((name) => !conversation.announcedNames.has(name))),
      ...namesMadeByOthers(there, conversation.announcedNames),
    ]
    const system = frozen ?? (await buildPrompt(config, runtime))
    if (conversation.lost.length > 0) messages.push(userMessage(lostObjectsText(conversation.lost), "host"))
    const { interrupted } = conversation
    if (interrupted) messages.push(userMessage(interruptedSessionText(interrupted.calls), "host"))
    if (fresh.length > 0) {
      const text = newNamesText(await runtime.describe(fresh), config.fenceTag(runtime.language))
      messages.push({ ...userMessage(text, "host"), pinned: true })
    }
    if (outputs) {
      messages.push(userMessage(await outputsPrompt(outputs, runtime, config.fenceTag(runtime.language)), "host"))
    }
    const stateLost = markLossesAnnounced(conversation)
    conversation.interrupted = undefined
    for (const name of fresh) conversation.announcedNames.add(name)
    // What one run alone says differently is not for those after it.
    if (!config.changesPrompt) {
      conversation.system = system
      conversation.promptHash ??= hashPrompt(before || system)
      for (const name of names) conversation.announcedNames.add(name)
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
export async function resumeRun({ config, conversation, durable }: LoopSetup, emit: Emit): ReturnType<typeof beginRun> {
  const { runtime, lost } = conversation
  const skills = await openAgentSkills(config, runtime)
  const system = conversation.system ?? (await buildPrompt(config, runtime))
  if (lost.length > 0) emit({ type: "prompt-steered", message: userMessage(lostObjectsText(lost), "host") })
  const stateLost = markLossesAnnounced(conversation)
  if (stateLost) emit(stateLost)
  // A run whose last cycle was saved asks its model nothing more.
  if (!durable?.interruption?.answered && !durable?.resumed?.state.end) announceInterruption(durable, emit)
  return { system, skills }
}

/** Tells the model, once, that the run goes on after a crash. Where its answer in the interrupted cycle is recorded, that
 *  comes after the cycle was run again: the answer was given before the crash. */
export function announceInterruption(durable: DurableRun | undefined, emit: Emit): void {
  if (!durable?.interruption) return
  const text = interruptionText(durable.interruption.calls())
  durable.interruption = undefined
  emit({ type: "prompt-steered", message: userMessage(text, "host") })
}

/** Gives the warning for the host about objects whose state is lost. */
function markLossesAnnounced(conversation: Conversation): EventBody | undefined {
  const warning = stateLostWarning(conversation.lost)
  for (const { name, path, asInjected } of conversation.lost) {
    if (path === undefined && !asInjected) conversation.namesReportedLost.add(name)
  }
  conversation.lost = []
  return warning
}

// What cells of other conversations left in a runtime that is shared; of much, the newest.
function namesMadeByOthers(there: readonly RuntimeName[], told: ReadonlySet<string>): string[] {
  const made = there.filter(({ name, injected }) => !injected && !name.startsWith("_") && !told.has(name))
  return made.map(({ name }) => name).slice(-maxAnnounced)
}

const maxAnnounced = 30
