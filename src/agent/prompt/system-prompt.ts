// The sections of the system prompt, and other fixed texts for the model.
import type { Message } from "../../core/message.ts"
import { type PromptLanguage, type PromptTexts, textsIn } from "../../core/prompt-texts.ts"
import { codeBlock, oneLine } from "../../core/text/tagged-text.ts"
import type { CellAccess, CellOptions, TypeGateMode } from "../../runtime/runtime.ts"
import { skillsSection } from "../../skills/skill-texts.ts"
import { accessText } from "./access-text.ts"
import { type WorkspaceFacts, workspaceText } from "./workspace-section.ts"

export interface PromptContext {
  instructions: string
  /** Whether the agent works by writing code, otherwise by tool calls only. */
  usesCode: boolean
  noTool: "answer" | "continue" | "wait"
  language: "typescript" | "python"
  tag: string
  /** What cells may use besides the declared names; absent if the runtime does not tell. */
  access?: CellAccess | undefined
  /** The declarations of the names in the runtime; values only as a `sample` of `variable()`. */
  declarations: string
  /** The skills that the model can activate; absent if there are none. */
  skills?: readonly { name: string; description: string }[] | undefined
  /** What is in the workspace when the conversation begins; absent without a workspace. */
  files?: WorkspaceFacts | undefined
  maxOutputChars: number
  cellTimeoutMs?: number | undefined
  transaction?: CellOptions["transaction"]
  /** Whether a cell is checked against the types before it runs. */
  typeGate?: TypeGateMode | undefined
  /** The language of the prompt. Default "en". */
  promptLanguage?: PromptLanguage | undefined
}

/** The sections of the system prompt. Each is a function of the context, so that text is never read as a template. */
export interface PromptSections {
  /** The agent's instructions. */
  instructions(context: PromptContext): string
  /** How the agent works: code in, output back. */
  rules(context: PromptContext): string
  /** The skills that can be activated. */
  skills(context: PromptContext): string
  /** The declarations of the runtime's names. */
  objects(context: PromptContext): string
  /** The workspace. It comes last, because it differs from one conversation to the next: what comes before it can be
   *  read from the provider's cache. */
  workspace(context: PromptContext): string
}

export function systemPrompt(context: PromptContext, sections: Partial<PromptSections> = {}): string {
  const { instructions, rules, skills, objects, workspace } = { ...defaultSections, ...sections }
  const texts = [instructions(context), rules(context), skills(context), objects(context), workspace(context)]
  return texts.filter(Boolean).join("\n\n")
}

/** The sections of the system prompt that an agent has by default. */
export const defaultSections: PromptSections = {
  instructions: (context) => context.instructions,
  rules(context) {
    const rules = context.usesCode ? codeRules(context) : toolRules(context)
    return `${textsIn(context.promptLanguage).howYouWork}\n\n${rules.map((rule) => `- ${rule}`).join("\n")}`
  },
  skills: ({ skills = [], language, usesCode, promptLanguage }) =>
    skills.length > 0 ? skillsSection(skills, usesCode ? language : "tool", promptLanguage) : "",
  objects({ declarations, tag, language, usesCode, promptLanguage }) {
    if (!usesCode) return ""
    const texts = textsIn(promptLanguage)
    if (!declarations) return `${texts.sessionContents}\n\n${texts.nothingYet(language)}`
    // Explains the mark of inferred types, if the declarations have it.
    const inferred = declarations.includes("// inferred") ? `${inferredText(declarations, texts)}\n\n` : ""
    return `${texts.sessionContents}\n\n${inferred}${codeBlock(tag, declarations)}`
  },
  workspace: ({ files, promptLanguage }) => (files ? workspaceText(files, promptLanguage) : ""),
}

function inferredText(declarations: string, texts: PromptTexts): string {
  const marks = declarations.match(/\/\/ inferred from (?:all|the first)/g) ?? []
  const readsAllRows = marks.length > 0 && marks.every((mark) => mark.endsWith("all"))
  return readsAllRows ? texts.inferredRows : texts.inferredTypes
}

function codeRules({ language, tag, access, maxOutputChars, promptLanguage, ...options }: PromptContext): string[] {
  const texts = textsIn(promptLanguage)
  const { typeGate, transaction, cellTimeoutMs } = options
  return [
    texts.oneBlock(tag, language),
    texts.sharedSession + (language === "python" ? "" : texts.topLevelAwait(typeGate === "block")),
    texts.objectsByName,
    ...(access?.remote ? [texts.remoteObjects(language)] : []),
    ...(access ? [accessText(access, language, texts)] : []),
    texts.compute,
    transaction ? texts.changesRollBack : texts.changesAreReal,
    texts.outputIsCut(maxOutputChars.toLocaleString("en"), language),
    ...(cellTimeoutMs ? [texts.cellTimeLimit(cellTimeoutMs / 1000)] : []),
    texts.howToEnd,
  ]
}

function toolRules({ noTool, promptLanguage }: PromptContext): string[] {
  const texts = textsIn(promptLanguage)
  const endings = { answer: texts.endWithAnswer, continue: texts.endWithFinish, wait: texts.endOrWait }
  return [texts.callTools, texts.severalCalls, texts.failedCalls, endings[noTool]]
}

/** The message for a model that answers while todos are open. */
export function openTodosReminder(titles: readonly string[], language?: PromptLanguage): string {
  return textsIn(language).openTodos(titles.map((title) => `- ${oneLine(title, 200)}`).join("\n"))
}

/** The message about names that were added after the system prompt was written. */
export function newNamesText(declarations: string, tag: string, language?: PromptLanguage): string {
  return `${textsIn(language).newNames}\n\n${codeBlock(tag, declarations)}`
}

/** Adds to each prompt when it was given. The messages do not contain it, and it never changes, so that prompt caches
 *  hit. */
export function withPromptTimes(
  messages: readonly Message[],
  times: ReadonlyMap<string, { text?: string | undefined }>,
): Message[] {
  return messages.map((message) => {
    const text = times.get(message.id)?.text
    if (message.role !== "user" || text === undefined) return message
    return { ...message, parts: [...message.parts, { type: "text", text }] }
  })
}

/** The local time with its zone, after the user's message: `(It is Monday 2026-11-16 04:44, Europe/Berlin.)`. */
export function clockText(now: Date, timeZone = localTimeZone(), language?: PromptLanguage): string {
  const parts = clockFormat(timeZone).formatToParts(now)
  const found = Object.fromEntries(parts.map(({ type, value }) => [type, value]))
  const { weekday = "", year, month, day, hour, minute } = found
  const number = weekdays.findIndex((name) => weekday.startsWith(name))
  return textsIn(language).currentTime(number, `${year}-${month}-${day} ${hour}:${minute}`, timeZone)
}

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

// Formats take longer to create than a whole step of a run, so they are kept.
const clockFormats = new Map<string, Intl.DateTimeFormat>()

function clockFormat(timeZone: string): Intl.DateTimeFormat {
  const kept = clockFormats.get(timeZone)
  if (kept) return kept
  const format = new Intl.DateTimeFormat("en-CA", {
    ...{ weekday: "short", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone },
  })
  clockFormats.set(timeZone, format)
  return format
}

// Node reads the zone of the machine once, and again only when the program sets TZ.
const localZone: { of?: string | undefined; name?: string } = {}

function localTimeZone(): string {
  if (localZone.name !== undefined && localZone.of === process.env.TZ) return localZone.name
  localZone.of = process.env.TZ
  localZone.name = new Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"
  return localZone.name
}
