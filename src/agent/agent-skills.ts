// The skills of an agent: loading them, and the functions by which a run activates them and reads their files.
import { ConfigError } from "../core/errors.ts"
import type { Emit, EventBody } from "../core/event.ts"
import { userMessage } from "../core/message.ts"
import { type PromptLanguage, textsIn } from "../core/prompt-texts.ts"
import type { CallGate, Runtime } from "../runtime/runtime.ts"
import { hasCode, type InjectedSkill, injectSkill } from "../skills/inject-skill.ts"
import { problemText } from "../skills/load-skills.ts"
import { bindSkillFunctions, skillFunctions } from "../skills/skill-functions.ts"
import { activationText } from "../skills/skill-texts.ts"
import { loadSkills, type Skill, type SkillSource } from "../skills.ts"
import type { SkillAccess } from "../tools/activate-skill.ts"
import type { Conversation } from "./conversation.ts"

export interface AgentSkills {
  offered: readonly Skill[]
  warnings: readonly string[]
  /** Returns the runtime and the `emit` that a run with skills uses instead of its own: cells can then activate skills
   *  and read their files. These calls pass the call gate as any other. */
  createRunSkills(conversation: Conversation, setup: SkillRunSetup, emit: Emit): RunSkills
}

export interface SkillRunSetup {
  tag: string
  /** Whether the run works by writing code, otherwise by tool calls only. */
  usesCode: boolean
  promptLanguage: PromptLanguage
  /** Folders that the tools of the run can write. Code of a skill there is never run on the host. */
  writable: readonly string[]
}

export interface RunSkills {
  runtime: Runtime
  emit: Emit
  access: SkillAccess
}

/** Loads an agent's skills once, and binds the skill functions in its runtime if it has one. */
export async function openSkills(sources: readonly SkillSource[], runtime: Runtime | undefined): Promise<AgentSkills> {
  const loading = loadedSkills.get(sources) ?? loadOfferedSkills(sources)
  loadedSkills.set(sources, loading)
  // A failed load is tried again next time.
  loading.catch(() => loadedSkills.delete(sources))
  const skills = await loading
  if (runtime && skills.offered.length > 0) await bindSkillFunctions(runtime)
  return skills
}

const loadedSkills = new WeakMap<readonly SkillSource[], Promise<AgentSkills>>()

async function loadOfferedSkills(sources: readonly SkillSource[]): Promise<AgentSkills> {
  const { skills, problems } = await loadSkills(sources)
  const errors = problems.filter(({ severity }) => severity === "error").map(problemText)
  if (errors.length > 0) throw new ConfigError(`The skills cannot be used as they are:\n- ${errors.join("\n- ")}`)
  const offered = skills.filter((skill) => skill.offered)
  return {
    offered,
    warnings: problems.map(({ path, message }) => `${path}: ${message}`),
    createRunSkills: (conversation, setup, emit) => createRunSkills(offered, conversation, setup, emit),
  }
}

