// karst/otel: OpenTelemetry spans from a run's events.
import type { Context, Span, Tracer } from "@opentelemetry/api"
import { checkOptions, mustBeBoolean, mustBeObject } from "./core/checks/check-options.ts"
import type { AgentEvent, EventOf } from "./core/event.ts"
import { importOptionalPackage } from "./core/optional-package.ts"
import {
  chatAttributes,
  describeSpan,
  errorAttributes,
  messagesJson,
  type SpanStart,
  schemaUrl,
  systemJson,
  usageAttributes,
} from "./otel/span-attributes.ts"

export interface TraceOptions {
  /** Default: a tracer of the globally registered provider. */
  tracer?: Tracer | undefined
  /** Puts prompts, answers, code, arguments and results on the spans. Default false: names, counts and times only. */
  content?: boolean | undefined
}

/** Returns an observer for `onEvent` of an agent, a session or a run. It creates spans with GenAI attributes for the
 *  run, its cycles, model calls, tool calls, cells, and the calls that cells make. Runs started by a run are child
 *  spans. One observer can serve any number of agents; it ignores an event that it receives twice. Rejects with a
 *  `MissingPackageError` if `@opentelemetry/api` is not installed. */
export async function traced(options: TraceOptions = {}): Promise<(event: AgentEvent) => void> {
  checkOptions("traced()", options, { tracer: mustBeObject, content: mustBeBoolean })
  const api = toApi(await importOptionalPackage("@opentelemetry/api", "traces (karst/otel)"))
  const tracer = options.tracer ?? api.trace.getTracerProvider().getTracer("karst", undefined, { schemaUrl })
  const runs = new Map<string, RunTrace>()
  return (event) => {
    const known = runs.get(event.run)
    if (event.type === "run-start") {
      if (known) return
      const parentTrace = event.parent === undefined ? undefined : runs.get(event.parent)
      const within = parentTrace?.innermostContext() ?? api.context.active()
      runs.set(event.run, createRunTrace(event, { api, tracer, within, content: options.content ?? false }))
      return
    }
    // If a child run has the same observer as its parent, its events arrive twice.
    if (!known || event.seq <= known.seq) return
    known.seq = event.seq
    known.onEvent(event)
    if (event.type === "run-end") runs.delete(event.run)
  }
}

type Api = typeof import("@opentelemetry/api")

// The package is CommonJS: its names are on the module or on its default export, depending on how it is loaded.
function toApi(module: Record<string, unknown>): Api {
  const api = "trace" in module ? module : module.default
  return api as Api
}

interface TraceContext {
  api: Api
  tracer: Tracer
  /** The context of the parent span. */
  within: Context
  content: boolean
}

interface RunTrace {
  /** The sequence number of the latest event. */
  seq: number
  onEvent(event: AgentEvent): void
  /** Returns the context of the action in progress, if there is exactly one; otherwise that of the cycle or run. */
  innermostContext(): Context
}

interface OpenSpan {
  span: Span
  context: Context
}

