// The programs of docs/observability.md, each run as it is shown there.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { test } from "node:test"
import { trace } from "@opentelemetry/api"
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
// #region traces
import { createAgent } from "karst"
import { traced } from "karst/otel" // npm install @opentelemetry/api
// #endregion
import type { AgentEvent } from "../../src/core/event.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { delegateTools } from "../../src/tools/delegate.ts"
import { cell } from "../agent/scripted-agents.ts"
import { delegate } from "../tools/delegate-case.ts"
import { workIn } from "./surroundings.ts"

test("a run is a tree of spans of the registered provider, as the page shows it", async (t) => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  t.after(() => provider.shutdown())
  const id = "openai/gpt-5.2"
  const model = scriptedModel([delegate(["writer: Write."]), cell("await query('select 1')"), "Done."], { id })
  const runtime = jsRuntime({ query: fn((sql: string) => sql) })
  const writer = createAgent({ name: "writer", model: scriptedModel(["Written."], { id }) })
  // #region traces
  const onEvent = await traced() // uses the tracer of your registered provider, or { tracer }
  const agent = createAgent({ model, runtime, onEvent })
  // #endregion
  await agent.with({ name: "lead", tools: delegateTools({ writer }) }).run("Go")
  const spans = exporter.getFinishedSpans()
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter((span) => span.parentSpanContext?.spanId === parent)
      .toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .flatMap((span) => [`${"  ".repeat(depth)}${span.name}`, ...below(span.spanContext().spanId, depth + 1)])
  const page = await readFile(new URL("../../docs/observability.md", import.meta.url), "utf8")
  const [, tree = ""] = /^```\n(invoke_agent lead[\s\S]*?)^```$/m.exec(page) ?? []
  // A line of the page is a span and what it is, or stands for the spans of the writer.
  const shown = tree
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/(\S) {2,}\S.*$/, "$1"))
  const made = below(undefined, 0)
  const ofWriter = made.filter((line) => line.startsWith("        "))
  assert.deepEqual(ofWriter, ["        cycle", "          chat gpt-5.2"])
  const expected = shown.flatMap((line) => (line.trim() === "…" ? ofWriter : line))
  assert.deepEqual(made, [...expected, "  cycle", "    chat gpt-5.2"])
})

test("events are written as lines of JSON, without deltas", async (t) => {
  await workIn(t)
  const { trajectory } = await import("./observability/event-log.ts")
  const lines = (await readFile("events.jsonl", "utf8")).trimEnd().split("\n")
  const events: AgentEvent[] = lines.map((line) => JSON.parse(line))
  assert.equal(events.at(-1)?.type, "run-end")
  assert.deepEqual(events, JSON.parse(JSON.stringify(trajectory.events)))
})
