// Runs a prompt in a session, shows it, and says how to continue the session.
import { internalsOf } from "../../agent/agent-internals.ts"
import type { Agent, LiveObjects, RunResult, SessionOptions } from "../../core/agent.ts"
import type { Metadata } from "../../core/event.ts"
import type { Prompt } from "../../core/message.ts"
import { createPalette, wantsColor } from "../../display/paint.ts"
import { safeLine } from "../../display/safe-text.ts"
import { type DisplayMode, display } from "../../display.ts"
import type { ArchiveOptions, ArchiveSource } from "../../sessions/session-archive.ts"
import { exitCode, interruptible, printEvent } from "../interruptible-run.ts"
import { printToErrors } from "../print-text.ts"
import type { PreparedAgent } from "./prepare-agent.ts"

export interface SessionRunOptions {
  /** Undefined: the session is not stored, or its handle says where it is. */
  archive: ArchiveSource | undefined
  /** The id or handle of the session to resume. Default: a new session. */
  resume?: string | undefined
  /** Returns the command that continues the session. Undefined: it is not stored. */
  continueCommand: ((id: string) => string) | undefined
  /** Stored with a new session. */
  metadata?: Metadata | undefined
  mode: DisplayMode
  json: boolean
}

/** Returns the exit code. */
export async function runInSession(
  prepared: PreparedAgent,
  prompt: Prompt,
  { archive, resume, continueCommand, metadata, mode, json }: SessionRunOptions,
): Promise<number> {
  const { agent, limits } = prepared
  await using closing = new AsyncDisposableStack()
  closing.defer(prepared.close)
  // Agents of every kind accept an archive.
  const opening: SessionOptions & ArchiveOptions = { archive, resume, metadata }
  const session = await agent.session(opening)
  closing.use(session)
  const isShown = !json && (mode === "full" || mode === "short")
  if (isShown) printHeader(prepared, session.runtime)
  const run = session.send(prompt, {
    limits,
    metadata: { session: session.id },
    onEvent: json ? printEvent : undefined,
  })
  const result = await interruptible(run, () => (json ? run.settled : display(run, { mode })))
  await closing.disposeAsync()
  // A session whose first commit failed is not stored.
  const isStored = session.messages().length > 0
  if (continueCommand && isStored) printHint(result, continueCommand(session.id), isShown)
  return exitCode(result)
}

const isolationTexts: Record<string, string> = {
  os: "cells isolated by the operating system",
  process: "cells in a process of their own, not isolated by the operating system",
  none: "cells in this process",
}

function printHeader(prepared: PreparedAgent, runtime: LiveObjects | undefined): void {
  const { dim } = createPalette(wantsColor(process.stdout))
  process.stdout.write(`${dim(headerText(prepared.agent, prepared.title, runtime))}\n\n`)
}

/** Says who answers, and what isolates the cells of an agent that runs any. */
export function headerText(agent: Agent, title: string, runtime: LiveObjects | undefined): string {
  const hasCells = internalsOf(agent)?.usesCode ?? true
  const isolation = hasCells && runtime && "isolation" in runtime ? String(runtime.isolation) : ""
  return ["karst", safeLine(title), isolationTexts[isolation]].filter((text) => text !== undefined).join(" · ")
}

/** Says how to continue: after the run if it is shown, and on standard error if it did not end by itself. */
function printHint({ status }: RunResult, command: string, isShown: boolean): void {
  if (status === "done") {
    const { dim } = createPalette(wantsColor(process.stdout))
    if (isShown) process.stdout.write(`${dim(`Continue: ${command} "…"`)}\n`)
    return
  }
  printToErrors(status === "waiting" ? `Answer: ${command} "…"` : `Continue: ${command}`)
}
