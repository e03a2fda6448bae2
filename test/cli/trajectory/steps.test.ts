import assert from "node:assert/strict"
import { test } from "node:test"
import { selectSteps } from "../../../src/cli/trajectory/select-steps.ts"
import { allSteps, type Step, stepsOf } from "../../../src/cli/trajectory/steps.ts"
import type { AgentEvent, EventBody } from "../../../src/core/event.ts"
import { userMessage } from "../../../src/core/message.ts"
import type { Step as CliStep } from "../../../src/providers/provider.ts"
import { createStepRecorder } from "../../../src/providers/turn/steps-to-events.ts"

const usage = { complete: true }

function start(run: string, prompt: string, parent?: string): AgentEvent[] {
  return stamp(run, parent, [
    { type: "run-start", agent: run, messages: [userMessage(prompt)], metadata: {} },
    { type: "cycle-start", cycle: 1 },
  ])
}

function answer(run: string, text: string, parent?: string): AgentEvent[] {
  const message = { id: text, role: "assistant" as const, parts: [{ type: "text" as const, text }] }
  return stamp(run, parent, [{ type: "message-end", message, finish: "stop", usage }])
}

function stamp(run: string, parent: string | undefined, bodies: EventBody[]): AgentEvent[] {
  return bodies.map((body, seq) => ({ ...body, run, seq, at: 0, ...(parent !== undefined && { parent }) }))
}

const outline = (steps: readonly Step[]) => allSteps(steps).map(({ address, text }) => `${address} ${text}`)

test("steps of sub-agents of sub-agents are below the step that started them, also if they go on after it", () => {
  const steps = stepsOf([
    ...start("lead", "Go"),
    ...answer("lead", "I delegate"),
    ...start("helper", "Help", "lead"),
    ...answer("helper", "I delegate too", "lead"),
    ...start("third", "Count", "helper"),
    ...answer("lead", "Meanwhile"),
    ...answer("third", "Three", "helper"),
    ...answer("helper", "It is three", "lead"),
    ...answer("lead", "Three in all"),
  ])
  assert.deepEqual(outline(steps), [
    "1 Go",
    "2 I delegate",
    "2/1 Help",
    "2/2 I delegate too",
    "2/2/1 Count",
    "2/2/2 Three",
    "2/3 It is three",
    "3 Meanwhile",
    "4 Three in all",
  ])
  assert.deepEqual(
    selectSteps(steps, "2/2/1-2, 4").map(({ text }) => text),
    ["Count", "Three", "Three in all"],
  )
})

test("sub-agents and tool calls of a coding CLI are steps and actions too", () => {
  const events = start("cli", "Look")
  const emit = (body: EventBody): AgentEvent => {
    const event: AgentEvent = { ...body, run: "cli", seq: events.length, at: 0 }
    events.push(event)
    return event
  }
  const recorder = createStepRecorder({
    control: { id: "cli", emit, forward: (event) => void events.push(event) },
    source: "claude",
    now: () => 0,
  })
  const reported: CliStep[] = [
    { type: "call", id: "c1", name: "Task", input: { prompt: "Find it" } },
    { type: "agent", id: "c1" },
    { type: "call", id: "c2", name: "Grep", input: { pattern: "x" }, within: "c1" },
    { type: "result", id: "c2", ok: false, text: "nothing", within: "c1" },
    { type: "text", text: "Not there", within: "c1" },
    { type: "result", id: "c1", ok: true, text: "Not there" },
    { type: "text", text: "It is not there" },
  ]
  for (const step of reported) recorder.record(step)
  recorder.finish()
  const steps = stepsOf(events)
  const all = allSteps(steps)
  assert.deepEqual(
    all.flatMap(({ actions }) => actions.map(({ tool, ok }) => [tool, ok])),
    [
      ["Task", true],
      ["Grep", false],
    ],
  )
  const task = all.find(({ actions }) => actions.some(({ tool }) => tool === "Task"))
  assert.ok(task?.children.some(({ text }) => text === "Not there"))
  assert.equal(steps.at(-1)?.text, "It is not there")
})

test("a run that failed is a step, with the warnings before it", () => {
  const error = { name: "ModelError", message: "The service is down." }
  const steps = stepsOf([
    ...start("lead", "Go"),
    ...stamp("lead", undefined, [
      { type: "warning-raised", code: "retry", message: "Tried again." },
      { type: "run-end", status: "failed", output: "", cycles: 1, usage, error },
    ]),
  ])
  assert.deepEqual(
    steps.map(({ kind, text, notes }) => [kind, text, notes]),
    [
      ["user", "Go", []],
      ["end", "failed: The service is down.", ["warning: Tried again."]],
    ],
  )
})