function createRunSkills(
  offered: readonly Skill[],
  conversation: Conversation,
  { tag, usesCode, promptLanguage, writable }: SkillRunSetup,
  emit: Emit,
): RunSkills {
  const { runtime, activatedSkills } = conversation
  const { language } = runtime
  const { activate, read } = skillFunctions[language]
  const results = holdUntilResults(emit)
  const texts = textsIn(promptLanguage)

  const find = (name: unknown): Skill => {
    const skill = offered.find((each) => each.name === name)
    if (skill) return skill
    throw new Error(`There is no skill "${name}". There is ${offered.map((each) => each.name).join(", ")}.`)
  }

  const isInConversation = (id: string | undefined) =>
    id !== undefined && (results.waits(id) || conversation.messages.some((message) => message.id === id))

  const activateSkill = async (name: unknown): Promise<string> => {
    const skill = find(name)
    const { names, otherLanguageFile } = usesCode ? await injectSkill(skill, runtime, writable) : noneInjected
    const declarations = names.length > 0 ? await runtime.describe(names) : ""
    const files = await skill.files()
    for (const each of names) conversation.announcedNames.add(each)
    if (isInConversation(activatedSkills.get(skill.name))) return texts.skillActive(skill.name)
    const needsRuntime = !usesCode && hasCode(skill)
    const use = usesCode ? language : "tool"
    const text = activationText({
      skill,
      files,
      declarations,
      tag,
      otherLanguageFile,
      needsRuntime,
      use,
      promptLanguage,
    })
    const message = { ...userMessage(text, "host"), pinned: true as const }
    activatedSkills.set(skill.name, message.id)
    results.emitLater({ type: "skill-activated", name: skill.name, messages: [message] })
    return texts.skillFollows(skill.name, usesCode)
  }

  const readSkillFile = async (name: unknown, path: unknown, encoding: unknown = "utf8"): Promise<string> => {
    const skill = find(name)
    const bytes = await readBytes(skill, path)
    if (encoding === "base64") return Buffer.from(bytes).toString("base64")
    if (encoding !== "utf8")
      throw new Error(`The encoding must be "utf8" or "base64", not ${JSON.stringify(encoding)}.`)
    return decodeText(bytes, path)
  }

  const own = new Map<string, (...args: readonly unknown[]) => Promise<string>>([
    [activate, activateSkill],
    [read, readSkillFile],
  ])
  const access = { names: offered.map(({ name }) => name), activate: activateSkill, read: readSkillFile }
  return { runtime: usesCode ? interceptCalls(runtime, own) : runtime, emit: results.emit, access }
}

const noneInjected: InjectedSkill = { names: [] }

async function readBytes(skill: Skill, path: unknown): Promise<Uint8Array> {
  try {
    return await skill.read(String(path))
  } catch (error) {
    const paths = (await skill.files()).map((file) => file.path)
    const there = paths.length === 0 ? "It has none." : `It has ${paths.slice(0, 50).join(", ")}.`
    throw new Error(`Not a file of "${skill.name}": ${error instanceof Error ? error.message : error}. ${there}`)
  }
}

function decodeText(bytes: Uint8Array, path: unknown): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new Error(`"${path}" is not text: ask for it in "base64".`)
  }
}

/** Wraps a runtime so that certain calls of its cells are answered here. */
function interceptCalls(
  runtime: Runtime,
  own: ReadonlyMap<string, (...args: readonly unknown[]) => Promise<unknown>>,
): Runtime {
  const execute: Runtime["execute"] = (code, options = {}) => {
    const { callGate: gate = passThrough } = options
    const call: CallGate = (request, next) => {
      const answer = request.method === undefined ? own.get(request.binding) : undefined
      return gate(request, answer ? (change) => answer(...(change?.args ?? request.args)) : next)
    }
    return runtime.execute(code, { ...options, callGate: call })
  }
  return new Proxy(runtime, {
    get(target, key) {
      if (key === "execute") return execute
      const member: unknown = Reflect.get(target, key, target)
      return typeof member === "function" ? member.bind(target) : member
    },
  })
}

const passThrough: CallGate = (_call, next) => next()

/** Delays events that add messages until all actions of an answer have results: no message may come in between. */
function holdUntilResults(emit: Emit): { emit: Emit; emitLater: Emit; waits(message: string): boolean } {
  let pendingResults = 0
  const waiting: EventBody[] = []
  return {
    emit(event) {
      emit(event)
      if (event.type === "message-end")
        pendingResults = event.message.parts.filter(({ type }) => requestingPartTypes.has(type)).length
      if (event.type !== "code-end" && event.type !== "tool-end") return
      pendingResults = Math.max(0, pendingResults - 1)
      if (pendingResults === 0) for (const held of waiting.splice(0)) emit(held)
    },
    emitLater(event) {
      if (pendingResults === 0) emit(event)
      else waiting.push(event)
    },
    waits: (id) =>
      waiting.some((event) => event.type === "skill-activated" && event.messages.some((message) => message.id === id)),
  }
}

const requestingPartTypes = new Set(["code", "tool-call"])
