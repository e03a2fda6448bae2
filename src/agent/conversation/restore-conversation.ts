import { errorData, UnsupportedError } from "../../core/errors.ts"
import type { AgentEvent, EventBody } from "../../core/event.ts"
import { oneLine, taggedText } from "../../core/text/tagged-text.ts"
import { createOwnEventFilter } from "../../core/trajectory.ts"
import { keptNamePattern } from "../../memory/kept-values.ts"
import { initialMemory } from "../../memory.ts"
import { jsRuntime } from "../../runtime/js.ts"
import type { Runtime, RuntimeLoss, RuntimeSnapshot } from "../../runtime/runtime.ts"
import type { ArtifactCounts } from "../../tools/artifacts.ts"
import type { StateValues } from "../../tools/tool-state.ts"
import type { AgentConfig } from "../agent-config.ts"
import { type Conversation, createConversation } from "../conversation.ts"
import { buildPrompt, hashPrompt } from "../prompt/build-prompt.ts"
import { foldersWritableByTools } from "../run/child-runs.ts"
import { type FoldedConversation, namesCreatedByCells, objectsUsedByCells, stateLostCode } from "./fold-conversation.ts"

/** What of a conversation is not in its events: small and JSON, so that saving it costs the same at any length. */
export interface ConversationHead {
  version: 1
  /** The run whose `run-start` has the frozen system prompt. */
  systemRun?: string
  promptHash?: string
  told: string[]
  /** Absent where nothing is. */
  gone?: string[]
  approved: string[]
  steered: string[]
  memory: Conversation["memory"]
  /** The state of its tools. */
  tools: StateValues
  /** The last numbers of its artifacts; absent where it has none. */
  artifacts?: ArtifactCounts
}

export interface StoredConversation {
  events: Iterable<AgentEvent>
  /** The part of the conversation before `events`. Default: there is none. */
  folded?: FoldedConversation | undefined
  /** Default: as far as the events tell. */
  head?: ConversationHead | undefined
  snapshot?: RuntimeSnapshot | undefined
  /** How many of the events had come when the snapshot was taken. Default: all. */
  covered?: number | undefined
}

/** What to store beside the events; plain data of its own. */
export function headOf(conversation: Conversation): ConversationHead {
  const {
    systemRun,
    promptHash,
    announcedNames: told,
    namesReportedLost: gone,
    approved,
    steered,
    memory,
    state,
    artifacts,
  } = conversation
  return structuredClone({
    version: 1,
    ...(systemRun !== undefined && { systemRun }),
    ...(promptHash !== undefined && { promptHash }),
    told: [...told],
    ...(gone.size > 0 && { gone: [...gone] }),
    approved,
    steered,
    memory,
    tools: state.values,
    ...(Object.keys(artifacts.counts).length > 0 && { artifacts: artifacts.counts }),
  })
}

export interface RestoreOptions {
  /** Keeps the stored system prompt even if the definition of the agent has changed since. Default false. */
  keepPrompt?: boolean | undefined
}

/** Brings a conversation back: its messages are folded from the events, its runtime is made by the agent's factory and
 *  gets what the snapshot holds. What could not be brought back is in `lost`, and the next run tells the model. A runtime
 *  that is an instance is its owner's: nothing is put into it. If the definition of the agent has changed, the conversation has no
 *  system prompt, so that the next run writes a new one. */
export async function restoreConversation(
  kept: StoredConversation,
  config: AgentConfig,
  { keepPrompt = false }: RestoreOptions = {},
): Promise<Conversation> {
  const { runtime: source = () => jsRuntime() } = config
  const owns = typeof source === "function"
  const runtime = owns ? await source() : source
  try {
    const restored = rebuildConversation(kept, runtime, owns)
    // Before objects are brought back, because their types are part of the prompt.
    if (!keepPrompt) await dropOutdatedPrompt(restored, config)
    if (!config.usesCode) return restored
    await reinjectSkills(config, restored)
    restored.lost = await restoreObjects(kept, restored)
    return restored
  } catch (error) {
    if (owns) await runtime.close()
    throw error
  }
}

