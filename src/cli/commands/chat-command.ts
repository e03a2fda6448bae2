// `karst chat`: a conversation with an agent in the terminal.
import { join, resolve } from "node:path"
import { findUser } from "../../config/find-files.ts"
import type { LoadedConfig } from "../../config/load-config.ts"
import type { SessionOptions } from "../../core/agent.ts"
import type { AgentEvent } from "../../core/event.ts"
import { createOwnEventFilter } from "../../core/trajectory.ts"
import { wantsColor } from "../../display/paint.ts"
import type { ArchiveOptions } from "../../sessions/session-archive.ts"
import { listSessions } from "../../sessions/session-archive.ts"
import { type ChatServices, createChat, type OpenedChat } from "../chat/chat.ts"
import { openHistory } from "../chat/history.ts"
import { chatInPlainText } from "../chat/plain-chat.ts"
import { chatInTerminal } from "../chat/terminal-chat.ts"
import type { Input } from "../command.ts"
import { commandName } from "../command-name.ts"
import { printToErrors } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import { chooseModel } from "../run/choose-model.ts"
import { findSession } from "../run/find-session.ts"
import { type AgentValues, prepareAgent } from "../run/prepare-agent.ts"
import { headerText } from "../run/run-in-session.ts"
import { prepareSessionAgent } from "../run/session-agent.ts"
import { openSessionPlace, type SessionPlace } from "../run/session-store.ts"
import { continueOptions, mergeStoredOptions, missingOptionsText, optionsToStore } from "../run/stored-options.ts"
import type { chatOptions } from "../table/chat.ts"

/** How many cells `/undo` can go back. */
const undoableCells = 10

export async function chatCommand({ values }: Input<typeof chatOptions>): Promise<number> {
  const { session: wanted, store, plain, ...agentValues } = values
  const config = await loadProjectConfig(values.config)
  const place = openSessionPlace(store, config)
  try {
    const open = (id: string, list?: string) => resumeSession(id, agentValues, config, place, list)
    if (wanted !== undefined) await reportMissingOptions(wanted, agentValues, place)
    const opened = wanted === undefined ? await newSession(agentValues, config, place) : await open(wanted)
    const services: ChatServices = {
      open: (id) => open(id, "/resume"),
      listSessions: async () => (place.source === undefined ? [] : await listSessions(place.source)),
      findModel: (id) => chooseModel(id, config, values.reasoning, "/model"),
      continueCommand:
        place.source === undefined
          ? undefined
          : ({ id }) =>
              `${commandName()} chat --session ${id}${continueOptions(agentValues, place, { isNew: wanted === undefined })}`,
    }
    await converse(opened, services, { plain, cwd: resolve(values.workspace ?? ".") })
  } finally {
    await place.close()
  }
  return 0
}

async function converse(
  opened: OpenedChat,
  services: ChatServices,
  { plain, cwd }: { plain: boolean; cwd: string },
): Promise<void> {
  const chat = createChat(opened, services)
  const header = `${headerText(chat.prepared.agent, chat.title, chat.session.runtime)} · /help`
  const color = wantsColor(process.stdout)
  const { stdin: input, stdout: output } = process
  try {
    // A dumb terminal cannot move its cursor, so nothing can be redrawn on it.
    const isPlain = plain || !input.isTTY || !output.isTTY || process.env.TERM === "dumb"
    if (isPlain) await chatInPlainText(chat, { color, cwd, header })
    else {
      const history = await openHistory(join(findUser(process.env).folder, "chat-history.jsonl"))
      const earlier = lastRunOf(chat.session.trajectory().events)
      await chatInTerminal(chat, { input, output }, { color, cwd, history, header, earlier })
    }
  } finally {
    await chat.close()
  }
  const command = chat.session.messages().length > 0 ? services.continueCommand?.(chat.session) : undefined
  if (command !== undefined) printToErrors(`Continue: ${command}`)
}

async function newSession(values: AgentValues, config: LoadedConfig, place: SessionPlace): Promise<OpenedChat> {
  const prepared = await prepareAgent(values, config)
  const metadata = { command: optionsToStore(values) }
  const session = await prepared.agent.session(opening(prepared, { archive: place.source, metadata }))
  return { prepared, session }
}

async function reportMissingOptions(wanted: string, values: AgentValues, place: SessionPlace): Promise<void> {
  const { record } = await findSession(place.source, wanted)
  const missing = missingOptionsText(values, record.metadata.command, place)
  if (missing !== undefined) printToErrors(missing)
}

async function resumeSession(
  wanted: string,
  values: AgentValues,
  config: LoadedConfig,
  place: SessionPlace,
  list?: string,
): Promise<OpenedChat> {
  const stored = await findSession(place.source, wanted, list)
  const { record } = stored
  const options = place.isUserFolder ? mergeStoredOptions(values, record.metadata.command) : values
  const prepared = await prepareSessionAgent(stored, options, config)
  const session = await prepared.agent.session(opening(prepared, { archive: place.source, resume: record.id }))
  return { prepared, session }
}

// Sessions of coding CLIs keep no snapshots: their objects are those of the CLI.
function opening(
  { agent }: OpenedChat["prepared"],
  options: SessionOptions & ArchiveOptions,
): SessionOptions & ArchiveOptions & { keepSnapshots?: number } {
  return "provider" in agent ? options : { ...options, keepSnapshots: undoableCells }
}

function lastRunOf(events: readonly AgentEvent[]): AgentEvent[] {
  const isOwn = createOwnEventFilter()
  const own = events.filter(isOwn)
  const start = own.findLastIndex(({ type }) => type === "run-start")
  return start === -1 ? [] : own.slice(start)
}
