import assert from "node:assert/strict"
import { AsyncLocalStorage } from "node:async_hooks"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { promisify } from "node:util"
import { type Context, type ContextManager, context, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api"
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base"
import { createAgent } from "../src/agent/create-agent.ts"
import { ModelError } from "../src/core/errors.ts"
import type { AgentEvent } from "../src/core/event.ts"
import { scriptedModel } from "../src/models/scripted.ts"
import { traced } from "../src/otel.ts"
import { jsRuntime } from "../src/runtime/js.ts"
import { delegateTools } from "../src/tools/delegate.ts"
import { tool, toolFailure } from "../src/tools/tool.ts"
import { cell } from "./agent/scripted-agents.ts"
import { call } from "./tools/delegate-case.ts"

const usage = { input: 10, output: 5, cacheRead: 4, complete: true }

/** Returns a tracer of the real SDK, and the spans it has exported. */
function recorder() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  after(() => provider.shutdown())
  return { tracer: provider.getTracer("test"), spans: () => exporter.getFinishedSpans(), provider }
}

/** Returns the tree of spans as indented names, in order of their start. */
function tree(spans: readonly ReadableSpan[]): string[] {
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter((span) => span.parentSpanContext?.spanId === parent)
      .toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .flatMap((span) => [`${"  ".repeat(depth)}${span.name}`, ...below(span.spanContext().spanId, depth + 1)])
  return below(undefined, 0)
}

function only(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const found = spans.filter((span) => span.name === name)
  assert.equal(found.length, 1, `${found.length} spans "${name}" among ${spans.map((span) => span.name).join(", ")}`)
  return found[0] ?? assert.fail()
}

/** Returns a clock that advances by one millisecond per reading. */
function ticking() {
  let now = Date.UTC(2030, 0, 1)
  return () => now++
}

describe("a run as spans", () => {
  test("has a span for the run, each cycle, model call, cell and call, one inside the other", async () => {
    const { tracer, spans } = recorder()
    const agent = createAgent({
      name: "lamp",
      model: scriptedModel([cell("await dim(20)"), "Dimmed."], { id: "openai/gpt-5.2", usage }),
      runtime: jsRuntime({ dim: (percent: number) => percent }),
      onEvent: await traced({ tracer }),
      now: ticking(),
    })
    await agent.run("Dim it")
    assert.deepEqual(tree(spans()), [
      "invoke_agent lamp",
      "  cycle",
      "    chat gpt-5.2",
      "    execute_tool code",
      "      call dim",
      "  cycle",
      "    chat gpt-5.2",
    ])
    const run = only(spans(), "invoke_agent lamp")
    assert.equal(run.attributes["gen_ai.operation.name"], "invoke_agent")
    assert.equal(run.attributes["gen_ai.provider.name"], "openai")
    assert.equal(run.attributes["gen_ai.usage.input_tokens"], 20)
    assert.equal(run.attributes["karst.status"], "done")
    const [chat] = spans().filter(({ name }) => name === "chat gpt-5.2")
    assert.equal(chat?.kind, 2, "a client span")
    assert.equal(chat?.attributes["gen_ai.request.model"], "gpt-5.2")
    assert.equal(chat?.attributes["gen_ai.usage.cache_read.input_tokens"], 4)
    assert.deepEqual(chat?.attributes["gen_ai.response.finish_reasons"], ["stop"])
    assert.ok(Number(chat?.attributes["gen_ai.response.time_to_first_chunk"]) > 0)
  })

  test("has a span for each tool call, and none for one that was not made", async () => {
    const { tracer, spans } = recorder()
    const steps = [[...call("look"), ...call("finish", { message: "Done." }), ...call("look", {}, "late")]]
    const agent = createAgent({
      noTool: "continue",
      model: scriptedModel(steps, { usage }),
      tools: [tool({ name: "look", description: "Looks", run: () => "seen" })],
      onEvent: await traced({ tracer }),
    })
    await agent.run("go")
    const look = only(spans(), "execute_tool look")
    assert.equal(look.attributes["gen_ai.tool.call.id"], "look-1")
    assert.equal(look.attributes["gen_ai.tool.type"], "function")
    only(spans(), "execute_tool finish")
    const skipped = only(spans(), "cycle").events.map(({ name }) => name)
    assert.deepEqual(skipped, ["karst.tool-skipped"])
  })

  test("nests the runs that a run starts in the call that started them, also when both have the observer", async () => {
    const { tracer, spans } = recorder()
    const onEvent = await traced({ tracer })
    const child = (name: string) => createAgent({ name, model: scriptedModel([`I am ${name}.`]), onEvent })
    const tasks = ["a", "b"].map((agent) => ({ agent, prompt: "go" }))
    const boss = createAgent({
      noTool: "continue",
      name: "boss",
      model: scriptedModel([call("delegate", { tasks }), call("finish", { message: "Done." })]),
      tools: delegateTools({ a: child("a"), b: child("b") }),
      onEvent,
    })
    await boss.run("go")
    const delegate = only(spans(), "execute_tool delegate")
    for (const name of ["invoke_agent a", "invoke_agent b"]) {
      assert.equal(only(spans(), name).parentSpanContext?.spanId, delegate.spanContext().spanId)
    }
    const traces = new Set(spans().map((span) => span.spanContext().traceId))
    assert.equal(traces.size, 1)
  })

  test("two runs at once are two traces", async () => {
    const { tracer, spans } = recorder()
    const agent = createAgent({ model: scriptedModel(() => "Done."), onEvent: await traced({ tracer }) })
    await Promise.all([agent.run("a"), agent.run("b")])
    assert.equal(new Set(spans().map((span) => span.spanContext().traceId)).size, 2)
    assert.equal(spans().length, 6)
  })

  test("begins in the trace that is active where the run is started", async () => {
    const manager = localContexts()
    context.setGlobalContextManager(manager)
    after(() => context.disable())
    const { tracer, spans } = recorder()
    const agent = createAgent({ name: "inner", model: scriptedModel(["Done."]), onEvent: await traced({ tracer }) })
    const request = tracer.startSpan("request")
    await context.with(trace.setSpan(ROOT_CONTEXT, request), () => agent.run("go").settled)
    request.end()
    const run = only(spans(), "invoke_agent inner")
    assert.equal(run.parentSpanContext?.spanId, request.spanContext().spanId)
  })
})

