// The sections of the system prompt, and other fixed texts for the model.
import type { Message } from "../../core/message.ts"
import { codeBlock, oneLine } from "../../core/text/tagged-text.ts"
import type { CellAccess, CellOptions, TypeGateMode } from "../../runtime/runtime.ts"
import { skillsSection } from "../../skills/skill-texts.ts"
import { accessText, remoteText } from "./access-text.ts"
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

export const defaultInstructions = "You solve tasks by writing code against live objects."

export const toolInstructions = "You solve tasks by calling tools."

/** The sections of the system prompt that an agent has by default. */
export const defaultSections: PromptSections = {
  instructions: (context) => context.instructions,
  rules(context) {
    if (!context.usesCode) return toolRules(context)
    return `# How you work\n\n${codeRules(context)
      .map((rule) => `- ${rule}`)
      .join("\n")}`
  },
  skills: ({ skills = [], language, usesCode }) =>
    skills.length > 0 ? skillsSection(skills, usesCode ? language : "tool") : "",
  objects({ declarations, tag, language, usesCode }) {
    if (!usesCode) return ""
    if (declarations) return `# What is in the session\n\n${inferredText(declarations)}${codeBlock(tag, declarations)}`
    const library = language === "python" ? "Python's standard library is" : "JavaScript and Node.js are"
    return `# What is in the session\n\nNothing yet; ${library} available.`
  },
  workspace: ({ files }) => (files ? workspaceText(files) : ""),
}

function codeRules({ language, tag, access, maxOutputChars, ...options }: PromptContext): string[] {
  const isPython = language === "python"
  const { typeGate, transaction, cellTimeoutMs } = options
  const typing = typeGate === "block" ? "A cell with a type error does not run." : "Types are not checked."
  return [
    `Write one \`\`\`${tag} block of ${isPython ? "Python" : "TypeScript"} per message, then stop. It runs at once; you get ` +
      "what it printed and the value of its last expression.",
    "Cells share one session, like a notebook; a name can be declared again." +
      (isPython ? "" : ` Top-level await works; await every Promise. ${typing}`),
    "Use the objects below by name. You see types, not values: look at a little before you rely on a value, " +
      "in the same cell if you can.",
    ...(access?.remote ? [remoteText(language)] : []),
    ...(access ? [accessText(access, language)] : []),
    "Compute with code, not in your head. Never invent output.",
    transaction
      ? "Changes to objects are real. A failed cell is rolled back, except what its note lists: fix it and send it whole."
      : "Changes to objects are real. When a cell fails, what ran before the error has happened: fix the rest, do not repeat it.",
    `Output over ${maxOutputChars.toLocaleString("en")} characters is cut; a note names the variable that has all of it. ` +
      `\`_\` is the last value${isPython ? ", `Out` has the last 8 by cell number" : ""}.`,
    ...(cellTimeoutMs ? [`A cell is stopped after ${cellTimeoutMs / 1000} seconds: work in steps.`] : []),
    "To end your work, answer in plain text without a code block, or call `finish(text)` in a cell instead of retyping " +
      "long results. The user sees only this answer, no cell output. The user's message has the local time.",
  ]
}

/** Explains the mark of inferred types, if the declarations have it. */
function inferredText(declarations: string): string {
  return declarations.includes("// inferred") ? "`// inferred`: this type was read from the value.\n\n" : ""
}

function toolRules({ noTool }: PromptContext): string {
  const rules = [
    "Act by calling tools; look before you rely on something. Never write down a result you have not received.",
    "Several calls in one answer run in order; neighbouring calls that only look something up run at the same time.",
    "When a call fails, its result says why: fix the call, do not repeat it unchanged.",
    endingRules[noTool],
  ]
  return `# How you work\n\n${rules.map((rule) => `- ${rule}`).join("\n")}`
}

const endingRules: Record<PromptContext["noTool"], string> = {
  answer:
    "When the task is done, answer in plain text without a tool call: the user gets that text, and it ends your work.",
  continue:
    "When the task is done, call finish with the answer: only that ends your work, and the user sees nothing else of " +
    "it. finish may follow other calls in the same answer.",
  wait: "When you are done or need the user, write plain text without a tool call: the user reads it and replies.",
}

/** The message for a model that answers while todos are open. */
export function openTodosReminder(titles: readonly string[]): string {
  const list = titles.map((title) => `- ${oneLine(title, 200)}`).join("\n")
  return `(These todos are open. Do them, or mark them with write_todos; then answer again, completely.\n${list})`
}

/** The message for a model that calls no tool and has not finished. */
export const noToolReminder =
  "(You called no tool. When the task is done, call finish with the answer; otherwise go on with the next call.)"

/** The message for a model that called `finish` in a cell and, in the same answer, a tool that failed. */
export const finishWithFailureText =
  "(finish had no effect, because a tool call in the same answer failed. Read its result, then finish again.)"

/** The message for a model that called `finish` in the first of several cells. */
export const finishBeforeCodeText =
  "(finish had no effect, because another code block followed. Only the first block of a message is run: go on.)"

/** The message about names that were added after the system prompt was written. */
export function newNamesText(declarations: string, tag: string): string {
  return `New in the session:\n\n${codeBlock(tag, declarations)}`
}

/** Adds the time to the newest prompt: never stored, and the same for a whole run, so that prompt caches hit. */
export function withCurrentTime(messages: readonly Message[], clock: string): Message[] {
  const request = messages.slice()
  for (let index = request.length - 1; index >= 0; index--) {
    const message = request[index]
    if (message?.role !== "user" || message.origin !== "prompt") continue
    request[index] = { ...message, parts: [...message.parts, { type: "text", text: clock }] }
    break
  }
  return request
}

/** The local time with its zone, for the end of the user's message: `(It is Monday 2026-11-16 04:44, Europe/Berlin.)`. */
export function clockText(now: Date, timeZone = localTimeZone()): string {
  const parts = new Intl.DateTimeFormat("en-CA", {
    ...{ weekday: "long", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone },
  }).formatToParts(now)
  const { weekday, year, month, day, hour, minute } = Object.fromEntries(parts.map(({ type, value }) => [type, value]))
  return `(It is ${weekday} ${year}-${month}-${day} ${hour}:${minute}, ${timeZone}.)`
}

function localTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"
}
