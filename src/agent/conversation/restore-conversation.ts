// Stores and restores conversations: messages from events, objects from a snapshot, and what could not be restored.
import { errorData, UnsupportedError } from "../../core/errors.ts"
import type { AgentEvent } from "../../core/event.ts"
import { createOwnEventFilter } from "../../core/trajectory.ts"
import { keptNamePattern } from "../../memory/kept-values.ts"
import { initialMemory } from "../../memory.ts"
import { runtimeContext } from "../../runtime/open-runtime.ts"
import type { Runtime, RuntimeLoss, RuntimeSnapshot } from "../../runtime/runtime.ts"
import type { RuntimeContext } from "../../runtime/typed-runtime.ts"
import type { ArtifactCounts } from "../../tools/artifacts.ts"
import type { StateValues } from "../../tools/tool-state.ts"
import type { AgentConfig } from "../agent-config.ts"
import { type Conversation, createConversation } from "../conversation.ts"
import { buildPrompt, hashPrompt } from "../prompt/build-prompt.ts"
import { foldersWritableByTools } from "../run/child-runs.ts"
import { type FoldedConversation, namesCreatedByCells, objectsUsedByCells } from "./fold-conversation.ts"
import { openConfiguredRuntime } from "./open-conversation.ts"

/** The part of a conversation that is not in its events. Small, so that saving it costs the same at any length. */
export interface ConversationHead {
  version: 1
  /** The run whose `run-start` event contains the system prompt. */
  systemRun?: string
  /** Identifies the agent definition that the system prompt was written for. */
  promptHash?: string
  /** The names that were announced to the model. */
  told: string[]
  /** The names reported to the model as lost; absent if there are none. */
  gone?: string[]
  approved: string[]
  steered: string[]
  memory: Conversation["memory"]
  tools: StateValues
  /** The last number of each kind of artifact; absent if there are none. */
  artifacts?: ArtifactCounts
}

export interface StoredConversation {
  events: Iterable<AgentEvent>
  /** The part of the conversation before `events`. Default: none. */
  folded?: FoldedConversation | undefined
  /** Default: derived from the events. */
  head?: ConversationHead | undefined
  snapshot?: RuntimeSnapshot | undefined
  /** How many of the events happened before the snapshot was taken. Default: all. */
  covered?: number | undefined
}

export interface RestoreOptions {
  keepPrompt?: boolean | undefined
  /** What the runtime factory receives. Default: a run outside of sessions, with the metadata of the agent. */
  context?: RuntimeContext | undefined
}

/** Returns the head to store with the events: a copy as plain data. */
export function headOf(conversation: Conversation): ConversationHead {
  const { systemRun, promptHash, approved, steered, memory, state, artifacts } = conversation
  const gone = [...conversation.namesReportedLost]
  return structuredClone({
    version: 1,
    ...(systemRun !== undefined && { systemRun }),
    ...(promptHash !== undefined && { promptHash }),
    told: [...conversation.announcedNames],
    ...(gone.length > 0 && { gone }),
    approved,
    steered,
    memory,
    tools: state.values,
    ...(Object.keys(artifacts.counts).length > 0 && { artifacts: artifacts.counts }),
  })
}

/** Restores a conversation. Its messages are folded from the events; the agent's factory creates the runtime, which
 *  gets the objects of the snapshot. Objects that could not be restored are in `lost`; the next run reports them to the
 *  model. A runtime given as an instance belongs to its owner and is not changed. If the agent's definition has
 *  changed, the system prompt is dropped and the next run writes a new one, unless `keepPrompt` is set. */
export async function restoreConversation(
  stored: StoredConversation,
  config: AgentConfig,
  { keepPrompt = false, context = runtimeContext(config) }: RestoreOptions = {},
): Promise<Conversation> {
  const { runtime, ownsRuntime } = await openConfiguredRuntime(config, context)
  try {
    const restored = rebuildConversation(stored, runtime, ownsRuntime)
    // Before the objects are restored, because their types are part of the prompt.
    if (!keepPrompt) await dropOutdatedPrompt(restored, config)
    if (!config.usesCode) return restored
    await reinjectSkills(config, restored)
    restored.lost = await restoreObjects(stored, restored)
    return restored
  } catch (error) {
    if (ownsRuntime) await runtime.close()
    throw error
  }
}