describe("what goes wrong", () => {
  test("is on the span of the cell, tool or call that failed, with its kind and message", async () => {
    const { tracer, spans } = recorder()
    const agent = createAgent({
      model: scriptedModel([cell("await wipe()"), call("look"), "Sorry."]),
      runtime: jsRuntime({
        wipe() {
          throw new RangeError("too much")
        },
      }),
      tools: [tool({ name: "look", description: "Looks", run: () => toolFailure("too-dark", "Nothing to see.") })],
      onEvent: await traced({ tracer }),
    })
    await agent.run("go")
    const failed = (name: string) => {
      const { status, attributes, events } = only(spans(), name)
      assert.equal(status.code, SpanStatusCode.ERROR)
      assert.equal(events[0]?.name, "exception")
      return [attributes["error.type"], status.message]
    }
    assert.deepEqual(failed("call wipe"), ["throw", "RangeError: too much"])
    assert.equal(failed("execute_tool code")[0], "throw")
    assert.deepEqual(failed("execute_tool look"), ["too-dark", "Nothing to see."])
    assert.equal(only(spans(), "invoke_agent agent").status.code, SpanStatusCode.UNSET)
  })

  test("a model that fails is an error of its call and of the run, with the retries before it", async () => {
    const { tracer, spans } = recorder()
    const error = new ModelError("It is down.", { code: "overloaded", retryable: true })
    const model = scriptedModel([
      ({ onRetry }) => {
        onRetry?.({ attempt: 1, delayMs: 0, error })
        return error
      },
    ])
    const agent = createAgent({ name: "a", model, onEvent: await traced({ tracer }) })
    await agent.run("go").settled
    for (const name of ["chat model", "invoke_agent a"]) {
      const { status, attributes } = only(spans(), name)
      assert.deepEqual([status.code, attributes["error.type"]], [SpanStatusCode.ERROR, "overloaded"], name)
    }
    assert.deepEqual(
      only(spans(), "chat model").events.map(({ name }) => name),
      ["karst.warning", "exception"],
    )
  })

  test("an aborted run ends all its spans and is no error", async () => {
    const { tracer, spans } = recorder()
    const agent = createAgent({
      noTool: "continue",
      name: "a",
      model: scriptedModel([call("wait")]),
      tools: [
        tool({
          name: "wait",
          description: "Waits",
          run: () => {
            run.abort()
            return new Promise(() => undefined)
          },
        }),
      ],
      onEvent: await traced({ tracer }),
    })
    const run = agent.run("go")
    await run.settled
    const { status, attributes } = only(spans(), "invoke_agent a")
    assert.deepEqual([status.code, attributes["karst.status"]], [SpanStatusCode.UNSET, "aborted"])
    only(spans(), "execute_tool wait")
    only(spans(), "cycle")
  })

  test("a missing API package is named with its cure", async () => {
    const directory = await mkdtemp(join(tmpdir(), "karst-otel-"))
    after(() => rm(directory, { recursive: true }))
    const code = `
      import { registerHooks } from "node:module"
      registerHooks({ resolve(specifier, context, next) {
        if (specifier === "@opentelemetry/api") throw Object.assign(new Error("Cannot find package '@opentelemetry/api'"), { code: "ERR_MODULE_NOT_FOUND" })
        return next(specifier, context)
      } })
      const { traced } = await import(${JSON.stringify(new URL("../src/otel.ts", import.meta.url).href)})
      try { await traced() } catch (error) { console.log(error.name, error.message) }`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], {
      cwd: directory,
    })
    assert.match(stdout, /^MissingPackageError .*npm install @opentelemetry\/api/)
  })
})

