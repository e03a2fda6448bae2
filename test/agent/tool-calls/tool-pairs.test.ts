import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { ModelPart } from "../../../src/models/model.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { type Tool, tool, toolFailure, toolResult } from "../../../src/tools/tool.ts"
import fc from "../../property.ts"
import { callsIn, resultsIn, toolEnds } from "../tool-call-helpers.ts"

type Step = keyof typeof steps

const hang = () => new Promise<never>(() => undefined)

// One generated call: the name and input as the model writes them, and what the tool does.
const steps = {
  ok: () => "fine",
  later: () => new Promise<string>((done) => setImmediate(done, "later")),
  long: () => "much ".repeat(3000),
  throws() {
    throw new Error("broken")
  },
  fails: () => toolFailure("no", "No."),
  hangs: hang,
  ends: () => toolResult({ text: "end", directive: { kind: "finish", message: "ended" } }),
  asks: () => toolResult({ text: "ask", directive: { kind: "ask", question: "Well?" } }),
  steers: "steers",
  aborts: "aborts",
  unknown: "unknown",
  badJson: "badJson",
  badInput: "badInput",
  dear: () => "dear",
} as const

const names = Object.keys(steps) as Step[]

const scriptOf = fc.array(
  fc.record({
    calls: fc.array(
      fc.record({
        step: fc.constantFrom(...names),
        parallel: fc.boolean(),
        id: fc.constantFrom("", " ", "call_0", "call_1", "call_2"),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    code: fc.boolean(),
    // The stream may break off after some of the parts.
    breaks: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
)

test("every call has exactly one result, in the order of the calls, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(scriptOf, fc.boolean(), async (script, writesCode) => {
      const answers = script.map(({ calls, code, breaks }): (ModelPart | Error)[] => [
        ...(code && writesCode ? [{ type: "text", text: "```ts\n1\n```\n" } as const] : []),
        ...calls.map(toCall),
        ...(breaks ? [new Error("connection lost")] : []),
      ])
      const model = scriptedModel([...answers, "The end."])
      const tools = names.flatMap((step) => [toolOf(step, false, word), toolOf(step, true, word)])
      const runtime = writesCode ? jsRuntime() : undefined
      const limits = { cycles: 6, callsByName: { dear: 1, dear_p: 1 }, calls: 12 }
      const agent = createAgent({ model, tools, runtime, limits, noTool: "answer", maxParallelTools: 2 })
      function word(step: Step): void {
        if (step === "steers") run.steer("Listen.")
        if (step === "aborts") run.abort()
      }
      const run = agent.run("go")
      const { messages, trajectory } = await run.settled

      const asked = callsIn(messages).map(({ id }) => id)
      assert.deepEqual(
        resultsIn(messages).map(({ id }) => id),
        asked,
      )
      assert.equal(new Set(asked).size, asked.length)
      // Parallel calls may end in a different order than the model asked for.
      assert.deepEqual(
        toolEnds(trajectory.events)
          .map(({ id }) => id)
          .toSorted(),
        asked.toSorted(),
      )
      // A result follows its call before the next message of the model.
      let open = new Set<string>()
      for (const message of messages) {
        if (message.role === "assistant") {
          assert.equal(open.size, 0)
          open = new Set(callsIn([message]).map(({ id }) => id))
        }
        for (const { id } of resultsIn([message])) assert.ok(open.delete(id))
      }
      assert.equal(open.size, 0)
      assert.equal(trajectory.events.filter(({ type }) => type === "run-end").length, 1)
    }),
    { numRuns: 150 },
  )
})

function toCall({ step, parallel, id }: { step: Step; parallel: boolean; id: string }): ModelPart {
  const name = step === "unknown" ? "nowhere" : nameOf(step, parallel)
  const input = step === "badJson" ? '{"n": ' : step === "badInput" ? { n: "x" } : { n: 1 }
  return { type: "tool-call", id, name, input }
}

function nameOf(step: Step, parallel: boolean): string {
  return parallel ? `${step}_p` : step
}

function toolOf(step: Step, parallel: boolean, word: (step: Step) => void): Tool {
  return tool({
    name: nameOf(step, parallel),
    description: step,
    input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    parallel,
    timeoutMs: step === "hangs" ? 2 : undefined,
    run() {
      const does = steps[step]
      word(step)
      return typeof does === "string" ? does : does()
    },
  })
}
