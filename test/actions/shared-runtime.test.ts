import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import type { RuntimeCall } from "../../src/runtime/runtime.ts"
import { modelRunningCells } from "./every-runtime.ts"

/** A runtime that two agents share: what was wiped, who was asked, and what became of calls that were left behind. */
function shared({ firstAnswers = true }: { firstAnswers?: boolean } = {}) {
  const wiped: string[] = []
  const asked: string[] = []
  const said: string[] = []
  const bus = new EventEmitter()
  const gone = Promise.withResolvers<void>()
  const runtime = jsRuntime({
    wipe: fn((what: string) => void wiped.push(what), { approve: true }),
    bus,
    say(text: string) {
      said.push(text)
      gone.resolve()
    },
    // Calls back later, in the name of whoever asked.
    later: (callback: () => unknown) => void setImmediate(callback),
    held: () => gone.promise,
  })
  const answering = (name: string, answer: boolean) => (call: RuntimeCall) => {
    asked.push(`${name} ${call.args[0]}`)
    return answer
  }
  const run = async (typescript: string, approve: ReturnType<typeof answering> | undefined) => {
    const model = modelRunningCells(runtime, { typescript, python: "" })
    return await createAgent({ model, runtime, approver: approve }).run("go").settled
  }
  const leaving = (code: string) => run(code, firstAnswers ? answering("first", false) : undefined)
  const staying = (code: string) => run(code, answering("second", true))
  return { runtime, wiped, asked, said, bus, leaving, staying }
}

const report = '.then(() => say("made"), (error) => say(`${error.name}: ${error.message}`))'

describe("a call that an agent's ended cell left behind in a shared runtime", () => {
  const ways: [string, string][] = [
    ["a timer", `setTimeout(() => wipe("left")${report}, 5)`],
    ["a promise", `void later(() => wipe("left")${report})`],
    ["a microtask after a timer", `void new Promise((go) => setTimeout(go, 5)).then(() => wipe("left")${report})`],
    [
      "an async function",
      `void (async () => { await new Promise((go) => setTimeout(go, 5)); await wipe("left")${report} })()`,
    ],
  ]
  for (const [title, code] of ways) {
    test(`is judged by the gate of that agent: ${title}`, async () => {
      const { runtime, wiped, asked, said, leaving, staying } = shared()
      await leaving(`${code}; 0`)
      await staying('await wipe("own"); await held()')
      assert.deepEqual(wiped, ["own"])
      assert.deepEqual(asked.toSorted(), ["first left", "second own"])
      assert.match(String(said[0]), /ApprovalDenied/)
      await runtime.close()
    })
  }

  test("is refused after its run has ended when that agent has nobody to ask", async () => {
    const { runtime, wiped, asked, said, leaving, staying } = shared({ firstAnswers: false })
    await leaving(`setTimeout(() => wipe("left")${report}, 5); 0`)
    await staying('await wipe("own"); await held()')
    assert.deepEqual([wiped, asked], [["own"], ["second own"]])
    assert.match(String(said[0]), /needs approval and there is no approver/)
    await runtime.close()
  })

  for (const [title, code] of [
    ["a listener", `bus.on("go", () => wipe("left")${report}); 0`],
    ["the function itself as a listener", 'bus.on("go", wipe); 0'],
  ] as const) {
    test(`is refused when the host makes it outside of every cell: ${title}`, async () => {
      const { runtime, wiped, asked, bus, said, leaving, staying } = shared()
      await leaving(code)
      await staying('await wipe("own")')
      const unhandled: unknown[] = []
      const listener = bus.listeners("go")[0]
      bus.removeAllListeners("go")
      const made: unknown = listener?.("left")
      await Promise.resolve(made).catch((error: unknown) => unhandled.push(error))
      assert.deepEqual([wiped, asked], [["own"], ["second own"]])
      assert.match(String(said[0] ?? unhandled[0]), /several agents have used this runtime/)
      await runtime.close()
    })
  }

  test("is judged by its own gate when no other agent has used the runtime", async () => {
    const { runtime, wiped, asked, bus, leaving } = shared()
    await leaving(`bus.on("go", () => wipe("left")${report}); 0`)
    await bus.listeners("go")[0]?.()
    assert.deepEqual([wiped, asked], [[], ["first left"]])
    await runtime.close()
  })
})
