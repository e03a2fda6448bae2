import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import type { Decision, Run } from "../core/agent.ts"
import type { EventOf } from "../core/event.ts"
import { callText } from "./event-text.ts"
import { safeLine, safeText } from "./safe-text.ts"
import type { Screen } from "./screen.ts"
import { splitAtWidth } from "./text-width.ts"

export interface ApprovalPrompt {
  run: Run
  screen: Screen
  input: NodeJS.ReadableStream & { isTTY?: boolean | undefined; setRawMode?: ((on: boolean) => unknown) | undefined }
  stream: NodeJS.WritableStream & { rows?: number | undefined }
}

/** Asks the person at the terminal whether a call may be made, and shows the whole of it; where there is no terminal, the
 *  call may not be made. An agent that answers its own questions is left to it. */
export async function askApproval(event: EventOf<"approval-requested">, asking: ApprovalPrompt): Promise<void> {
  if (event.answerer) return
  const { run, screen, input } = asking
  const { paint } = screen
  const why = event.reason === undefined ? "" : paint.dim(` · ${safeLine(event.reason)}`)
  const whole = run.pendingCall(event.id)
  const [first = "", ...rest] = whole === undefined ? [callText(event.call)] : safeText(whole).split("\n")
  screen.writeLines(`  ${paint.yellow("?")} ${paint.bold(first)}${why}`)
  if (input.isTTY) return sendDecision(run, event.id, await promptForDecision(event, createPager(rest, asking), asking))
  screen.writeLines(`    ${paint.dim("It needs approval and no terminal is there to give it: denied.")}`)
  sendDecision(run, event.id, "deny")
}

/** Shows lines a screenful at a time. */
interface Pager {
  /** Shows the next ones. */
  next(): void
  readonly hasMore: boolean
}

function createPager(lines: readonly string[], { screen, stream }: ApprovalPrompt): Pager {
  const columns = Math.max(20, screen.columns - 4)
  const wrapped = lines.flatMap((line) => wrapLine(line, columns))
  // The question and its first line stay in sight.
  const size = Math.max(5, (stream.rows ?? 24) - 4)
  let shown = 0
  return {
    next() {
      const page = wrapped.slice(shown, shown + size)
      shown += page.length
      screen.writeLines(...page.map((line) => `    ${line}`))
      const left = wrapped.length - shown
      if (left > 0) screen.writeLines(`    ${screen.paint.dim(`… ${left} more lines: answer "m" to see them`)}`)
    },
    get hasMore() {
      return shown < wrapped.length
    },
  }
}

function wrapLine(line: string, columns: number): string[] {
  if (columns === Infinity) return [line]
  const parts: string[] = []
  for (let left = line; ; ) {
    const { head, tail } = splitAtWidth(left, columns)
    parts.push(head)
    if (tail === "" || head === "") return parts
    left = tail
  }
}

async function promptForDecision(
  event: EventOf<"approval-requested">,
  pager: Pager,
  asking: ApprovalPrompt,
): Promise<Decision> {
  const { run, screen, input, stream } = asking
  let closed = false
  let close = () => {
    closed = true
  }
  // Somebody else may answer first, or the run may end: then the question is withdrawn.
  void resolvedElsewhere(run, event).then(() => close())
  pager.next()
  await discardTypedInput(asking)
  if (closed) return "deny"
  const terminal = createInterface({ input, output: stream, terminal: true })
  close = () => terminal.close()
  const prompt = () => {
    terminal.setPrompt(`    Allow it? [y]es, [n]o, [a]lways${pager.hasMore ? ", [m]ore" : ""}: `)
    terminal.prompt()
  }
  terminal.on("SIGINT", () => run.abort("Interrupted at the question."))
  prompt()
  try {
    for await (const line of terminal) {
      const answer = line.trim().toLowerCase()
      const decision = decisions.get(answer)
      if (decision) return decision
      if (answer === "m" || answer === "more") pager.next()
      prompt()
    }
  } finally {
    terminal.close()
  }
  screen.writeLines("")
  return "deny"
}

/** Throws away what was typed before the question was there to be read: it was no answer to it. */
async function discardTypedInput({ input, run }: ApprovalPrompt): Promise<void> {
  const discard = (typed: Buffer | string) => {
    if (String(typed).includes("\x03")) run.abort("Interrupted at the question.")
  }
  // What was typed without Enter is read in this mode only.
  input.setRawMode?.(true)
  input.on("data", discard)
  input.resume()
  await setTimeout(discardMs)
  input.off("data", discard)
  input.pause()
  input.setRawMode?.(false)
}

// What the terminal has kept is read in the next turns of the event loop; a person needs longer to read a question.
const discardMs = 50

const decisions = new Map<string, Decision>([
  ["y", "allow"],
  ["yes", "allow"],
  ["n", "deny"],
  ["no", "deny"],
  ["a", "always"],
  ["always", "always"],
])

async function resolvedElsewhere(run: Run, asked: EventOf<"approval-requested">): Promise<void> {
  for await (const event of run) {
    // A call whose arguments have changed is asked about again, by the same id.
    if (event.type === "approval-resolved" && event.id === asked.id && event.seq > asked.seq) return
  }
}

function sendDecision(run: Run, id: string, decision: Decision): void {
  try {
    run.approve(id, decision)
  } catch {
    // Answered meanwhile, by the agent's own answerer or another reader: theirs counts.
  }
}
