// Makes the tool calls of one answer: validates input, passes the call gate, shortens results, emits the events.
import { rejectOnAbort } from "../core/abort.ts"
import type { Emit } from "../core/event.ts"
import { copyJson, type Json } from "../core/json.ts"
import type { ToolCallPart } from "../core/message.ts"
import { bindToThisRun } from "../core/run-context.ts"
import { callThroughGate, currentCall } from "../runtime/bindings/gated-call.ts"
import { decodeArguments } from "../runtime/schema/tool-arguments.ts"
import type { Validation } from "../runtime/schema.ts"
import { parseJsonExactly } from "../runtime/show/parse-json.ts"
import { showJson } from "../runtime/show/show-value.ts"
import { type Directive, type Tool, type ToolContext, type ToolResult, toolFailure } from "../tools/tool.ts"
import { callGate, type GateServices } from "./call.ts"
import { labelRepeatedCalls } from "./call-labels.ts"
import { headAndTail, tryToKeep } from "./head-and-tail.ts"
import { collectYields } from "./result-text.ts"
import { type CountedCall, type Reservation, reserveCalls } from "./run-limits.ts"
import type { PerformedCall, SkipReason, ToolEnd } from "./tool-result.ts"
import { failureResult, InvalidInput, skippedResult, toolEndEvent, toToolResult } from "./tool-result.ts"

export interface ToolServices extends GateServices {
  signal: AbortSignal
  maxOutputChars: number
  /** The maximum number of parallel tools that run at the same time. */
  maxParallelTools: number
  /** Stores a result that is too long to show, and returns its name. `position`: see `outputPrefix`. */
  keepResult(result: unknown, position: number): Promise<string>
  /** What the model calls the place where long results are stored. */
  resultStorage: "variable" | "artifact"
  /** Whether images of results are sent to the model. */
  seesImages: boolean
  /** The tools whose first successful result ends the run. */
  stopOn: "first-tool" | readonly string[] | undefined
  /** Returns true if the user has steered the run since the last cycle. */
  hasNewSteers(): boolean
}

/** The tools that the model was offered. */
export interface AvailableTools {
  /** The allowed tools by name. No other tool is offered or called. */
  tools: ReadonlyMap<string, Tool>
  context: Pick<ToolContext, "workspace" | "state" | "messages">
}

export interface ToolsOutcome {
  /** The `tool-end` event of each call, as it was emitted, in the order of the calls. */
  ends: ToolEnd[]
  /** The first result that ends the run or makes it wait. */
  directed?: { tool: string; call: string; directive: Directive } | undefined
  /** The first successful result of a tool in `stopOn`. */
  stopped?: { tool: string; text: string } | undefined
}

/** Makes the calls of one answer in the model's order; neighbours marked parallel run at the same time. Each call has
 *  exactly one `tool-end` event, emitted when that call ends. After a directive that ends the run, or a steer of the
 *  user, the remaining calls are skipped. `finish` is skipped after a failed call, because the model has not read that
 *  result. Never throws. */
export async function performTools(
  calls: readonly ToolCallPart[],
  { tools, context }: AvailableTools,
  services: ToolServices,
  emit: Emit,
): Promise<ToolsOutcome> {
  const outcome: ToolsOutcome = { ends: [] }
  const reservation = reserveCalls(countedCalls(calls, tools), services.budgets)
  const labels = labelRepeatedCalls(calls)
  const batch: ToolBatch = { tools, context, services, reservation, labels, emit, inThisRun: bindToThisRun() }
  let reason: SkipReason | undefined
  for (let index = 0; index < calls.length; ) {
    const group = nextGroup(calls, index, tools)
    index += group.length
    if (services.signal.aborted) reason = "aborted"
    const [only] = group
    const skipped = reason ?? (only?.name === "finish" && outcome.ends.some(({ ok }) => !ok) ? "failure" : undefined)
    if (skipped) {
      for (const { id } of group) reservation.release(id)
      outcome.ends.push(...skipTools(group, skipped, emit, labels))
      continue
    }
    const all = only && group.length === 1 ? [await performTool(only, batch)] : await performTogether(group, batch)
    // The first directive in the order of the calls counts, not the first to arrive.
    for (const ended of all) addToOutcome(ended, outcome, services)
    reason = reasonToSkip(outcome, services)
  }
  return outcome
}

