import { errorData, UnsupportedError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { oneLine, taggedText } from "../core/tagged-text.ts"
import { ownEvents } from "../core/trajectory.ts"
import { keptName } from "../memory/keep.ts"
import { initialMemory } from "../memory.ts"
import { jsRuntime } from "../runtime/js.ts"
import type { Lost, Runtime, Snapshot } from "../runtime/runtime.ts"
import { foldersToolsWrite } from "./children.ts"
import type { AgentConfig } from "./config.ts"
import { type Conversation, conversation } from "./conversation.ts"
import { type FoldedConversation, namesMade } from "./folded.ts"

/** What of a conversation is not in its events: small and JSON, so that saving it costs the same at any length. */
export interface ConversationHead {
  version: 1
  /** The run whose `run-start` has the frozen system prompt. */
  systemRun?: string
  told: string[]
  /** Absent where nothing is. */
  gone?: string[]
  approved: string[]
  steered: string[]
  memory: Conversation["memory"]
  tools: Conversation["tools"]
}

export interface KeptConversation {
  events: Iterable<AgentEvent>
  /** The part of the conversation before `events`. Default: there is none. */
  folded?: FoldedConversation | undefined
  /** Default: as far as the events tell. */
  head?: ConversationHead | undefined
  snapshot?: Snapshot | undefined
  /** How many of the events had come when the snapshot was taken. Default: all. */
  covered?: number | undefined
}

/** What to store beside the events; plain data of its own. */
export function headOf({ systemRun, told, gone, approved, steered, memory, tools }: Conversation): ConversationHead {
  return structuredClone({
    version: 1,
    ...(systemRun !== undefined && { systemRun }),
    told: [...told],
    ...(gone.size > 0 && { gone: [...gone] }),
    approved,
    steered,
    memory,
    tools,
  })
}

/** Brings a conversation back: its messages are folded from the events, its runtime is made by the agent's factory and
 *  gets what the snapshot holds. What could not be brought back is in `lost`, and the next run tells the model. A runtime
 *  that is an instance is its owner's: nothing is put into it. */
export async function restoreConversation(kept: KeptConversation, config: AgentConfig): Promise<Conversation> {
  const { runtime: source = () => jsRuntime() } = config
  const owns = typeof source === "function"
  const runtime = owns ? await source() : source
  try {
    const restored = foldBack(kept, runtime, owns)
    if (!config.usesCode) return restored
    await bringSkills(config, restored)
    restored.lost = await bringBack(kept, restored)
    return restored
  } catch (error) {
    if (owns) await runtime.close()
    throw error
  }
}

/** The same conversation again, with a copy of its runtime: what happens in one is not seen in the other. */
export async function copyConversation(shared: Conversation): Promise<Conversation> {
  const { runtime, events, folded } = shared
  if (!runtime.fork) throw new UnsupportedError("This kind of runtime cannot be copied, so its session has no fork().")
  const own = events.slice(folded?.open.length)
  return foldBack({ events: own, folded, head: headOf(shared) }, await runtime.fork(), true)
}

function foldBack({ events, folded, head }: KeptConversation, runtime: Runtime, ownsRuntime: boolean): Conversation {
  const restored = conversation(runtime, ownsRuntime, undefined, folded)
  const isOwn = ownEvents(folded?.runs)
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
    if (event.type === "skill-activated" && message) restored.activated.set(event.name, message.id)
  }
  restored.spoken = new Set(JSON.stringify(restored.messages).match(keptName))
  if (!head) return restored
  for (const name of head.told) restored.told.add(name)
  for (const name of head.gone ?? []) restored.gone.add(name)
  Object.assign(restored.tools, head.tools)
  return Object.assign(restored, {
    approved: [...head.approved],
    steered: [...head.steered],
    memory: head.memory ?? initialMemory,
  })
}

