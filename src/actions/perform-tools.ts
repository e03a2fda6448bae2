import { orAbort } from "../core/abort.ts"
import type { Emit } from "../core/event.ts"
import type { ToolCallPart } from "../core/message.ts"
import type { Call, MakeCall } from "../runtime/runtime.ts"
import { type Directive, type Tool, type ToolContext, type ToolResult, toolFailure } from "../tools/tool.ts"
import { callGate, type GateServices } from "./call.ts"
import { headAndTail } from "./head-and-tail.ts"
import { failureOf, type Performed, type SkipReason, skipped, toolEnd, toToolResult } from "./tool-result.ts"

export interface ToolServices extends GateServices {
  /** What this agent may use, by name: what is not here is neither offered nor made. */
  tools: ReadonlyMap<string, Tool>
  signal: AbortSignal
  toolContext: Pick<ToolContext, "workspace" | "state">
  maxOutputChars: number
  /** How many tools that may run together do. */
  maxParallelTools: number
  /** Keeps a result that is too long to show, and gives its name. */
  keepResult(text: string): Promise<string>
  /** What the model knows the place as. */
  keptIn: "variable" | "artifact"
  /** Whether the user has said something since. */
  interrupted(): boolean
}

/** What the calls of one answer came to. */
export interface ToolsOutcome {
  /** The first result that ends the run or has it wait. */
  directed?: { tool: string; call: string; directive: Directive } | undefined
  /** Those that were made and worked, in the order of the calls. */
  done: { tool: string; text: string }[]
}

/** Makes the calls of one answer: one after the other in the model's order, neighbours that may run together at once.
 *  After a directive that ends the run, or a word of the user, those that are left are answered without being made: every
 *  call has exactly one result, in the order of the calls. */
export async function performTools(
  calls: readonly ToolCallPart[],
  services: ToolServices,
  emit: Emit,
): Promise<ToolsOutcome> {
  const outcome: ToolsOutcome = { done: [] }
  let reason: SkipReason | undefined
  for (let index = 0; index < calls.length; ) {
    const group = groupFrom(calls, index, services)
    index += group.length
    if (services.signal.aborted) reason = "aborted"
    if (reason) {
      skipTools(group, reason, emit)
      continue
    }
    for (const performed of await performGroup(group, services, emit)) {
      emit(toolEnd(performed))
      note(performed, outcome)
    }
    if (outcome.directed) reason = outcome.directed.directive.kind === "ask" ? "ask" : "finish"
    else if (services.interrupted()) reason = "steering"
  }
  return outcome
}

function note({ call, result }: Performed, outcome: ToolsOutcome): void {
  const { ok, text, directive } = result
  if (ok) outcome.done.push({ tool: call.name, text })
  if (outcome.directed || !directive || directive.kind === "continue") return
  outcome.directed = { tool: call.name, call: call.id, directive }
}

/** Answers calls that are not made. */
export function skipTools(calls: readonly ToolCallPart[], reason: SkipReason, emit: Emit): void {
  for (const call of calls) {
    const result = skipped(reason)
    emit(toolEnd({ call, result, shown: result.text, durationMs: 0 }))
  }
}

// The calls from here on that may be under way together: one, or neighbours that are all marked parallel.
function groupFrom(calls: readonly ToolCallPart[], from: number, { tools }: ToolServices): readonly ToolCallPart[] {
  const parallel = (call: ToolCallPart | undefined) => call && tools.get(call.name)?.options.parallel === true
  let end = from + 1
  if (parallel(calls[from])) while (parallel(calls[end])) end++
  return calls.slice(from, end)
}

async function performGroup(group: readonly ToolCallPart[], services: ToolServices, emit: Emit): Promise<Performed[]> {
  const [only] = group
  if (only && group.length === 1) return [await performTool(only, services, emit)]
  const results: Performed[] = []
  const queue = group.entries()
  const worker = async () => {
    for (const [index, call] of queue) results[index] = await performTool(call, services, emit)
  }
  await Promise.all(Array.from({ length: Math.min(services.maxParallelTools, group.length) }, worker))
  return results
}

async function performTool(call: ToolCallPart, services: ToolServices, emit: Emit): Promise<Performed> {
  const started = services.now()
  emit({ type: "tool-start", id: call.id, name: call.name, input: call.input })
  const result = await resultOf(call, services, emit)
  const { retention, maxChars = services.maxOutputChars } = services.tools.get(call.name)?.options ?? {}
  const shown = await shownText(result.text, maxChars, services)
  return { call, result, ...shown, retained: retention === "keep", durationMs: services.now() - started }
}

async function resultOf(call: ToolCallPart, services: ToolServices, emit: Emit): Promise<ToolResult> {
  const tool = services.tools.get(call.name)
  if (!tool) return unknownTool(call.name, services.tools)
  if (typeof call.input === "string") {
    return toolFailure("invalid-json", "The arguments are not valid JSON. Send one JSON object.")
  }
  try {
    const validation = await tool.accept(call.input)
    if (!validation.ok) return toolFailure("invalid-input", validation.message)
    const { gate } = callGate(services, call.id, emit, false)
    const asked = gateCall(call, tool, validation.value, services)
    return toToolResult(await gate(asked, makeCall(asked, tool, services, emit)))
  } catch (error) {
    return failureOf(error)
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): ToolResult {
  const known = tools.size === 0 ? "There are none." : `There are: ${[...tools.keys()].join(", ")}.`
  return toolFailure("unknown-tool", `There is no tool "${name}". ${known}`)
}

function gateCall(call: ToolCallPart, tool: Tool, input: unknown, { signal }: ToolServices): Call {
  const { approve = false, maxCalls, timeoutMs } = tool.options
  return {
    id: call.id,
    binding: tool.name,
    args: [input],
    approve,
    maxCalls,
    timeoutMs,
    signal,
    async accept([given]) {
      const validation = await tool.accept(given)
      if (!validation.ok) throw new TypeError(`Invalid input of ${tool.name}: ${validation.message}`)
      return [validation.value]
    },
  }
}

function makeCall(call: Call, tool: Tool, services: ToolServices, emit: Emit): MakeCall {
  return async ({ args = call.args, signal = call.signal } = {}) => {
    const context: ToolContext = {
      ...services.toolContext,
      call: call.id,
      signal,
      progress: (text) => emit({ type: "tool-delta", id: call.id, text }),
    }
    // One that does not listen to its signal goes on alone: nobody waits for it.
    return toToolResult(await orAbort(tool.run(args[0], context), signal))
  }
}

async function shownText(
  text: string,
  maxChars: number,
  { keepResult, keptIn }: ToolServices,
): Promise<{ shown: string; kept?: string }> {
  if (text.length <= maxChars) return { shown: text }
  const kept = await keepResult(text)
  return { kept, shown: headAndTail(text, maxChars, `the whole text is in the ${keptIn} ${kept}`) }
}
