// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { AgentEvent, EventOf } from "karst"
import { trajectory } from "karst/sessions"
import type { Step } from "../../../src/providers/provider.ts"
import { createStepRecorder } from "../../../src/providers/turn/steps-to-events.ts"
import fc from "../../property.ts"

function tellAll(steps: readonly Step[], mayAnswer?: (count: number) => boolean) {
  const events: AgentEvent[] = []
  const told = createStepRecorder({
    control: {
      id: "run_1",
      emit(body) {
        const event: AgentEvent = Object.assign(body, { run: "run_1", seq: events.length, at: 0 })
        events.push(event)
        return event
      },
      forward: (event) => void events.push(event),
    },
    source: "test",
    now: () => 0,
    ...(mayAnswer && { mayStartCycle: mayAnswer }),
  })
  for (const step of steps) told.record(step)
  told.finish()
  return { events, told }
}

// Few ids, so that calls, results and sub-agents collide. Any order, because a CLI may leave out any step.
const id = fc.constantFrom("a", "b", "c")
const within = fc.option(id, { nil: undefined })
const step: fc.Arbitrary<Step> = fc
  .oneof(
    fc.record({
      type: fc.constantFrom("text" as const, "reasoning" as const),
      text: fc.string({ minLength: 1 }),
      within,
    }),
    fc.record({
      type: fc.constant("text" as const),
      text: fc.string({ minLength: 1 }),
      delta: fc.constant(true as const),
    }),
    fc.record({ type: fc.constant("call" as const), id, name: id, input: fc.constant(null), within, answer: within }),
    fc.record({ type: fc.constant("result" as const), id, ok: fc.boolean(), text: fc.string(), within }),
    fc.record({ type: fc.constant("agent" as const), id }),
    fc.record({ type: fc.constant("progress" as const), id, text: fc.string() }),
    fc.record({ type: fc.constant("files" as const), paths: fc.array(id) }),
  )
  .map((each) => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== undefined)) as Step)

describe("what a CLI tells", () => {
  test("becomes events that are in order, whatever it leaves out", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { events } = tellAll(steps)
        for (const own of Map.groupBy(events, ({ run }) => run).values()) {
          const open = new Set<string>()
          let cycle = 0
          let isOpen = false
          for (const event of own) {
            if (event.type === "cycle-start") {
              assert.ok(!isOpen && event.cycle === ++cycle)
              isOpen = true
            }
            if (event.type === "cycle-end") {
              assert.ok(isOpen && event.cycle === cycle)
              isOpen = false
            }
            if (event.type === "tool-start") assert.ok(!open.has(event.id) && open.add(event.id))
            if (event.type === "tool-end") assert.ok(open.delete(event.id), "each call has one result")
          }
          assert.ok(!isOpen && open.size === 0)
        }
        const nested = events.filter((event) => event.parent !== undefined)
        const count = (type: string) => nested.filter((event) => event.type === type).length
        assert.equal(count("run-start"), count("run-end"))
      }),
    )
  })

  test("keeps every whole text once, in order, and says each in deltas", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 10 }),
        fc.boolean(),
        (texts, streams) => {
          const steps = texts.flatMap((text): Step[] => {
            const pieces = [...text].map((piece): Step => ({ type: "text", text: piece, delta: true }))
            return [...(streams ? pieces : []), { type: "text", text }]
          })
          const { events, told } = tellAll(steps)
          const said = trajectory(events).messages.flatMap(
            (message): readonly { type: string; text?: string }[] => message.parts,
          )
          assert.deepEqual(
            said.map(({ text }) => text),
            texts,
          )
          const deltas = events.filter((event): event is EventOf<"text-delta"> => event.type === "text-delta")
          assert.equal(deltas.map(({ text }) => text).join(""), texts.join(""))
          assert.equal(told.output, texts.at(-1))
        },
      ),
    )
  })

  test("folds to a conversation in which each call comes before its result", () => {
    const { events } = tellAll([
      { type: "text", text: "I look." },
      { type: "call", id: "1", name: "read", input: { path: "a" } },
      { type: "call", id: "2", name: "read", input: { path: "b" } },
      { type: "result", id: "2", ok: true, text: "B" },
      { type: "result", id: "1", ok: false, text: "no such file" },
      { type: "text", text: "Done." },
    ])
    const { messages } = trajectory(events)
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["assistant", "assistant", "result", "result", "assistant"],
    )
    assert.deepEqual(events.filter(({ type }) => type === "cycle-start").length, 2)
  })

  test("ends where no further answer is allowed: nothing of it is told", () => {
    const steps: Step[] = [
      { type: "text", text: "one", answer: "m1" },
      { type: "text", text: "two", answer: "m2" },
    ]
    const { told, events } = tellAll(steps, (count) => count < 1)
    assert.deepEqual([told.cycles, told.output], [1, "one"])
    assert.ok(!JSON.stringify(events).includes("two"))
  })
})
