// Runs the slash commands of the chat. Each writes its result to the screen.
import type { AgentEvent } from "../../core/event.ts"
import { typedText } from "../../core/mentioned-files.ts"
import { nearestWord } from "../../core/text/nearest-word.ts"
import { drawTable } from "../../display/draw-table.ts"
import { callText, plural, toolText, usageTexts } from "../../display/event-text.ts"
import { safeLine, safeText } from "../../display/safe-text.ts"
import type { Screen } from "../../display/screen.ts"
import { writeNote, writeWrapped } from "../../display/stream-writers.ts"
import { estimateConversation } from "../../memory/estimate-tokens.ts"
import { formatTime } from "../print-table.ts"
import { headerText } from "../run/run-in-session.ts"
import { type Chat, lastCellAnswer } from "./chat.ts"
import { drawData, drawText } from "./show-data.ts"
import { type SlashName, slashCommands } from "./slash-commands.ts"

export interface SlashEffect {
  /** A text to continue editing. */
  edit?: string | undefined
  leave?: true | undefined
}

/** Commands that cannot be used during a run, because they change or store the session that the run uses. */
const needNoRun: ReadonlySet<SlashName> = new Set(["undo", "fork", "resume", "save"])

/** A shorter conversation is not compacted: the note that would replace it is about as long. */
const minTokensToCompact = 500

export async function runSlash(
  name: SlashName,
  argument: string,
  chat: Chat,
  screen: Screen,
): Promise<SlashEffect | undefined> {
  const say = (text: string): undefined => {
    writeNote(screen, "· ", safeText(text), screen.paint.dim)
  }
  if (needNoRun.has(name) && chat.session.running) {
    say(`/${name} needs the run to have ended. Ctrl-C aborts it.`)
    return undefined
  }
  switch (name) {
    case "help":
      return writeHelp(screen)
    case "vars":
      return await writeVariables(chat, screen, say)
    case "show":
      return await showVariable(argument, chat, screen, say)
    case "output":
      if (chat.lastOutput === "") return say("There is no output yet.")
      screen.writeLines(...drawText(chat.lastOutput, screen.columns, screen.paint))
      return undefined
    case "undo":
      return await undo(chat, screen, say)
    case "fork":
      return await fork(chat, say)
    case "model":
      if (argument !== "") await chat.setModel(argument)
      return say(
        argument === ""
          ? headerText(chat.prepared.agent, chat.title, chat.session.runtime)
          : `From now on: ${chat.model}`,
      )
    case "compact":
      if (chat.isCodingCli) return say("A coding CLI shortens its conversation by itself.")
      if (estimateConversation(chat.session.messages()) < minTokensToCompact)
        return say("The conversation is too short to be made shorter.")
      chat.compactNext()
      return say("The conversation is made shorter before your next prompt.")
    case "save":
      return await save(argument, chat, say)
    case "resume":
      return await resume(argument, chat, screen, say)
    case "cost":
      return say([plural(chat.runs, "run"), ...usageTexts(chat.usage)].join(" · "))
    case "skills":
      return await writeSkills(chat, screen, say)
    case "exit":
      return { leave: true }
  }
}

type Say = (text: string) => undefined

function writeHelp(screen: Screen): undefined {
  const { paint } = screen
  const rows = Object.values(slashCommands).map(({ usage, does }) => [usage, does] as const)
  for (const [left, right] of [...rows, ...keyHelp]) {
    writeWrapped(screen, { mark: `${left.padEnd(16)} `, paintMark: paint.cyan }, { text: right })
  }
}

const keyHelp = [
  ["Enter", "sends; during a run the model gets the text at its next step"],
  ["Alt-Enter, \\", "a new line; so do Ctrl-J and a backslash before Enter"],
  ["Tab", "completes a command or an @file"],
  ["Up, Down", "earlier prompts, also of other chats"],
  ["Ctrl-C", "aborts the run, clears the line, or twice: leaves"],
  ["Ctrl-D", "leaves"],
] as const

async function writeVariables({ runtime }: Chat, screen: Screen, say: Say): Promise<undefined> {
  const names = (await runtime?.names()) ?? []
  const own = names.filter(({ name, injected }) => injected || !name.startsWith("_"))
  if (own.length === 0) return say(runtime ? "There are no variables yet." : "This session has no variables.")
  const rows = own.map(({ name, kind, type, size, injected }) => [
    safeLine(name),
    injected ? `yours, ${kind}` : kind,
    safeLine(type),
    size === undefined ? "" : String(size),
  ])
  screen.writeLines(...drawTable([["name", "kind", "type", "size"], ...rows], screen.columns, screen.paint))
}