/** Removes the stored system prompt if the agent would begin a new conversation with another one than it did then. */
async function dropOutdatedPrompt(restored: Conversation, config: AgentConfig): Promise<void> {
  const promptHash = hashPrompt(await buildPrompt(config, restored.runtime))
  const isSame = promptHash === (restored.promptHash ?? hashPrompt(restored.system ?? ""))
  Object.assign(restored, { promptHash, ...(!isSame && { system: undefined, systemRun: undefined }) })
}

/** The same conversation again, with a copy of its runtime: what happens in one is not seen in the other. */
export async function copyConversation(shared: Conversation): Promise<Conversation> {
  const { runtime, events, folded, artifacts } = shared
  if (!runtime.fork) throw new UnsupportedError("This kind of runtime cannot be copied, so its session has no fork().")
  const own = events.slice(folded?.open.length)
  const copy = rebuildConversation({ events: own, folded, head: headOf(shared) }, await runtime.fork(), true)
  for (const [name, text] of artifacts.unsaved()) copy.artifacts.put(name, text)
  // The model of the copy was not told either.
  return Object.assign(copy, { lost: shared.lost, interrupted: shared.interrupted })
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

/** Gives a conversation the state of its tools, the numbers of its artifacts and its memory from before. */
export function applyStoredState(
  conversation: Conversation,
  { tools, artifacts, memory }: Partial<Pick<ConversationHead, "tools" | "artifacts" | "memory">>,
): Conversation {
  for (const [key, value] of Object.entries(tools ?? {})) conversation.state.set(key, value)
  Object.assign(conversation.artifacts.counts, artifacts)
  conversation.memory = memory ?? initialMemory
  return conversation
}

/** Puts in again what the skills that were activated brought. */
async function reinjectSkills(
  config: AgentConfig,
  { runtime, activatedSkills: activated }: Conversation,
): Promise<void> {
  const { skills } = config
  if (!skills || activated.size === 0) return
  const [{ openSkills }, { injectSkill }] = await Promise.all([
    import("../agent-skills.ts"),
    import("../../skills/inject-skill.ts"),
  ])
  const { offered } = await openSkills(skills, runtime)
  const writable = foldersWritableByTools(config)
  for (const skill of offered) if (activated.has(skill.name)) await injectSkill(skill, runtime, writable)
}

/** Fills the runtime, and gives what the conversation speaks of and is not there, or not as it was left. */
async function restoreObjects(
  { snapshot, covered: given }: StoredConversation,
  { runtime, ownsRuntime, events, folded, namesReportedLost: gone }: Conversation,
): Promise<RuntimeLoss[]> {
  // The events of the conversation begin with those that are open in its folded form.
  const covered = given === undefined ? undefined : given + (folded?.open.length ?? 0)
  const { lost, problem } = snapshot && ownsRuntime ? await restoreSnapshot(runtime, snapshot) : { lost: [] }
  const isTold = new Set(lost.map(({ name }) => name))
  const there = new Set((await runtime.names()).map(({ name }) => name))
  const why = problem ?? reasonNotStored(snapshot, ownsRuntime)
  for (const [name, { changedAt }] of namesCreatedByCells(events, folded)) {
    if (isTold.has(name) || gone.has(name)) continue
    const isLate = ownsRuntime && snapshot !== undefined && covered !== undefined && changedAt >= covered
    if (!there.has(name)) lost.push({ name, reason: isLate ? changedAfterSnapshot : why })
    else if (isLate) lost.push({ name, reason: `it is as it was before: ${changedAfterSnapshot}` })
  }
  const tail = ownsRuntime
    ? objectsUsedByCells(events, folded, snapshot && problem === undefined ? (covered ?? events.length) : undefined)
    : noneUsed
  for (const name of tail.used) {
    if (there.has(name) && !isTold.has(name)) lost.push({ name, reason: changedAfterSnapshot, asInjected: true })
  }
  const isBehind = covered !== undefined && events.slice(covered).some((event) => event.type === "code-end")
  if (snapshot && ownsRuntime && isBehind)
    lost.push({ name: "what was changed inside objects", reason: changedAfterSnapshot })
  return lost.filter(({ name, asInjected }) => !asInjected || !tail.reported.has(name))
}

const noneUsed = { used: new Set<string>(), reported: new Set<string>() }

/** What a conversation speaks of that goes on in a runtime which never saw it. */
export async function objectsLostWithProcess(events: readonly AgentEvent[], runtime: Runtime): Promise<RuntimeLoss[]> {
  const there = new Set((await runtime.names()).map(({ name }) => name))
  const reason = reasonNotStored(undefined, true)
  const made = [...namesCreatedByCells(events).keys()]
    .filter((name) => !there.has(name))
    .map((name): RuntimeLoss => ({ name, reason }))
  const used = [...objectsUsedByCells(events).used].filter((name) => there.has(name))
  return [...made, ...used.map((name): RuntimeLoss => ({ name, reason, asInjected: true }))]
}

const changedAfterSnapshot =
  "it was made or changed after the last time that objects were kept, in a run that did not come to its end"

interface RestoredObjects {
  lost: RuntimeLoss[]
  /** Why nothing came back. */
  problem?: string
}

// A snapshot that cannot be read is no reason to lose the conversation as well.
async function restoreSnapshot(runtime: Runtime, snapshot: RuntimeSnapshot): Promise<RestoredObjects> {
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

/** What the model is told of what did not come back. */
export function lostObjectsText(lost: readonly RuntimeLoss[]): string {
  const gone = lost.filter(({ asInjected }) => !asInjected)
  const lines = gone
    .slice(0, maxListed)
    .map(({ name, path = "", reason }) => `- ${oneLine(`${name}${path}: ${reason}`)}`)
  if (gone.length > maxListed) lines.push(`- and ${gone.length - maxListed} more`)
  const paragraphs: string[] = []
  if (lines.length > 0) {
    paragraphs.push(
      "The session was interrupted and goes on in a fresh runtime. What you made before is there, except:",
      taggedText("output", lines.join("\n")),
      "Look before you rely on any of these; make again what you need.",
    )
  }
  const created = recreatedObjects(lost)
  if (created) paragraphs.push(`${created.text} Look at the current state before you rely on it.`)
  return paragraphs.join("\n")
}

/** The warning about injected objects that were created anew; undefined where there are none. */
export function stateLostWarning(lost: readonly RuntimeLoss[]): EventBody | undefined {
  const created = recreatedObjects(lost)
  if (!created) return undefined
  const { names, text } = created
  const reasons = lost
    .filter(({ asInjected, object }) => asInjected && object === undefined)
    .map(({ name, reason }) => oneLine(`${name}: ${reason}`))
  const cure = "Give their classes a codec, or mark them as external: docs/durability.md."
  const message = [text, ...(reasons.length > 0 ? [`${reasons.join("; ")}.`] : []), cure].join(" ")
  return { type: "warning-raised", code: stateLostCode, message, names }
}

function recreatedObjects(lost: readonly RuntimeLoss[]): { names: string[]; text: string } | undefined {
  // A name that was read from an archive may be any text.
  const names = [...new Set(lost.flatMap(({ name, asInjected }) => (asInjected && isName(name) ? [name] : [])))]
  if (names.length === 0) return undefined
  const [objects, were, them] = names.length === 1 ? ["object", "was", "it"] : ["objects", "were", "them"]
  const text =
    `The ${objects} ${oneLine(names.join(", "), 2000)} ${were} created anew; ` +
    `changes that earlier cells made to ${them} are gone.`
  return { names, text }
}

const isName = (text: string) => /^[\p{ID_Start}$_][\p{ID_Continue}$]{0,199}$/u.test(text)

const maxListed = 50