/** Removes the stored system prompt if the agent would now start with a different one. */
async function dropOutdatedPrompt(restored: Conversation, config: AgentConfig): Promise<void> {
  const promptHash = hashPrompt(await buildPrompt(config, restored.runtime, { withFiles: false }))
  const isSame = promptHash === (restored.promptHash ?? hashPrompt(restored.system ?? ""))
  Object.assign(restored, { promptHash, ...(!isSame && { system: undefined, systemRun: undefined }) })
}

/** An earlier point of a conversation: its events up to then, and its objects. */
export interface EarlierPoint {
  /** Throws a `ConfigError` if there is no such point, or if its objects were not kept. */
  events(): Promise<AgentEvent[]>
  /** Returns what could not be restored. */
  restoreObjects(runtime: Runtime): Promise<RuntimeLoss[]>
}

/** Copies a conversation and its runtime; the two are then independent. With `point`, the copy is as it was then. */
export async function copyConversation(shared: Conversation, point?: EarlierPoint): Promise<Conversation> {
  const { runtime, events, folded, artifacts } = shared
  if (!runtime.fork) throw new UnsupportedError("This kind of runtime cannot be copied, so its session has no fork().")
  const own = point ? await point.events() : events.slice(folded?.open.length)
  const copied = await runtime.fork()
  const notRestored = await point?.restoreObjects(copied)
  const copy = rebuildConversation({ events: own, folded, head: headOf(shared) }, copied, true)
  for (const [name, text] of artifacts.unsaved()) copy.artifacts.put(name, text)
  // The model of the copy does not know of these either.
  const lost = notRestored ?? [...shared.lost, ...(copied.notCopied ?? [])]
  return Object.assign(copy, { lost, interrupted: shared.interrupted })
}

function rebuildConversation(
  { events, folded, head }: StoredConversation,
  runtime: Runtime,
  ownsRuntime: boolean,
): Conversation {
  const restored = createConversation(runtime, ownsRuntime, undefined, { folded })
  const isOwn = createOwnEventFilter(folded?.runs)
  const { system, systemRun } = folded ?? {}
  if (!head || head.systemRun === systemRun) Object.assign(restored, { system, systemRun })
  for (const event of events) {
    restored.record(event)
    if (!isOwn(event)) continue
    if (event.type === "run-start" && event.system !== undefined) {
      const isFrozen = head ? event.run === head.systemRun : restored.system === undefined
      if (isFrozen) Object.assign(restored, { system: event.system, systemRun: event.run })
    }
    const [message] = event.type === "skill-activated" ? event.messages : []
    if (event.type === "skill-activated" && message) restored.activatedSkills.set(event.name, message.id)
  }
  restored.mentionedNames = new Set(JSON.stringify(restored.messages).match(keptNamePattern))
  if (!head) return restored
  for (const name of head.told) restored.announcedNames.add(name)
  for (const name of head.gone ?? []) restored.namesReportedLost.add(name)
  return Object.assign(applyStoredState(restored, head), {
    approved: [...head.approved],
    steered: [...head.steered],
    promptHash: head.promptHash,
  })
}

/** Restores the state of the tools, the numbers of the artifacts and the memory of a conversation. */
export function applyStoredState(
  conversation: Conversation,
  { tools, artifacts, memory }: Partial<Pick<ConversationHead, "tools" | "artifacts" | "memory">>,
): Conversation {
  for (const [key, value] of Object.entries(tools ?? {})) conversation.state.set(key, value)
  Object.assign(conversation.artifacts.counts, artifacts)
  conversation.memory = memory ?? initialMemory
  return conversation
}

