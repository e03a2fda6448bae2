import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { jsRuntime, type RuntimeCall, type ToolOptions, tool } from "karst"

/** The call that the gate sees when a cell calls a tool with these options. */
async function callOf(options: ToolOptions): Promise<RuntimeCall> {
  const seen: RuntimeCall[] = []
  const pay = tool({ name: "pay", description: "Pays.", run: () => "paid", ...options })
  await using runtime = jsRuntime({ pay })
  const execution = await runtime.execute("await pay({})", {
    callGate(call, next) {
      seen.push(call)
      return next()
    },
  })
  assert.equal(execution.ok, true)
  const [call] = seen
  assert.ok(call)
  return call
}

describe("a tool that a cell calls as a function", () => {
  test("keeps what its options say about repeated calls", async () => {
    const { idempotent, unknown, journal } = await callOf({ idempotent: true, unknown: "retry", journal: false })
    assert.deepEqual([idempotent, unknown, journal], [true, "retry", false])
  })

  test("keeps what its options say about approval, count and time", async () => {
    const { approve, maxCalls, timeoutMs } = await callOf({ approve: () => false, maxCalls: 3, timeoutMs: 500 })
    assert.deepEqual([typeof approve, maxCalls, timeoutMs], ["function", 3, 500])
  })

  test("is not recorded where it has no side effect, unless it asks for that", async () => {
    assert.equal((await callOf({ sideEffect: false })).journal, false)
    assert.equal((await callOf({ sideEffect: false, journal: true })).journal, true)
    assert.equal((await callOf({})).journal, undefined)
  })
})
