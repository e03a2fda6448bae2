// Begins or resumes a run: emits `run-start` with everything the model must know first, and returns the system prompt.
import type { Emit, EventBody } from "../../core/event.ts"
import { type Message, userMessage } from "../../core/message.ts"
import type { RuntimeName } from "../../runtime/runtime.ts"
import type { AgentSkills } from "../agent-skills.ts"
import { interruptedSessionText, interruptionText } from "../conversation/interruption.ts"
import { lostObjectsText, lostObjectsWarnings } from "../conversation/lost-objects.ts"
import type { Conversation } from "../conversation.ts"
import { outputsPrompt } from "../outputs.ts"
import { buildPrompt, hashPrompt, openAgentSkills } from "../prompt/build-prompt.ts"
import { newNamesText } from "../prompt/system-prompt.ts"
import type { DurableRun } from "./durable-run.ts"
import type { LoopSetup } from "./run-loop.ts"

/** Emits how the run begins. Returns the system prompt and the skills. */
export async function beginRun(
  setup: LoopSetup,
  emit: Emit,
): Promise<{ system: string; skills: AgentSkills | undefined }> {
  const { config, conversation, prompt, metadata, outputs, values, durable } = setup
  const { runtime } = conversation
  const { promptLanguage } = config
  const tag = config.fenceTag(runtime.language)
  const messages: Message[] = conversation.messages.length === 0 ? [...config.messages] : []
  const start = (system?: string): EventBody => {
    messages.push(prompt)
    const { name: agent, model } = config
    return { type: "run-start", agent, model: model.id, messages, metadata, ...(system !== undefined && { system }) }
  }
  try {
    const skills = await openAgentSkills(config, runtime)
    const definition = () => buildPrompt(config, runtime, { withFiles: false })
    // The hash is taken before the values of this run are set: they are not part of the agent's definition.
    const before = values && !config.changesPrompt && !conversation.promptHash && (await definition())
    if (values) await runtime.update(values)
    const existing = config.usesCode ? await runtime.names() : []
    const names = existing.filter((name) => name.injected).map(({ name }) => name)
    const frozen = config.changesPrompt ? undefined : conversation.system
    const fresh = [
      ...(frozen === undefined ? [] : names.filter((name) => !conversation.announcedNames.has(name))),
      ...namesMadeByOthers(existing, conversation.announcedNames),
    ]
    const system = frozen ?? (await buildPrompt(config, runtime))
    if (conversation.lost.length > 0) messages.push(userMessage(lostObjectsText(conversation.lost), "host"))
    const { interrupted } = conversation
    if (interrupted) messages.push(userMessage(interruptedSessionText(interrupted.calls), "host"))
    if (fresh.length > 0) {
      const text = newNamesText(await runtime.describe(fresh), tag, promptLanguage)
      messages.push({ ...userMessage(text, "host"), pinned: true })
    }
    if (outputs) {
      messages.push(userMessage(await outputsPrompt(outputs, runtime, tag, promptLanguage), "host"))
    }
    const lossWarnings = markLossesAnnounced(conversation)
    conversation.interrupted = undefined
    for (const name of fresh) conversation.announcedNames.add(name)
    // A prompt that only this run changes does not apply to later runs.
    if (!config.changesPrompt) {
      conversation.system = system
      conversation.promptHash ??= hashPrompt(before || (config.workspace ? await definition() : system))
      for (const name of names) conversation.announcedNames.add(name)
    }
    emit(start(frozen === undefined ? system : undefined))
    for (const warning of lossWarnings) emit(warning)
    if (durable && config.workspace?.inMemory) emit(workspaceNotDurable)
    for (const warning of conversation.warnings.splice(0)) emit({ type: "warning-raised", ...warning })
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

/** Resumes a run that had begun: reports only the objects that were lost since. */
export async function resumeRun({ config, conversation, durable }: LoopSetup, emit: Emit): ReturnType<typeof beginRun> {
  const { runtime, lost } = conversation
  const skills = await openAgentSkills(config, runtime)
  const system = conversation.system ?? (await buildPrompt(config, runtime))
  if (lost.length > 0) emit({ type: "prompt-steered", message: userMessage(lostObjectsText(lost), "host") })
  for (const warning of markLossesAnnounced(conversation)) emit(warning)
  // A run that has ended sends no more requests.
  if (!durable?.interruption?.answered && !durable?.resumed?.state.end) announceInterruption(durable, emit)
  return { system, skills }
}

/** Tells the model once that the run continues after a crash. If the model's answer in the interrupted cycle is
 *  recorded, this comes after that cycle has run again, because the answer was given before the crash. */
export function announceInterruption(durable: DurableRun | undefined, emit: Emit): void {
  if (!durable?.interruption) return
  const text = interruptionText(durable.interruption.calls())
  durable.interruption = undefined
  emit({ type: "prompt-steered", message: userMessage(text, "host") })
}

/** Marks the lost objects as reported. Returns the warnings for the host. */
function markLossesAnnounced(conversation: Conversation): EventBody[] {
  const warnings = lostObjectsWarnings(conversation.lost)
  for (const { name, path, asInjected, otherData } of conversation.lost) {
    if (path === undefined && !asInjected && otherData === undefined) conversation.namesReportedLost.add(name)
  }
  conversation.lost = []
  return warnings
}

// Names that cells of other conversations created in a shared runtime; if existing are many, the newest.
function namesMadeByOthers(existing: readonly RuntimeName[], announced: ReadonlySet<string>): string[] {
  const made = existing.filter(({ name, injected }) => !injected && !name.startsWith("_") && !announced.has(name))
  return made.map(({ name }) => name).slice(-maxAnnounced)
}

const maxAnnounced = 30
