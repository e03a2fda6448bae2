import assert from "node:assert/strict"
import { test } from "node:test"
import { monotonicNow, startDeadline } from "../../src/runtime/deadline.ts"

test("a deadline comes when its time is over, unless it is cleared", async () => {
  const come = Promise.withResolvers<void>()
  let cleared = 0
  startDeadline(1, undefined, () => cleared++).clear()
  startDeadline(5, undefined, come.resolve)
  await come.promise
  assert.equal(cleared, 0)
})

test("a deadline does not come while time stands still, and keeps what was left", (context) => {
  let pause: (paused: boolean) => void = () => {}
  let ignored = false
  let expired = false
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] })
  const startedAt = monotonicNow()
  const deadline = startDeadline(
    30,
    (listener) => {
      pause = listener
      listener(true)
      return () => {
        ignored = true
      }
    },
    () => {
      expired = true
    },
  )
  context.mock.timers.tick(60)
  assert.equal(expired, false)
  // Code that blocks the event loop still has a second.
  assert.ok(deadline.at >= startedAt + 1000)
  pause(false)
  assert.ok(deadline.at <= monotonicNow() + 30)
  context.mock.timers.tick(30)
  assert.equal(expired, true)
  deadline.clear()
  assert.equal(ignored, true)
})
