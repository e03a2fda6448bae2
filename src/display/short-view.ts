// The `short` display mode: one line per cell or tool call, then the answer. Also used for the runs of sub-agents.
import type { AgentEvent, EventOf } from "../core/event.ts"
import * as texts from "./event-text.ts"
import { createRetryCounter } from "./retry-counter.ts"
import { safeLine, safeText } from "./safe-text.ts"
import type { Screen } from "./screen.ts"
import { createProseWriter, writeNote, writeWrapped } from "./stream-writers.ts"
import { textWidth, truncateToWidth } from "./text-width.ts"

const shownError = { most: 12, head: 4, tail: 4 }

export function createShortView(screen: Screen, run: string): (event: AgentEvent) => void {
  const digest = createStepLines(screen, "")
  const nested = createNestedView(screen)
  return (event) => {
    if (event.run !== run) return nested(event)
    if (event.type === "run-end") writeAnswer(screen, event.output)
    if (event.type === "run-end") screen.ensureBlankLine()
    digest(event)
  }
}

/** Shows the runs of sub-agents, indented with a dotted line. */
export function createNestedView(screen: Screen): (event: AgentEvent) => void {
  const digests = new Map<string, (event: AgentEvent) => void>()
  return (event) => {
    const digest = digests.get(event.run) ?? createStepLines(screen, "  ┆ ")
    digests.set(event.run, digest)
    digest(event)
  }
}

function writeAnswer(screen: Screen, output: string): void {
  if (output.trim() === "") return
  const writer = createProseWriter(screen, "● ", screen.paint.cyan)
  writer.add(output.trim())
  writer.end()
}

/** Writes the error or question of a run, if any, and the closing line. */
export function writeEnd(screen: Screen, event: EventOf<"run-end">, startedAt: number | undefined, prefix = ""): void {
  const { paint } = screen
  const details = texts.runEndDetails(event)
  const failed = event.status === "failed"
  if (details) writeNote(screen, `${prefix}${failed ? "  " : "? "}`, details, failed ? paint.red : paint.yellow)
  writeWrapped(screen, { mark: prefix, paintMark: paint.dim }, ...texts.runEndTexts(event, startedAt, paint))
}

function createStepLines(screen: Screen, prefix: string): (event: AgentEvent) => void {
  const { paint } = screen
  const subjects = new Map<string, string>()
  const retries = createRetryCounter((text) => writeNote(screen, `${prefix}! `, text, paint.yellow))
  let startedAt: number | undefined

  function line(event: EventOf<"code-end" | "tool-end">): void {
    const mark = event.ok ? paint.green("✓") : paint.red("✗")
    const took = ` · ${texts.formatDuration(event.durationMs)}`
    const room = screen.columns - textWidth(prefix) - 2 - took.length
    screen.writeLines(
      `${paint.dim(prefix)}${mark} ${truncateToWidth(subjects.get(event.id) ?? "", room)}${paint.dim(took)}`,
    )
    if (event.ok) return
    const { output, error } = texts.splitActionText(event)
    writeNote(screen, `${prefix}  `, texts.shortenLines(error || output, shownError).join("\n"), paint.red)
  }

  return (event) => {
    if (retries(event)) return
    switch (event.type) {
      case "run-start":
        startedAt = event.at
        return screen.writeLines(
          paint.bold(truncateToWidth(`${prefix}❯ ${safeLine(texts.promptText(event))}`, screen.columns)),
        )
      case "message-end":
        for (const part of event.message.parts) if (part.type === "code") subjects.set(part.id, cellSummary(part.code))
        return
      case "tool-start":
        subjects.set(event.id, texts.toolText(event))
        return
      case "code-end":
      case "tool-end":
        return line(event)
      case "warning-raised":
        return writeNote(screen, `${prefix}! `, safeText(event.message), paint.yellow)
      case "run-end":
        return writeEnd(screen, event, startedAt, prefix)
    }
  }
}

// The first line usually says what a cell does, especially if it is a comment.
function cellSummary(code: string): string {
  const lines = safeText(code)
    .split("\n")
    .filter((line) => line.trim() !== "")
  const first = (lines[0] ?? "").trim().replace(/^(?:\/\/|#)\s*/, "")
  return lines.length > 1 ? `${first} (+ ${texts.plural(lines.length - 1, "line")})` : first
}
