import { createInterface } from "node:readline"
import type { Decision, Run } from "../core/agent.ts"
import type { EventOf } from "../core/event.ts"
import { callText } from "./phrases.ts"
import { safeLine } from "./safe-text.ts"
import type { Screen } from "./screen.ts"

export interface Asking {
  run: Run
  screen: Screen
  input: NodeJS.ReadableStream & { isTTY?: boolean | undefined }
  stream: NodeJS.WritableStream
}

/** Asks the person at the terminal whether a call may be made; where there is none, it may not. An agent that answers
 *  its own questions is left to it. */
export async function answerApproval(event: EventOf<"approval-requested">, asking: Asking): Promise<void> {
  if (event.answerer) return
  const { run, screen, input } = asking
  const { paint } = screen
  const why = event.reason === undefined ? "" : paint.dim(` · ${safeLine(event.reason)}`)
  screen.lines(`  ${paint.yellow("?")} ${paint.bold(callText(event.call))}${why}`)
  if (input.isTTY) return decide(run, event.id, await ask(event.id, asking))
  screen.lines(`    ${paint.dim("It needs approval and no terminal is there to give it: denied.")}`)
  decide(run, event.id, "deny")
}

async function ask(id: string, { run, screen, input, stream }: Asking): Promise<Decision> {
  const terminal = createInterface({
    input,
    output: stream,
    terminal: true,
    prompt: "    Allow it? [y]es, [n]o, [a]lways: ",
  })
  terminal.on("SIGINT", () => run.abort("Interrupted at the question."))
  // Somebody else may answer first, or the run may end: then the question is withdrawn.
  void settledElsewhere(run, id).then(() => terminal.close())
  terminal.prompt()
  try {
    for await (const line of terminal) {
      const decision = decisions.get(line.trim().toLowerCase())
      if (decision) return decision
      terminal.prompt()
    }
  } finally {
    terminal.close()
  }
  screen.lines("")
  return "deny"
}

const decisions = new Map<string, Decision>([
  ["y", "allow"],
  ["yes", "allow"],
  ["n", "deny"],
  ["no", "deny"],
  ["a", "always"],
  ["always", "always"],
])

async function settledElsewhere(run: Run, id: string): Promise<void> {
  for await (const event of run) {
    if (event.type === "approval-resolved" && event.id === id) return
  }
}

function decide(run: Run, id: string, decision: Decision): void {
  try {
    run.approve(id, decision)
  } catch {
    // Answered meanwhile, by the agent's own answerer or another reader: theirs counts.
  }
}
