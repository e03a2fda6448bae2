// The state of a chat apart from the terminal: its session, the model of the next prompt, and what it has used.
import type { Run, RunOptions, Session } from "../../core/agent.ts"
import { errorData } from "../../core/errors.ts"
import type { AgentEvent, Pending } from "../../core/event.ts"
import type { Message, Prompt } from "../../core/message.ts"
import { hideInAddresses } from "../../core/text/hide-secrets.ts"
import { systemErrorText } from "../../core/text/system-error-text.ts"
import { addUsage, noUsage, type Usage } from "../../core/usage.ts"
import { splitActionText } from "../../display/event-text.ts"
import type { Model } from "../../models/model.ts"
import { isRuntime } from "../../runtime/is-runtime.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { SessionInfo } from "../../sessions/session-archive.ts"
import { builtInName, type PreparedAgent } from "../run/prepare-agent.ts"

export interface OpenedChat {
  prepared: PreparedAgent
  session: Session
}

/** What the command gives to the chat. */
export interface ChatServices {
  /** Opens a stored session by its id, the beginning of its id, its handle, or "last". */
  open(id: string): Promise<OpenedChat>
  listSessions(): Promise<SessionInfo[]>
  /** Finds a model; throws if its name, key or package is missing. */
  findModel(id: string): Promise<Model>
  /** The command that continues a session; undefined if sessions are not stored. */
  continueCommand: ((session: Session) => string) | undefined
}

export interface Chat {
  readonly prepared: PreparedAgent
  readonly session: Session
  readonly services: ChatServices
  readonly title: string
  /** The runtime of the session; undefined if it has none, as with most coding CLIs. */
  readonly runtime: Runtime | undefined
  /** Whether a coding CLI answers. */
  readonly isCodingCli: boolean
  readonly usage: Usage
  readonly runs: number
  /** The whole output of the last cell or tool. */
  readonly lastOutput: string
  /** The question that the last run ended with. */
  readonly question: Extract<Pending, { kind: "question" }> | undefined
  readonly model: string | undefined
  send(prompt: Prompt): Run
  /** Must be called with every event of its runs. */
  observe(event: AgentEvent): void
  setModel(id: string): Promise<void>
  /** Shortens the conversation before the next prompt. */
  compactNext(): void
  /** Goes on with another session. */
  switchTo(opened: OpenedChat): Promise<void>
  close(): Promise<void>
}

export function createChat(opened: OpenedChat, services: ChatServices): Chat {
  let { prepared, session } = opened
  let model: { id: string; value: Model | string } | undefined
  let isCompactionRequested = false
  let usage = noUsage
  let runs = 0
  let lastOutput = ""
  let question: Chat["question"]
  const isCodingCli = () => "provider" in prepared.agent
  return {
    services,
    get prepared() {
      return prepared
    },
    get session() {
      return session
    },
    get title() {
      if (!model) return prepared.title
      // The title of the built-in agent is its model; that of another agent or a CLI stays before the model.
      return prepared.agent.name === builtInName ? model.id : `${prepared.title} · ${model.id}`
    },
    get runtime() {
      return isRuntime(session.runtime) ? session.runtime : undefined
    },
    get isCodingCli() {
      return isCodingCli()
    },
    get usage() {
      return usage
    },
    get runs() {
      return runs
    },
    get lastOutput() {
      return lastOutput
    },
    get question() {
      return question
    },
    get model() {
      return model?.id
    },
    send(prompt) {
      // Agents of every kind accept a model; only agents of ours can shorten their conversation.
      const options: RunOptions & { model?: Model | string; compact?: boolean } = {
        limits: prepared.limits,
        metadata: { session: session.id },
        ...(model && { model: model.value }),
        ...(isCompactionRequested && { compact: true }),
      }
      isCompactionRequested = false
      question = undefined
      runs++
      return session.send(prompt, options)
    },
    observe(event) {
      if (event.type === "code-end" || event.type === "tool-end") {
        const { output, error } = splitActionText(event)
        lastOutput = [output, error].filter((text) => text !== "").join("\n")
      }
      if (event.type !== "run-end" || event.parent !== undefined) return
      usage = addUsage(usage, event.usage)
      if (event.pending?.kind === "question") question = event.pending
    },
    async setModel(id) {
      model = { id: hideInAddresses(id), value: isCodingCli() ? id : await services.findModel(id) }
    },
    compactNext() {
      isCompactionRequested = true
    },
    async switchTo(next) {
      const before = { prepared, session }
      ;({ prepared, session } = next)
      question = undefined
      await before.session.close()
      if (before.prepared !== prepared) await before.prepared.close()
    },
    async close() {
      await session.close()
      await prepared.close()
    },
  }
}

/** An error of a command or a run, for the person. */
export function errorText(error: unknown): string {
  return systemErrorText(error) ?? errorData(error).message
}

/** Returns the newest answer that contains a cell. */
export function lastCellAnswer(messages: readonly Message[]): Message | undefined {
  return messages.findLast(({ role, parts }) => role === "assistant" && parts.some((part) => part.type === "code"))
}
