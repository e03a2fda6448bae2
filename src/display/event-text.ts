// Turns events into short texts for the terminal.
import type { CallPreview, EventOf } from "../core/event.ts"
import { typedText } from "../core/mentioned-files.ts"
import { totalTokens, type Usage } from "../core/usage.ts"
import type { Paint, Palette } from "./paint.ts"
import { safeLine, safeText } from "./safe-text.ts"

/** Returns the texts of the line that closes a run: mark, status, and cost. */
export function runEndTexts(
  event: EventOf<"run-end">,
  startedAt: number | undefined,
  paint: Palette,
): { text: string; paint: Paint }[] {
  const mark = { done: "✓", waiting: "?", stopped: "■", aborted: "■", failed: "✗" }[event.status]
  const color = {
    done: paint.green,
    waiting: paint.yellow,
    stopped: paint.yellow,
    aborted: paint.yellow,
    failed: paint.red,
  }
  const took = [
    plural(event.cycles, "cycle"),
    ...usageTexts(event.usage),
    ...(startedAt === undefined ? [] : [formatSeconds(event.at - startedAt)]),
  ]
  return [
    { text: `${mark} ${statusText(event)}`, paint: color[event.status] },
    { text: ` · ${took.join(" · ")}`, paint: paint.dim },
  ]
}

/** Returns the error or the question that a run ended with. */
export function runEndDetails(event: EventOf<"run-end">): string {
  if (event.error && event.status === "failed") return safeText(event.error.message)
  if (event.pending?.kind !== "question") return ""
  const { question, options = [] } = event.pending
  return [safeText(question), ...options.map((option, index) => `  ${index + 1}. ${safeLine(option)}`)].join("\n")
}

/** Returns a call as the model wrote it: `light.dim(20)`. */
export function callText({ binding, method, args }: CallPreview): string {
  return safeLine(`${method === undefined ? binding : `${binding}.${method}`}(${args})`)
}

/** Returns all lines of a text, or the first and last ones if there are too many. Cuts very long lines. */
export function shortenLines(
  text: string,
  { most, head, tail }: { most: number; head: number; tail: number },
): string[] {
  const lines = text.split("\n").map((line) => (line.length > 600 ? `${line.slice(0, 600)}…` : line))
  if (lines.length <= most) return lines
  return [...lines.slice(0, head), `… ${formatCount(lines.length - head - tail)} more lines`, ...lines.slice(-tail)]
}

/** Splits the text of an action into its output and its error. */
export function splitActionText({ text, ok, error }: EventOf<"code-end" | "tool-end">): {
  output: string
  error: string
} {
  const { parts, rest } = taggedParts(text)
  const output = safeText(parts.output ?? (ok ? rest : "")).trimEnd()
  return { output, error: ok ? "" : safeText(parts.error ?? (rest || error?.message || "failed")).trimEnd() }
}

/** Returns the text inside `<output>` and `<error>` tags, each on its own line, and the remaining text. */
function taggedParts(text: string): { parts: Record<string, string>; rest: string } {
  const parts: Record<string, string> = {}
  const opening = /^<(output|error)>\n/gm
  const unclosed = new Set<string>()
  let rest = ""
  let at = 0
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    const [mark, tag = ""] = found
    const start = found.index + mark.length
    const end = unclosed.has(tag) ? -1 : findClosingTag(text, tag, start)
    if (end === -1) {
      unclosed.add(tag)
      continue
    }
    parts[tag] = text.slice(start, end)
    rest += text.slice(at, found.index)
    at = end + `\n</${tag}>\n`.length
    opening.lastIndex = at
  }
  return { parts, rest: rest + text.slice(at) }
}

/** Returns the position of a closing tag on its own line; -1 without one. */
function findClosingTag(text: string, tag: string, from: number): number {
  const mark = `\n</${tag}>`
  let end = text.indexOf(mark, from)
  while (end !== -1 && !["\n", ""].includes(text.charAt(end + mark.length))) end = text.indexOf(mark, end + 1)
  return end
}

export function promptText({ messages }: EventOf<"run-start">): string {
  const prompts = messages.filter((message) => message.role === "user" && message.origin === "prompt")
  const text = safeText(prompts.map(typedText).join("\n")).trim()
  return shortenLines(text, { most: 8, head: 5, tail: 2 }).join("\n")
}

/** Returns `search({"query":"karst"})`, shortened. */
export function toolText({ name, input }: EventOf<"tool-start">): string {
  const args = safeLine(JSON.stringify(input))
  return `${safeLine(name)}(${args.length > 200 ? `${args.slice(0, 199)}…` : args})`
}

export function formatSeconds(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 59_500) return `${Math.round(ms / 1000)} s`
  const whole = Math.round(ms / 1000)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

export function formatDuration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : formatSeconds(ms)
}

export function tokensText(usage: Usage): string | undefined {
  const total = totalTokens(usage)
  if (total === undefined) return undefined
  return `${usage.complete ? "" : "~"}${plural(total, "token")}`
}

export function plural(number: number, noun: string): string {
  return `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`
}

function statusText({ status, reason, pending }: EventOf<"run-end">): string {
  if (status === "stopped") return reason ? `stopped by its limit on ${reason}` : "stopped by a limit"
  if (status === "waiting") return pending?.kind === "approval" ? "waiting for approval" : "waiting for an answer"
  return status
}

/** Returns the tokens and the cost, as far as they are known. */
export function usageTexts(usage: Usage): string[] {
  const cost = usage.costUsd === undefined ? undefined : `$${usage.costUsd.toFixed(usage.costUsd < 1 ? 4 : 2)}`
  return [tokensText(usage), cost].filter((text) => text !== undefined)
}

function formatCount(number: number): string {
  return thousandsFormat.format(number)
}

const thousandsFormat = new Intl.NumberFormat("en-US")
