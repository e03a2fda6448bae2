// Shows steps in the terminal: one line for each, or some of them in full.
import { formatDuration, plural } from "../../display/event-text.ts"
import { createFullView } from "../../display/full-view.ts"
import { wantsColor } from "../../display/paint.ts"
import { safeLine, safeText } from "../../display/safe-text.ts"
import { createScreen, type Screen } from "../../display/screen.ts"
import { writeNote } from "../../display/stream-writers.ts"
import { textWidth, truncateToWidth } from "../../display/text-width.ts"
import { formatTime } from "../print-table.ts"
import { tokensText } from "./overview.ts"
import { type Action, allSteps, type Step } from "./steps.ts"

export function openScreen(): Screen {
  return createScreen(process.stdout, { color: wantsColor(process.stdout) })
}

/** Writes one line for each step, and with `tools` one for each of its actions. */
export function listSteps(steps: readonly Step[], { tools }: { tools: boolean }, screen: Screen): void {
  const all = allSteps(steps)
  const width = all.reduce((widest, { address }) => Math.max(widest, address.length + 2), 0)
  for (const step of all) {
    const address = `[${step.address}]`.padEnd(width)
    const indent = "  ".repeat(step.address.split("/").length - 1)
    const preview = previewOf(step)
    writeLine(screen, `${address}  ${indent}${step.kind.padEnd(5)}  `, preview, detailsOf(step, preview))
    if (!tools) continue
    const margin = " ".repeat(width + indent.length + 4)
    for (const action of step.actions)
      writeLine(screen, `${margin}${markOf(action)} `, actionPreview(action), actionDetails(action))
  }
}

/** Writes steps with everything they contain. */
export function showSteps(steps: readonly Step[], screen: Screen): void {
  for (const step of steps) {
    const details = [
      step.kind === "agent" ? step.agent : step.kind,
      formatTime(step.at, { seconds: true }),
      ...usageDetails(step),
    ]
    screen.ensureBlankLine()
    screen.writeLines(screen.paint.bold(`[${step.address}] ${details.map(safeLine).join(" · ")}`))
    if (step.kind !== "agent") {
      writeNote(screen, "  ", safeText(step.text), screen.paint.plain)
      continue
    }
    for (const part of step.parts)
      if (part.type === "reasoning" && part.text.trim() !== "")
        writeNote(screen, "  ", safeText(part.text.trim()), screen.paint.dim)
    step.events.forEach(createFullView(screen, step.run))
  }
}

// A line that goes to a file or another program is short too: steps are read in full by --steps.
const previewColumns = 100

function writeLine(screen: Screen, start: string, preview: string, details: string): void {
  const ending = details === "" ? "" : ` · ${details}`
  const columns = Math.min(screen.columns, previewColumns + textWidth(start) + textWidth(ending))
  const room = Math.max(20, columns - textWidth(start) - textWidth(ending))
  const shown = truncateToWidth(preview, room)
  screen.writeLines(`${screen.paint.dim(start)}${shown}${screen.paint.dim(ending)}`)
}

function previewOf({ text, actions }: Step): string {
  if (text.trim() !== "") return safeLine(text)
  return actions.map(actionPreview).join("; ") || "(nothing)"
}

/** Counts what a line does not show. */
function detailsOf({ actions, notes, text }: Step, preview: string): string {
  const cells = actions.filter(({ tool }) => tool === undefined).length
  const failed = actions.filter(({ ok }) => ok === false).length
  return [
    ...(textWidth(preview) > previewColumns && text !== "" ? [plural(text.length, "character")] : []),
    ...(cells === 0 ? [] : [plural(cells, "cell")]),
    ...(cells === actions.length ? [] : [plural(actions.length - cells, "tool call")]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(notes.length === 0 ? [] : [plural(notes.length, "note")]),
  ].join(", ")
}

function usageDetails({ usage, model }: Step): string[] {
  return [...(model === undefined ? [] : [model]), ...(usage === undefined ? [] : [tokensText(usage)])].filter(
    (text) => text !== "unknown",
  )
}

function markOf({ ok }: Action): string {
  if (ok === undefined) return "…"
  return ok ? "✓" : "✗"
}

function actionPreview({ tool, source }: Action): string {
  if (tool !== undefined) return `${safeLine(tool)} ${safeLine(source)}`
  const lines = safeText(source)
    .split("\n")
    .filter((line) => line.trim() !== "")
  return `${lines[0]?.trim() ?? ""}${lines.length > 1 ? ` (+ ${plural(lines.length - 1, "line")})` : ""}`
}

function actionDetails({ ok, error, output, calls, durationMs }: Action): string {
  const result = safeLine(ok === false ? error : output)
  return [
    ...(calls.length === 0 ? [] : [plural(calls.length, "call")]),
    ...(durationMs === undefined ? [] : [formatDuration(durationMs)]),
    ...(result === "" ? [] : [truncateToWidth(result, 60)]),
  ].join(" · ")
}
