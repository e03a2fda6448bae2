// Asks the person at the terminal whether a call is allowed.
import { createInterface, type Interface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import type { Decision, Run } from "../core/agent.ts"
import type { EventOf } from "../core/event.ts"
import { type CallPager, createCallPager } from "./call-pager.ts"
import type { Screen } from "./screen.ts"

export interface ApprovalTerminal {
  run: Run
  screen: Screen
  input: NodeJS.ReadableStream & { isTTY?: boolean | undefined; setRawMode?: ((on: boolean) => unknown) | undefined }
  output: NodeJS.WritableStream & { rows?: number | undefined }
}

/** Asks for a decision, unless the agent has an approver. Without a terminal, denies the call. */
export async function askApproval(event: EventOf<"approval-requested">, prompt: ApprovalTerminal): Promise<void> {
  if (event.answerer) return
  const { run, screen, input } = prompt
  const { paint } = screen
  // Keeps the question and the first line of the call visible.
  const pager = createCallPager(event, run, screen, Math.max(5, (prompt.output.rows ?? 24) - 4))
  let decision: Decision | undefined = "deny"
  if (input.isTTY) decision = await promptForDecision(event, pager, prompt)
  else screen.writeLines(`    ${paint.dim("It needs approval and no terminal is there to give it: denied.")}`)
  try {
    if (decision) run.approve(event.id, decision)
  } catch {
    // The agent's approver or another reader has answered; that answer counts.
  }
}

/** Shows the next lines of the call, and says how many are left. */
function showNext(pager: CallPager, { writeLines, paint }: Screen): void {
  pager.showNext()
  if (pager.remaining > 0) writeLines(`    ${paint.dim(`… ${pager.remaining} more lines: answer "m" to see them`)}`)
}

/** Returns undefined if the question was withdrawn: a late answer could count for the next question about the call. */
async function promptForDecision(
  event: EventOf<"approval-requested">,
  pager: CallPager,
  prompt: ApprovalTerminal,
): Promise<Decision | undefined> {
  const { run, screen, input, output } = prompt
  let withdrawn = false
  let terminal: Interface | undefined
  // If another reader answers first, or the run ends, withdraw the question.
  void waitUntilResolved(run, event).then(() => {
    withdrawn = true
    terminal?.close()
  })
  showNext(pager, screen)
  await discardTypedInput(prompt)
  if (withdrawn) return undefined
  terminal = createInterface({ input, output, terminal: true })
  const showPrompt = () => {
    terminal.setPrompt(`    Allow it? [y]es, [n]o, [a]lways${pager.remaining > 0 ? ", [m]ore" : ""}: `)
    terminal.prompt()
  }
  terminal.on("SIGINT", () => run.abort("Interrupted at the question."))
  showPrompt()
  try {
    for await (const line of terminal) {
      const answer = line.trim().toLowerCase()
      const decision = decisions.get(answer)
      if (decision) return decision
      if (answer === "m" || answer === "more") showNext(pager, screen)
      showPrompt()
    }
  } finally {
    terminal.close()
  }
  // Ends the line of the prompt.
  screen.writeLines("")
  return withdrawn ? undefined : "deny"
}

/** Discards input typed before the question was visible: it cannot be an answer. */
async function discardTypedInput({ input, run }: ApprovalTerminal): Promise<void> {
  const discard = (typed: Buffer | string) => {
    if (String(typed).includes("\x03")) run.abort("Interrupted at the question.")
  }
  // Only raw mode delivers input typed without Enter.
  input.setRawMode?.(true)
  input.on("data", discard)
  input.resume()
  await setTimeout(discardMs)
  input.off("data", discard)
  input.pause()
  input.setRawMode?.(false)
}

// Buffered input arrives within a few turns of the event loop. A person needs longer to read the question.
const discardMs = 50

const decisions = new Map<string, Decision>([
  ["y", "allow"],
  ["yes", "allow"],
  ["n", "deny"],
  ["no", "deny"],
  ["a", "always"],
  ["always", "always"],
])

async function waitUntilResolved(run: Run, request: EventOf<"approval-requested">): Promise<void> {
  for await (const event of run) {
    // A durable run that is executed again may ask again with the same id.
    if (event.type === "approval-resolved" && event.id === request.id && event.seq > request.seq) return
  }
}