function reasonToSkip({ directed, stopped }: ToolsOutcome, services: ToolServices): SkipReason | undefined {
  if (directed) return directed.directive.kind === "ask" ? "ask" : "finish"
  if (stopped) return "finish"
  if (services.signal.aborted) return "aborted"
  return services.hasNewSteers() ? "steering" : undefined
}

export function skipTools(
  calls: readonly ToolCallPart[],
  reason: SkipReason,
  emit: Emit,
  labels = labelRepeatedCalls(calls),
): ToolEnd[] {
  return calls.map((call) => skipTool(call, reason, emit, labels).end)
}

function skipTool(call: ToolCallPart, reason: SkipReason, emit: Emit, labels: ToolBatch["labels"]): EndedCall {
  const result = skippedResult(reason)
  return endCall({ call, result, shown: result.text, durationMs: 0, label: labels.get(call.id) }, emit)
}

interface EndedCall extends PerformedCall {
  end: ToolEnd
}

function endCall(performed: PerformedCall, emit: Emit): EndedCall {
  const end = toolEndEvent(performed)
  emit(end)
  return { ...performed, end }
}

interface ToolBatch extends AvailableTools {
  services: ToolServices
  reservation: Reservation
  /** The short arguments of calls of a repeated tool, by the id of the call. */
  labels: ReadonlyMap<string, string>
  emit: Emit
  inThisRun: ReturnType<typeof bindToThisRun>
}

// A failed call does not end the run.
function addToOutcome({ call, result, end }: EndedCall, outcome: ToolsOutcome, { stopOn }: ToolServices): void {
  const { ok, text, directive } = result
  outcome.ends.push(end)
  if (!ok) return
  if (directive && directive.kind !== "continue") {
    outcome.directed ??= { tool: call.name, call: call.id, directive }
  } else if (stopOn === "first-tool" || stopOn?.includes(call.name)) {
    outcome.stopped ??= { tool: call.name, text }
  }
}

function countedCalls(calls: readonly ToolCallPart[], tools: AvailableTools["tools"]): CountedCall[] {
  return calls.flatMap(({ id, name }) => {
    const tool = tools.get(name)
    return !tool || tool.options.ignoresCallLimit ? [] : [{ id, binding: name, maxCalls: tool.options.maxCalls }]
  })
}

// Returns the next calls that may run at the same time: one, or neighbours that are all marked parallel.
function nextGroup(
  calls: readonly ToolCallPart[],
  from: number,
  tools: AvailableTools["tools"],
): readonly ToolCallPart[] {
  const parallel = (call: ToolCallPart | undefined) => call && tools.get(call.name)?.options.parallel === true
  let end = from + 1
  if (parallel(calls[from])) while (parallel(calls[end])) end++
  return calls.slice(from, end)
}

async function performTogether(group: readonly ToolCallPart[], batch: ToolBatch): Promise<EndedCall[]> {
  const results: EndedCall[] = []
  const soFar: ToolsOutcome = { ends: [] }
  const queue = group.entries()
  // In a journaled run, stored names must not depend on which call ends first.
  const isNumbered = batch.services.journal !== undefined
  const worker = async () => {
    for (const [index, call] of queue) {
      // Another call may have ended the run while this one waited.
      const reason = results.length > 0 ? reasonToSkip(soFar, batch.services) : undefined
      if (reason) batch.reservation.release(call.id)
      const ended = reason
        ? skipTool(call, reason, batch.emit, batch.labels)
        : await performTool(call, batch, isNumbered ? index : 0)
      results[index] = ended
      addToOutcome(ended, soFar, batch.services)
    }
  }
  await Promise.all(Array.from({ length: Math.min(batch.services.maxParallelTools, group.length) }, worker))
  return results
}

// `position` is the number of calls before this one in its group, if the stored name depends on it.
async function performTool(call: ToolCallPart, batch: ToolBatch, position = 0): Promise<EndedCall> {
  const { services, tools, emit } = batch
  const started = services.activeMs()
  emit({ type: "tool-start", id: call.id, name: call.name, input: call.input })
  const result = withoutUnseenImages(await resultOfCall(call, batch), services)
  const { retention, maxOutputChars = services.maxOutputChars } = tools.get(call.name)?.options ?? {}
  const short = result.text.length <= maxOutputChars
  const shown = short ? { shown: result.text } : await storeAndShorten(result.text, maxOutputChars, position, services)
  const durationMs = Math.round(services.activeMs() - started)
  const label = batch.labels.get(call.id)
  return endCall({ call, result, ...shown, retained: retention === "keep", durationMs, label }, emit)
}