function createRunTrace(start: EventOf<"run-start">, { api, tracer, within, content }: TraceContext): RunTrace {
  const { INTERNAL, CLIENT } = api.SpanKind
  const run = open(describeSpan.run(start), within, start.at, content ? runContent(start) : {})
  const actions = new Map<string, OpenSpan & { within: Context }>()
  let cycle: OpenSpan | undefined
  let modelCall: ModelCall | undefined

  function open(
    { name, attributes, kind = INTERNAL }: { name: string; attributes: Attributes; kind?: number },
    parent: Context,
    at: number,
    more: Attributes = {},
  ): OpenSpan {
    const span = tracer.startSpan(
      name,
      { kind, startTime: new Date(at), attributes: { ...attributes, ...more } },
      parent,
    )
    return { span, context: api.trace.setSpan(parent, span) }
  }

  const enclosing = () => cycle ?? run

  function openAction(id: string, described: SpanStart, parent: Context, at: number): void {
    actions.set(id, { ...open(described, parent, at), within: parent })
  }

  function endAction(id: string, at: number, failure: Failure | undefined, more: Attributes = {}): void {
    const action = actions.get(id)
    if (!action) return
    actions.delete(id)
    action.span.setAttributes(more)
    end(action.span, at, failure)
  }

  function end(span: Span, at: number, failure?: Failure): void {
    if (failure) {
      span.setAttributes(errorAttributes(failure))
      span.setStatus({ code: api.SpanStatusCode.ERROR, message: failure.message })
      span.recordException({ name: failure.type, message: failure.message }, new Date(at))
    }
    span.end(new Date(at))
  }

  // The span of a model call is created when it ends, because only then its attributes are known.
  function endModelCall(at: number, answer: EventOf<"message-end"> | undefined, failure?: Failure): void {
    if (!modelCall || !cycle) return
    const { since, first, retries } = modelCall
    modelCall = undefined
    const kind = { kind: CLIENT, ...describeSpan.chat(start.model) }
    const { span } = open(
      kind,
      cycle.context,
      since,
      chatAttributes(answer, first === undefined ? undefined : first - since),
    )
    for (const { code, message, at: when } of retries) span.addEvent("karst.warning", { code, message }, new Date(when))
    if (content && answer) span.setAttribute("gen_ai.output.messages", messagesJson([answer.message], answer.finish))
    end(span, at, failure ?? (answer?.finish === "error" ? brokenOffFailure : undefined))
  }

  function endCycle(at: number, failure?: Failure): void {
    endModelCall(modelCall?.until ?? at, undefined, failure)
    cycle?.span.end(new Date(at))
    cycle = undefined
  }

  function onEvent(event: AgentEvent): void {
    const { at } = event
    switch (event.type) {
      case "cycle-start":
        endCycle(at)
        cycle = open({ name: "cycle", attributes: { "karst.cycle": event.cycle } }, run.context, at)
        modelCall = { since: at, retries: [] }
        return
      case "text-delta":
      case "reasoning-delta":
      case "code-start":
        if (modelCall) modelCall.first ??= at
        return
      case "message-end": {
        endModelCall(at, event)
        const code = event.message.parts.find((part) => part.type === "code")
        if (code)
          openAction(code.id, describeSpan.cell(code.id, content ? code.code : undefined), enclosing().context, at)
        return
      }
      case "code-end":
        return endAction(event.id, at, event.ok ? undefined : failureOf(event.error), resultText(event))
      case "tool-start":
        return openAction(event.id, describeSpan.tool(event, content), enclosing().context, at)
      case "tool-end":
        if (!actions.has(event.id)) enclosing().span.addEvent("karst.tool-skipped", { name: event.name }, new Date(at))
        return endAction(event.id, at, event.ok ? undefined : failureOf(event.error), resultText(event))
      case "call-start":
        return openAction(
          event.id,
          describeSpan.call(event, content),
          (actions.get(event.within) ?? enclosing()).context,
          at,
        )
      case "call-end":
        return endAction(event.id, at, event.ok ? undefined : { type: "throw", message: event.error ?? "It failed." })
      case "approval-requested":
      case "approval-resolved": {
        const details = event.type === "approval-resolved" ? { decision: event.decision } : {}
        ;(actions.get(event.id) ?? enclosing()).span.addEvent(`karst.${event.type}`, details, new Date(at))
        return
      }
      case "memory-compacted":
        enclosing().span.addEvent("karst.memory-compacted", { tier: event.tier }, new Date(at))
        // The model request itself starts only now.
        if (modelCall) modelCall.since = at
        return
      case "skill-activated":
        enclosing().span.addEvent("karst.skill-activated", { name: event.name }, new Date(at))
        return
      case "warning-raised":
        if (modelCall && event.code === "model-retried") modelCall.retries.push(event)
        else enclosing().span.addEvent("karst.warning", { code: event.code, message: event.message }, new Date(at))
        return
      case "cycle-end":
        // If there was no answer, the reason is known when the run ends.
        if (modelCall) modelCall.until = at
        else endCycle(at)
        return
      case "run-end":
        return endRun(event)
      default:
    }
  }

  function endRun(event: EventOf<"run-end">): void {
    const { at, status, error, reason, cycles, usage } = event
    const failure = error && { type: error.code ?? error.name, message: error.message }
    for (const id of [...actions.keys()].reverse()) endAction(id, at, undefined)
    endCycle(modelCall?.until ?? at, failure)
    run.span.setAttributes({
      "karst.status": status,
      "karst.cycles": cycles,
      ...(reason && { "karst.stop_reason": reason }),
      ...usageAttributes(usage),
      ...(content && { "gen_ai.output.messages": messagesJson([answerOf(event)], "stop") }),
    })
    end(run.span, at, failure)
  }

  function resultText(event: EventOf<"code-end" | "tool-end">): Attributes {
    return content ? { "gen_ai.tool.call.result": event.text } : {}
  }

  return {
    seq: start.seq,
    onEvent,
    innermostContext() {
      const outer = new Set([...actions.values()].map((action) => action.within))
      const leaves = [...actions.values()].filter((action) => !outer.has(action.context))
      const [only] = leaves
      return only && leaves.length === 1 ? only.context : enclosing().context
    },
  }
}

type Attributes = Record<string, string | number | boolean | string[]>

interface Failure {
  type: string
  message: string
}

interface ModelCall {
  since: number
  first?: number
  until?: number
  retries: EventOf<"warning-raised">[]
}

const brokenOffFailure: Failure = { type: "incomplete", message: "The answer broke off." }

function failureOf(error: EventOf<"code-end">["error"]): Failure {
  return { type: error?.code ?? error?.kind ?? "_OTHER", message: error?.message ?? "It failed." }
}

function runContent({ messages, system }: EventOf<"run-start">): Attributes {
  return {
    "gen_ai.input.messages": messagesJson(messages),
    ...(system !== undefined && { "gen_ai.system_instructions": systemJson(system) }),
  }
}

function answerOf({ output, run }: EventOf<"run-end">) {
  return { id: run, role: "assistant" as const, parts: [{ type: "text" as const, text: output }] }
}