async function showVariable(name: string, { runtime }: Chat, screen: Screen, say: Say): Promise<undefined> {
  if (name === "") return say("Say which: /show <name>. /vars lists the names.")
  if (!runtime) return say("This session has no variables.")
  const names = (await runtime.names()).map((each) => each.name)
  if (!names.includes(name)) {
    const near = nearestWord(name, names)
    return say(
      `There is no variable "${name}".${near === undefined ? "" : ` Did you mean /show ${near}?`} /vars lists them.`,
    )
  }
  const value = await runtime.retrieve(name)
  screen.writeLines(...drawData(value, screen.columns, screen.paint))
}

async function undo(chat: Chat, screen: Screen, say: Say): Promise<SlashEffect | undefined> {
  const { session } = chat
  const messages = session.messages()
  const answer = lastCellAnswer(messages)
  if (!answer || !session.fork || chat.isCodingCli)
    return say(answer ? "This session cannot go back." : "There is no cell to undo.")
  const { events } = session.trajectory()
  const dropped = events.slice(
    events.findIndex((event) => event.type === "message-end" && event.message.id === answer.id),
  )
  const fork = await session.fork({ before: answer.id })
  await chat.switchTo({ prepared: chat.prepared, session: fork })
  say("Undone: the last cell and what followed. The variables are as they were before it.")
  const stays = effectsOf(dropped)
  if (stays.length > 0) writeNote(screen, "! ", `What stays done: ${stays.join(", ")}`, screen.paint.yellow)
  const before = messages.slice(0, messages.indexOf(answer))
  const prompt = before.findLast((message) => message.role === "user" && message.origin === "prompt")
  if (!prompt || fork.messages().some(({ id }) => id === prompt.id)) return undefined
  return { edit: typedText(prompt).trimEnd() }
}

/** Names what events did outside of the session's variables: calls, tools, and objects of the program. */
export function effectsOf(events: readonly AgentEvent[]): string[] {
  const effects = events.flatMap((event) => {
    if (event.type === "call-start") return [callText(event.call)]
    if (event.type === "tool-start") return [toolText(event)]
    return event.type === "code-end" ? (event.changes.used ?? []).map((name) => `changes of ${safeLine(name)}`) : []
  })
  const shown = [...new Set(effects)]
  return shown.length > 8 ? [...shown.slice(0, 8), `${shown.length - 8} more`] : shown
}

async function fork(chat: Chat, say: Say): Promise<undefined> {
  const { session, services } = chat
  if (!session.fork) return say("This session cannot be copied.")
  const copy = await session.fork()
  const original = services.continueCommand?.(session)
  await chat.switchTo({ prepared: chat.prepared, session: copy })
  say(`You are now in a copy.${original === undefined ? "" : ` The original: ${original}`}`)
}

async function save(argument: string, { session }: Chat, say: Say): Promise<undefined> {
  const path = argument || `karst-${session.id}.json`
  await session.save(path)
  say(`Written to ${path}`)
}

async function resume(argument: string, chat: Chat, screen: Screen, say: Say): Promise<undefined> {
  if (chat.services.continueCommand === undefined) return say(noSessionsText(chat))
  if (argument !== "") {
    await chat.switchTo(await chat.services.open(argument))
    return say(`${headerText(chat.prepared.agent, chat.title, chat.session.runtime)} · session ${chat.session.id}`)
  }
  const sessions = (await chat.services.listSessions()).slice(0, 10)
  if (sessions.length === 0) return say(noSessionsText(chat))
  const rows = sessions.map(({ id, updatedAt, title }) => [id, formatTime(updatedAt), safeLine(title)])
  screen.writeLines(...drawTable([["session", "last used", "first prompt"], ...rows], screen.columns, screen.paint))
  say("Go on with one: /resume <session>. Its first letters are enough.")
}

function noSessionsText({ services: { continueCommand } }: Chat): string {
  return continueCommand === undefined
    ? "Sessions of this chat are not stored: it was started with --store off."
    : "There are no stored sessions. Your next prompt stores this one."
}

async function writeSkills(chat: Chat, screen: Screen, say: Say): Promise<undefined> {
  const { loadSkills } = await import("../../skills.ts")
  const { skills } = await loadSkills(chat.prepared.skills)
  const used = chat.session
    .trajectory()
    .events.flatMap((event) => (event.type === "skill-activated" ? [event.name] : []))
  const activated = new Set(used)
  if (skills.length === 0 && activated.size === 0)
    return say(
      "There are no skills. Give a folder of skills, karst chat --skill <folder>, or put them in .karst/skills.",
    )
  for (const name of activated.difference(new Set(skills.map((skill) => skill.name)))) say(`${name} (active)`)
  for (const { name, description } of skills) {
    const mark = activated.has(name) ? `${safeLine(name)} (active)  ` : `${safeLine(name)}  `
    writeWrapped(
      screen,
      { mark: "", paintMark: screen.paint.cyan },
      { text: mark, paint: screen.paint.cyan },
      {
        text: safeLine(description),
      },
    )
  }
}
