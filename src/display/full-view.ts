// The `full` display mode: shows everything in a run as it happens, and runs of sub-agents in short.
import type { AgentEvent, EventOf } from "../core/event.ts"
import { messageText } from "../core/message.ts"
import { callText, formatDuration, promptText, shortenLines, splitActionText, toolText } from "./event-text.ts"
import { createRetryCounter } from "./retry-counter.ts"
import { safeLine, safeText } from "./safe-text.ts"
import type { Screen } from "./screen.ts"
import { createNestedView, writeEnd } from "./short-view.ts"
import { createCodeWriter, createProseWriter, type StreamWriter, writeNote, writeWrapped } from "./stream-writers.ts"
import { createTextFlow } from "./text-flow.ts"

const maxShownCalls = 8
/** Longer output is shown by its beginning and end. */
export const maxOutputLines = 24
const outputLimits = { most: maxOutputLines, head: 12, tail: 8 }

export function createFullView(screen: Screen, run: string): (event: AgentEvent) => void {
  const { paint } = screen
  const nested = createNestedView(screen)
  /** The displayed text of calls and tools that have not ended. */
  const unfinished = new Map<string, string>()
  const drawnCells = new Set<string>()
  let openBlock: { of: string; writer: StreamWriter } | undefined
  let startedAt: number | undefined
  let hasText = false
  let calls = 0
  let lastTool = ""

  function close(): void {
    openBlock?.writer.end()
    openBlock = undefined
  }

  function writeText(text: string): void {
    if (openBlock?.of !== "text") {
      // Models start with empty lines. Draw the mark only before text.
      if (text.trim() === "") return
      close()
      openBlock = { of: "text", writer: createProseWriter(screen, "● ", paint.cyan) }
    }
    openBlock.writer.add(text)
    hasText = true
  }

  function startCode(id: string, language: string): void {
    close()
    openBlock = { of: id, writer: createCodeWriter(screen, language) }
  }

  // If the source does not stream, the message is drawn here.
  function endMessage({ message }: EventOf<"message-end">): void {
    for (const part of message.parts) {
      if (part.type === "text" && !hasText) writeText(part.text)
      if (part.type !== "code" || drawnCells.has(part.id)) continue
      // Stored events have the start of a cell, but not its source.
      if (openBlock?.of !== part.id) startCode(part.id, part.tag)
      openBlock?.writer.add(part.code)
    }
    close()
    hasText = false
  }

  function startTool(event: EventOf<"tool-start">): void {
    lastTool = event.id
    unfinished.set(event.id, toolText(event))
    screen.ensureBlankLine()
    writeTool(unfinished.get(event.id) ?? "")
  }

  function endTool(event: EventOf<"tool-end">): void {
    // Parallel tools end in any order, so repeat the name if the last line shows another tool.
    if (lastTool !== event.id) writeTool(unfinished.get(event.id) ?? safeLine(event.name))
    lastTool = ""
    unfinished.delete(event.id)
    showResult(event)
  }

  function writeTool(text: string): void {
    writeWrapped(screen, { mark: "● ", paintMark: paint.cyan }, { text })
  }

  function endCall(event: EventOf<"call-end">): void {
    const text = unfinished.get(event.id) ?? ""
    unfinished.delete(event.id)
    if (calls++ >= maxShownCalls) return
    const end = event.ok
      ? { text: formatDuration(event.durationMs), paint: paint.dim }
      : { text: safeLine(event.error ?? "failed"), paint: paint.red }
    writeWrapped(screen, { mark: "  → ", paintMark: event.ok ? paint.blue : paint.red }, { text: `${text} ` }, end)
  }

  function showResult(event: EventOf<"code-end" | "tool-end">): void {
    if (calls > maxShownCalls) screen.writeLines(paint.dim(`  → … ${calls - maxShownCalls} more calls`))
    calls = 0
    const { output, error } = splitActionText(event)
    const flow = createTextFlow(screen, { first: "  └ ", rest: "    ", paintPrefix: paint.dim })
    if (output) flow.add(shortenLines(output, outputLimits).join("\n"), paint.dim)
    if (output && error) flow.add("\n")
    if (error) flow.add(shortenLines(error, outputLimits).join("\n"), paint.red)
    flow.end()
  }

  function note(mark: string, text: string, paintText = paint.dim): void {
    close()
    writeNote(screen, `${mark} `, text, paintText)
  }

  const retries = createRetryCounter((text) => note("!", text, paint.yellow))
  return (event) => {
    if (event.run === run && retries(event)) return
    if (event.run !== run) {
      close()
      return nested(event)
    }
    switch (event.type) {
      case "run-start":
        startedAt = event.at
        screen.ensureBlankLine()
        return note("❯", promptText(event), paint.bold)
      case "text-delta":
        return writeText(event.text)
      case "code-start":
        return startCode(event.id, event.language)
      case "code-delta":
        if (event.of !== "source" || openBlock?.of !== event.id) return
        drawnCells.add(event.id)
        return openBlock.writer.add(event.text)
      case "message-end":
        return endMessage(event)
      case "code-end":
        return showResult(event)
      case "tool-start":
        return startTool(event)
      case "tool-end":
        return endTool(event)
      case "call-start":
        unfinished.set(event.id, callText(event.call))
        return
      case "call-end":
        return endCall(event)
      case "approval-resolved":
        return note(" ", event.decision === "deny" ? "✗ denied" : `✓ approved (${event.decision})`)
      case "prompt-steered": {
        const text = safeText(messageText(event.message))
        if (event.message.origin === "host") return note("·", text)
        screen.ensureBlankLine()
        return note("❯", text, paint.bold)
      }
      case "memory-compacted":
        return note("✂", "Older messages were made shorter.")
      case "skill-activated":
        return note("◆", `Skill ${safeLine(event.name)}.`)
      case "provider-changed":
        return note("!", safeLine(`Went on with ${event.to} instead of ${event.from}: ${event.reason}`), paint.yellow)
      case "limit-waiting":
        return note("!", safeLine(`Waiting until ${clockTime(event.until)}: ${event.reason}`), paint.yellow)
      case "warning-raised":
        return note("!", safeText(event.message), paint.yellow)
      case "run-end":
        close()
        screen.ensureBlankLine()
        return writeEnd(screen, event, startedAt)
    }
  }
}

function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8)
}