async function reinjectSkills(config: AgentConfig, { runtime, activatedSkills }: Conversation): Promise<void> {
  const { skills } = config
  if (!skills || activatedSkills.size === 0) return
  const [{ openSkills }, { injectSkill }] = await Promise.all([
    import("../agent-skills.ts"),
    import("../../skills/inject-skill.ts"),
  ])
  const { offered } = await openSkills(skills, runtime)
  const writable = foldersWritableByTools(config)
  for (const skill of offered) if (activatedSkills.has(skill.name)) await injectSkill(skill, runtime, writable)
}

/** Restores the snapshot's objects. Returns the names that the conversation mentions but that are lost or outdated. */
async function restoreObjects(
  { snapshot, covered: coveredEvents }: StoredConversation,
  { runtime, ownsRuntime, events, folded, namesReportedLost }: Conversation,
): Promise<RuntimeLoss[]> {
  // The events of the conversation start with the open events of its folded part.
  const covered = coveredEvents === undefined ? undefined : coveredEvents + (folded?.open.length ?? 0)
  const { lost, problem } = snapshot && ownsRuntime ? await restoreSnapshot(runtime, snapshot) : { lost: [] }
  const reported = new Set(lost.flatMap(({ name, otherData }) => (otherData === undefined ? [name] : [])))
  const existing = new Set((await runtime.names()).map(({ name }) => name))
  const why = problem ?? reasonNotStored(snapshot, ownsRuntime)
  for (const [name, { changedAt }] of namesCreatedByCells(events, folded)) {
    if (reported.has(name) || namesReportedLost.has(name)) continue
    const isLate = ownsRuntime && snapshot !== undefined && covered !== undefined && changedAt >= covered
    if (!existing.has(name)) lost.push({ name, reason: isLate ? changedAfterSnapshot : why })
    else if (isLate) lost.push({ name, reason: `it is as it was before: ${changedAfterSnapshot}` })
  }
  const tail = ownsRuntime
    ? objectsUsedByCells(events, folded, snapshot && problem === undefined ? (covered ?? events.length) : undefined)
    : noneUsed
  for (const name of tail.used) {
    if (existing.has(name) && !reported.has(name)) lost.push({ name, reason: changedAfterSnapshot, asInjected: true })
  }
  const hasLaterCells = covered !== undefined && events.slice(covered).some((event) => event.type === "code-end")
  if (snapshot && ownsRuntime && hasLaterCells)
    lost.push({ name: "what was changed inside objects", reason: changedAfterSnapshot })
  return lost.filter(({ name, asInjected }) => !asInjected || !tail.reported.has(name))
}

const noneUsed = { used: new Set<string>(), reported: new Set<string>() }

/** Returns the names that a conversation mentions and that a new runtime does not have. */
export async function objectsLostWithProcess(events: readonly AgentEvent[], runtime: Runtime): Promise<RuntimeLoss[]> {
  const existing = new Set((await runtime.names()).map(({ name }) => name))
  const reason = reasonNotStored(undefined, true)
  const made = [...namesCreatedByCells(events).keys()]
    .filter((name) => !existing.has(name))
    .map((name): RuntimeLoss => ({ name, reason }))
  const used = [...objectsUsedByCells(events).used].filter((name) => existing.has(name))
  return [...made, ...used.map((name): RuntimeLoss => ({ name, reason, asInjected: true }))]
}

const changedAfterSnapshot =
  "it was made or changed after the last time that objects were kept, in a run that did not come to its end"

// If the snapshot cannot be read, the conversation is still restored.
async function restoreSnapshot(
  runtime: Runtime,
  snapshot: RuntimeSnapshot,
): Promise<{ lost: RuntimeLoss[]; problem?: string }> {
  if (!runtime.restore) return { lost: [], problem: "this kind of runtime cannot be brought back" }
  try {
    return { lost: [...(await runtime.restore(snapshot))] }
  } catch (error) {
    return { lost: [], problem: `what was kept of the runtime cannot be used: ${errorData(error).message}` }
  }
}

function reasonNotStored(snapshot: RuntimeSnapshot | undefined, ownsRuntime: boolean): string {
  if (!ownsRuntime) return "the runtime is shared with others, so it was not kept with the conversation"
  return snapshot ? "it was not in what was kept" : "nothing of the runtime was kept"
}
