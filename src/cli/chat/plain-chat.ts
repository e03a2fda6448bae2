// The chat without a terminal, or with `--plain`: one prompt a line, and plain text. Nothing is redrawn.
import { createInterface } from "node:readline/promises"
import { StringDecoder } from "node:string_decoder"
import { safeText } from "../../display/safe-text.ts"
import { createScreen } from "../../display/screen.ts"
import { writeNote } from "../../display/stream-writers.ts"
import { display } from "../../display.ts"
import { interruptible } from "../interruptible-run.ts"
import { UsageError } from "../usage-error.ts"
import { type Chat, errorText } from "./chat.ts"
import { readMentions } from "./mentions.ts"
import { answerTo } from "./question-answer.ts"
import { runSlash } from "./slash-actions.ts"
import { parseSlash } from "./slash-commands.ts"

export interface PlainChatOptions {
  color: boolean
  /** The folder that `@file` starts from. */
  cwd: string
  header: string
}

/** Reads prompts until the input ends or the person leaves. */
export async function chatInPlainText(chat: Chat, { color, cwd, header }: PlainChatOptions): Promise<void> {
  const screen = createScreen(process.stdout, { color })
  const note = (text: string) => writeNote(screen, "· ", safeText(text), screen.paint.dim)
  writeNote(screen, "", header, screen.paint.dim)
  screen.ensureBlankLine()

  /** Runs a prompt or a slash command. */
  async function perform(text: string): Promise<"leave" | undefined> {
    const slash = parseSlash(text)
    if (slash && "problem" in slash) return void note(slash.problem)
    if (slash) {
      const effect = await runSlash(slash.name, slash.argument, chat, screen)
      if (effect?.edit !== undefined) note(`The prompt was: ${effect.edit}`)
      return effect?.leave ? "leave" : undefined
    }
    const answer = chat.question ? answerTo(chat.question, text) : { answer: text }
    if ("problem" in answer) return void note(answer.problem)
    const { prompt, problems } = await readMentions(answer.answer, cwd)
    for (const problem of problems) note(problem)
    const run = chat.send(prompt)
    const observing = observeRun(chat, run)
    await interruptible(run, () => display(run, { color }))
    await observing
    screen.writeLines("")
    return undefined
  }

  for await (const prompt of readPrompts(screen.paint.bold("❯ "))) {
    const next = await perform(prompt).catch((error: unknown) => {
      writeNote(screen, "✗ ", safeText(errorText(error)), screen.paint.red)
      return undefined
    })
    if (next === "leave") return
  }
}

async function observeRun(chat: Chat, run: AsyncIterable<Parameters<Chat["observe"]>[0]>): Promise<void> {
  for await (const event of run) chat.observe(event)
}

/** Yields prompts. A line that ends with a backslash continues on the next one. In a terminal, lines are read one by
 *  one, because approvals also read from it. */
async function* readPrompts(mark: string): AsyncGenerator<string> {
  let text = ""
  const lines = process.stdin.isTTY ? readLinesOnDemand(mark) : readLines(process.stdin)
  for await (const line of lines) {
    text += line.endsWith("\\") ? `${line.slice(0, -1)}\n` : line
    if (line.endsWith("\\")) continue
    const prompt = text.trim()
    text = ""
    if (prompt !== "") yield prompt
  }
  if (text.trim() !== "") yield text.trim()
}

const maxLineLength = 10_000_000

/** Yields the lines of an input that is no terminal. Throws for a longer one, which may never end. */
async function* readLines(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8")
  let rest = ""
  for await (const chunk of input) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split(/\r?\n/)
    rest = lines.pop() ?? ""
    yield* lines
    if (rest.length > maxLineLength)
      throw new UsageError(
        `A line of standard input has more than ${maxLineLength} characters. Write it to a file, and mention it: @file`,
      )
  }
  if (rest !== "") yield rest
}

async function* readLinesOnDemand(mark: string): AsyncGenerator<string> {
  for (;;) {
    const reader = createInterface({ input: process.stdin, output: process.stdout })
    const ended = new AbortController()
    // Ctrl-D and Ctrl-C close the reader without an answer.
    reader.once("close", () => ended.abort())
    reader.once("SIGINT", () => reader.close())
    const line = await reader.question(mark, { signal: ended.signal }).catch(() => undefined)
    reader.close()
    if (line === undefined) return
    yield line
  }
}
