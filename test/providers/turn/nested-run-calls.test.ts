// test lane: clis
import assert from "node:assert/strict"
import { describe, mock, test } from "node:test"
import type { AgentEvent } from "../../../src/core/event.ts"
import { createRunApprovals } from "../../../src/core/run-approvals.ts"
import type { RunContext } from "../../../src/core/run-context.ts"
import { createCallContext, createCallFinder } from "../../../src/providers/turn/nested-run-calls.ts"

/** A run that collects the events forwarded to it. */
function collectingRun(): { run: RunContext; events: AgentEvent[] } {
  const events: AgentEvent[] = []
  const run: RunContext = {
    id: "run_boss",
    agent: "boss",
    parent: undefined,
    depth: 1,
    maxDepth: 4,
    signal: new AbortController().signal,
    ended: false,
    isSuspended: () => false,
    approvals: createRunApprovals(),
    children: new Set(),
    inherited: {},
    budget: undefined,
    forward: (event) => void events.push(event),
    countUsage: () => {},
  }
  return { run, events }
}

const head = { run: "run_child", parent: "run_boss", at: 0 }
const start: AgentEvent = { ...head, type: "run-start", agent: "child", messages: [], metadata: {}, seq: 0 }
const text: AgentEvent = { ...head, type: "text-delta", text: "hello", seq: 1 }
const question: AgentEvent = { ...head, type: "question-asked", id: "q", question: "Which?", seq: 1 }
const end: AgentEvent = {
  ...head,
  type: "run-end",
  status: "done",
  output: "",
  cycles: 1,
  usage: { complete: true },
  seq: 2,
}

const callOf = (event: AgentEvent | undefined) => (event?.type === "run-start" ? event.metadata.call : undefined)
const types = (events: AgentEvent[]) => events.map(({ type }) => type)

describe("a run that is started for a call of a CLI", () => {
  test("names a call that the CLI has reported", () => {
    const { run, events } = collectingRun()
    createCallContext(run, () => "item_1").forward(start)
    assert.equal(callOf(events[0]), "item_1")
  })

  test("names a call that the CLI reports later, with its events in order", () => {
    const { run, events } = collectingRun()
    let reported: string | undefined
    const context = createCallContext(run, () => reported)
    context.forward(start)
    assert.deepEqual(events, [])
    reported = "item_1"
    context.forward(text)
    context.forward(end)
    assert.deepEqual(types(events), ["run-start", "text-delta", "run-end"])
    assert.equal(callOf(events[0]), "item_1")
  })

  for (const last of [question, end]) {
    test(`is published without the call at its ${last.type}, where nobody reported it`, () => {
      const { run, events } = collectingRun()
      const context = createCallContext(run, () => undefined)
      context.forward(start)
      context.forward(last)
      assert.deepEqual(types(events), ["run-start", last.type])
      assert.equal(callOf(events[0]), undefined)
    })
  }

  test("is published after a while, even if it says nothing more", () => {
    mock.timers.enable({ apis: ["setTimeout", "setImmediate"] })
    try {
      const { run, events } = collectingRun()
      createCallContext(run, () => undefined).forward(start)
      mock.timers.runAll()
      assert.deepEqual(types(events), ["run-start"])
    } finally {
      mock.timers.reset()
    }
  })
})

describe("a call of a CLI is found by its tool", () => {
  const narrator = { run: "run_boss", endCall: () => {}, progress: () => {} }
  const find = (tool: string, ...names: string[]) => {
    const calls = new Map(names.map((name) => [name, { name, input: {}, startedAt: 0, narrator }]))
    return createCallFinder(calls)({ id: "1", tool, input: {}, meta: {} })
  }

  test("however the CLI spells the name of our server", () => {
    const spellings = ["run", "karst_run", "karst__run", "mcp_karst_run", "mcp__karst__run", "karst.run", "karst/run"]
    for (const name of spellings) assert.equal(find("run", name), name)
    assert.equal(find("karst_run", "karst_run"), "karst_run")
  })

  test("and not by another tool or server whose name ends with it", () => {
    const others = ["mcp__karst__my_run", "my_run", "dry-run", "mcp__notes__run", "notes_run", "mcp__karst_2__run"]
    assert.equal(find("run", ...others), undefined)
    assert.equal(find("run", ...others, "mcp__karst__run"), "mcp__karst__run")
  })
})
