import type { Message, UserMessage } from "../core/message.ts"

/** What the sections of the system prompt are made from. */
export interface PromptContext {
  instructions: string
  language: "typescript" | "python"
  /** The fence tag the model is asked to use. */
  tag: string
  /** What is in the runtime, as declarations; never values. */
  declarations: string
  maxOutputChars: number
  cellTimeoutMs?: number | undefined
}

/** The system prompt, section by section. Each is a function of the context, so text is never interpreted as a template. */
export interface PromptSections {
  /** Who the agent is. */
  instructions(context: PromptContext): string
  /** How it works: code in, output back. */
  rules(context: PromptContext): string
  /** What it works on. */
  objects(context: PromptContext): string
}

export function systemPrompt(context: PromptContext, sections: Partial<PromptSections> = {}): string {
  const { instructions, rules, objects } = { ...defaultSections, ...sections }
  return [instructions(context), rules(context), objects(context)].filter(Boolean).join("\n\n")
}

export const defaultInstructions = "You are a capable assistant. You solve tasks by writing code against live objects."

export const defaultSections: PromptSections = {
  instructions: (context) => context.instructions,
  rules(context) {
    const python = context.language === "python"
    const rules = [
      `Write one fenced block per message, tagged \`\`\`${context.tag}, and stop after it. It runs at once; then you get what it printed and the value of its last expression.`,
      "Cells share one session, like a notebook: every name a cell defines is there in the next. Use the objects below directly, by name.",
      "You see declarations, not values. Look before you rely on a value: print a little of it, or end the cell with an expression. Summarise instead of printing much.",
      ...(python
        ? []
        : [
            "A function declared to return a Promise must be awaited; top-level await works. Type annotations are welcome and not checked.",
          ]),
      "Compute with code, not in your head. Never write down output you have not received.",
      "Changes to objects are real and stay. When a cell fails, what ran before the error has happened: mend, do not repeat it.",
      `Output beyond ${context.maxOutputChars.toLocaleString("en")} characters is shortened; the whole text stays in a variable that the note names.`,
      ...(context.cellTimeoutMs
        ? [
            `A cell is stopped after ${context.cellTimeoutMs / 1000} seconds: set time-outs on slow calls, and work in steps.`,
          ]
        : []),
      "When the task is done, or needs no code, answer in plain text without a code block: that ends your work.",
    ]
    const language = python ? "Python" : "TypeScript"
    return `# How you work\n\nYou act by writing ${language} that is run for you.\n\n${rules.map((rule) => `- ${rule}`).join("\n")}`
  },
  objects({ declarations, tag, language }) {
    if (declarations) return `# What is in the session\n\n\`\`\`${tag}\n${declarations}\n\`\`\``
    const library = language === "python" ? "Python's standard library is" : "JavaScript and Node.js are"
    return `# What is in the session\n\nNothing yet; ${library} available.`
  },
}

/** What the model is told when names were put in after the system prompt was frozen. */
export function announcement(declarations: string, tag: string): string {
  return `New in the session:\n\n\`\`\`${tag}\n${declarations}\n\`\`\``
}

/** The messages of a request: the conversation with the time at the end of its newest prompt. The time is never stored,
 *  and stays the same for a whole run, so that prompt caches hit. */
export function withClock(messages: readonly Message[], clock: string): Message[] {
  const request = messages.slice()
  const index = request.findLastIndex((message) => message.role === "user" && message.origin === "prompt")
  const newest = request[index] as UserMessage | undefined
  if (newest) request[index] = { ...newest, parts: [...newest.parts, { type: "text", text: clock }] }
  return request
}

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

export function clockText(now: Date): string {
  return `(It is ${days[now.getUTCDay()]}, ${now.toISOString().slice(0, 16).replace("T", " ")} UTC.)`
}