/** Puts in again what the skills that were activated brought. */
async function bringSkills(config: AgentConfig, { runtime, activated }: Conversation): Promise<void> {
  const { skills } = config
  if (!skills || activated.size === 0) return
  const [{ openSkills }, { injectSkill }] = await Promise.all([import("./skills.ts"), import("../skills/inject.ts")])
  const { offered } = await openSkills(skills, runtime)
  const writable = foldersToolsWrite(config)
  for (const skill of offered) if (activated.has(skill.name)) await injectSkill(skill, runtime, writable)
}

/** Fills the runtime, and gives what the conversation speaks of and is not there, or not as it was left. */
async function bringBack(
  { snapshot, covered }: KeptConversation,
  { runtime, ownsRuntime, events, folded, gone }: Conversation,
): Promise<Lost[]> {
  const { lost, problem } = snapshot && ownsRuntime ? await fill(runtime, snapshot) : { lost: [] }
  const isTold = new Set(lost.map(({ name }) => name))
  const there = new Set((await runtime.names()).map(({ name }) => name))
  const why = problem ?? whyNotKept(snapshot, ownsRuntime)
  for (const [name, { changedAt }] of namesMade(events, folded)) {
    if (isTold.has(name) || gone.has(name)) continue
    const isLate = ownsRuntime && snapshot !== undefined && covered !== undefined && changedAt >= covered
    if (!there.has(name)) lost.push({ name, reason: isLate ? tooLate : why })
    else if (isLate) lost.push({ name, reason: `it is as it was before: ${tooLate}` })
  }
  const isBehind = covered !== undefined && events.slice(covered).some((event) => event.type === "code-end")
  if (snapshot && ownsRuntime && isBehind) lost.push({ name: "what was changed inside objects", reason: tooLate })
  return lost
}

/** What a conversation speaks of that goes on in a runtime which never saw it. */
export async function lostWithProcess(events: readonly AgentEvent[], runtime: Runtime): Promise<Lost[]> {
  const there = new Set((await runtime.names()).map(({ name }) => name))
  const reason = whyNotKept(undefined, true)
  return [...namesMade(events).keys()].filter((name) => !there.has(name)).map((name) => ({ name, reason }))
}

const tooLate = "it was made or changed in a run that never ended, and objects are kept when a run ends"

interface Filled {
  lost: Lost[]
  /** Why nothing came back. */
  problem?: string
}

// A snapshot that cannot be read is no reason to lose the conversation as well.
async function fill(runtime: Runtime, snapshot: Snapshot): Promise<Filled> {
  if (!runtime.restore) return { lost: [], problem: "this kind of runtime cannot be brought back" }
  try {
    return { lost: [...(await runtime.restore(snapshot))] }
  } catch (error) {
    return { lost: [], problem: `what was kept of the runtime cannot be used: ${errorData(error).message}` }
  }
}

function whyNotKept(snapshot: Snapshot | undefined, ownsRuntime: boolean): string {
  if (!ownsRuntime) return "the runtime is shared with others, so it was not kept with the conversation"
  return snapshot ? "it was not in what was kept" : "nothing of the runtime was kept"
}

/** What the model is told of what did not come back. */
export function lostText(lost: readonly Lost[]): string {
  const gone = lost.filter(({ asInjected }) => !asInjected)
  const names = [...new Set(lost.filter(({ asInjected }) => asInjected).map(({ name }) => name))]
  const lines = gone
    .slice(0, mostTold)
    .map(({ name, path = "", reason }) => `- ${oneLine(`${name}${path}: ${reason}`)}`)
  if (gone.length > mostTold) lines.push(`- and ${gone.length - mostTold} more`)
  const injected =
    names.length > 0 ? [oneLine(`- as injected again, without what cells did to them: ${names.join(", ")}`, 2000)] : []
  return [
    "The session was interrupted and goes on in a fresh runtime. What you made before is there, except:",
    taggedText("output", [...lines, ...injected].join("\n")),
    "Look before you rely on any of these; make again what you need.",
  ].join("\n")
}

const mostTold = 50