function withoutUnseenImages(result: ToolResult, { seesImages }: ToolServices): ToolResult {
  const { text, images = [] } = result
  if (seesImages || images.length === 0) return result
  const count = images.length === 1 ? "1 image" : `${images.length} images`
  return { ...result, images: [], text: `${text}\n(${count} left out: the model cannot see images.)` }
}

async function resultOfCall(call: ToolCallPart, batch: ToolBatch): Promise<ToolResult> {
  const { services, tools, reservation } = batch
  const tool = tools.get(call.name)
  if (!tool) return unknownTool(call.name, tools)
  try {
    const given = decodeArguments(call.input ?? {})
    const accepted = validateInput(given, tool)
    const input = accepted instanceof Promise ? await rejectOnAbort(accepted, services.signal) : accepted
    if (!input.ok) {
      reservation.release(call.id)
      return toolFailure(typeof given === "string" ? "invalid-json" : "invalid-input", input.message)
    }
    const refusal = reservation.findRefusal(call.id)
    if (refusal) throw refusal
    return toToolResult(await makeCall(call, tool, input.value, batch), tool.name)
  } catch (error) {
    return failureResult(error, services.signal)
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): ToolResult {
  const known = tools.size === 0 ? "There are none." : `There are: ${[...tools.keys()].join(", ")}.`
  return toolFailure("unknown-tool", `There is no tool "${name}". ${known}`)
}

function validateInput(input: Json, tool: Tool): Validation | Promise<Validation> {
  // A copy, so that hooks and tools cannot change the message of the model.
  if (typeof input !== "string") return tool.accept(copyJson(input))
  return { ok: false, message: "The arguments are not valid JSON. Send one JSON object." }
}

function makeCall(call: ToolCallPart, tool: Tool, input: unknown, batch: ToolBatch): Promise<unknown> {
  const { services, context: shared, emit, inThisRun } = batch
  const { gate } = callGate(services, call.id, emit, true)
  return callThroughGate(
    {
      id: call.id,
      binding: tool.name,
      args: [input],
      options: { ...tool.options, journal: tool.options.journal ?? tool.options.sideEffect !== false },
      signal: services.signal,
      async accept([given]) {
        const validation = await tool.accept(given)
        if (!validation.ok) throw new InvalidInput(`Invalid input of ${tool.name}: ${validation.message}`)
        return [validation.value]
      },
      async make([given]) {
        const { signal } = currentCall() ?? services
        const context: ToolContext = {
          ...shared,
          call: call.id,
          signal,
          progress: (text) => emit({ type: "tool-delta", id: call.id, text }),
        }
        // Runs that the tool starts end with the call if the call has its own time limit, otherwise with the run.
        const run = () => tool.run(given, context)
        const result = signal === services.signal ? run() : inThisRun(signal, run)
        // A tool that ignores its signal continues unattended; nothing waits for it.
        const value: unknown = isPromise(result) ? await rejectOnAbort(result, signal) : result
        return toToolResult(await rejectOnAbort(collectYields(value, signal), signal), tool.name)
      },
    },
    gate,
  )
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value
}

// JSON is shortened per field, other text in the middle.
async function storeAndShorten(text: string, maxChars: number, position: number, services: ToolServices) {
  const { resultStorage } = services
  const fields = showJson(text, maxChars)
  // In a variable, the data itself is more useful than its text.
  const data = fields && resultStorage === "variable" ? parseIfExact(text) : undefined
  const { keptName, where } = await tryToKeep(services.keepResult(data ?? text, position), resultStorage)
  const isArtifact = keptName !== undefined && resultStorage === "artifact"
  if (fields) {
    const more = isArtifact ? ": read_artifact reads it from start, or one field by path" : ""
    return { keptName, shown: `${fields.text}\n… shortened; the whole ${data ? "value" : "text"} ${where}${more}` }
  }
  const more = (shown: number) => (isArtifact ? `, read on with read_artifact from start ${shown}` : "")
  return { keptName, shown: headAndTail(text, maxChars, (shown) => `the whole text ${where}${more(shown)}`) }
}

/** Returns undefined if a number of the text would be rounded. */
function parseIfExact(json: string): object | undefined {
  let isExact = true
  const data = parseJsonExactly(json, (source) => {
    const number = Number(source)
    isExact &&= Math.abs(number) <= Number.MAX_SAFE_INTEGER && source.length < maxExactDigits
    return number
  })
  return isExact ? data : undefined
}

const maxExactDigits = 16