describe("what was said", () => {
  const secret = "the launch code is 0000"

  async function spansOf(content: boolean | undefined) {
    const { tracer, spans } = recorder()
    const agent = createAgent({
      model: scriptedModel([cell(`print // ${secret}`), call("look", { at: secret }), secret]),
      instructions: secret,
      runtime: jsRuntime({ print: secret }),
      tools: [
        tool({
          name: "look",
          description: "Looks",
          input: { type: "object", properties: { at: { type: "string" } } },
          run: () => secret,
        }),
      ],
      onEvent: await traced({ tracer, content }),
    })
    await agent.run(secret)
    return spans()
  }

  test("is on no span unless it is asked for", async () => {
    const spans = await spansOf(undefined)
    for (const span of spans) {
      assert.ok(!JSON.stringify([span.name, span.attributes, span.events]).includes(secret), span.name)
    }
  })

  test("is on the spans in the form of the conventions where it is asked for", async () => {
    const spans = await spansOf(true)
    const { attributes } = only(spans, "invoke_agent agent")
    assert.deepEqual(JSON.parse(String(attributes["gen_ai.input.messages"])), [
      { role: "user", parts: [{ type: "text", content: secret }] },
    ])
    assert.match(String(attributes["gen_ai.system_instructions"]), new RegExp(secret))
    assert.match(String(attributes["gen_ai.output.messages"]), new RegExp(secret))
    const look = only(spans, "execute_tool look").attributes
    assert.equal(look["gen_ai.tool.call.arguments"], JSON.stringify({ at: secret }))
    assert.equal(look["gen_ai.tool.call.result"], secret)
    assert.match(String(only(spans, "execute_tool code").attributes["gen_ai.tool.call.arguments"]), new RegExp(secret))
  })
})

test("the observer is a function of the events: a recording gives the same spans with the times of then", async () => {
  const events: AgentEvent[] = []
  const agent = createAgent({
    model: scriptedModel([cell("1 + 1"), "Two."]),
    onEvent: (event) => events.push(structuredClone(event)),
    now: ticking(),
  })
  await agent.run("go")
  const { tracer, spans } = recorder()
  const observe = await traced({ tracer })
  for (const event of events) observe(event)
  assert.deepEqual(tree(spans()), [
    "invoke_agent agent",
    "  cycle",
    "    chat model",
    "    execute_tool code",
    "  cycle",
    "    chat model",
  ])
  const run = only(spans(), "invoke_agent agent")
  assert.equal(run.startTime[0], Math.floor((events[0]?.at ?? 0) / 1000))
})

test("without a tracer the globally registered provider is used, under the pinned version of the conventions", async () => {
  const { provider, spans } = recorder()
  trace.setGlobalTracerProvider(provider)
  after(() => trace.disable())
  await createAgent({ model: scriptedModel(["Done."]), onEvent: await traced() }).run("go")
  const [first] = spans()
  assert.deepEqual(
    [first?.instrumentationScope.name, first?.instrumentationScope.schemaUrl],
    ["karst", "https://opentelemetry.io/schemas/1.41.0"],
  )
})

/** Contexts that follow awaits, as the SDK for Node provides them. */
function localContexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...args) => storage.run(active, () => work.apply(self, args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}
