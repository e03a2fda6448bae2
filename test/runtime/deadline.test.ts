import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { monotonicNow, startDeadline } from "../../src/runtime/deadline.ts"

test("a deadline comes when its time is over, unless it is cleared", async () => {
  const come = Promise.withResolvers<void>()
  let cleared = 0
  startDeadline(1, undefined, () => cleared++).clear()
  startDeadline(5, undefined, come.resolve)
  await come.promise
  assert.equal(cleared, 0)
})

test("a deadline does not come while time stands still, and keeps what was left", async () => {
  let pause: (paused: boolean) => void = () => {}
  let ignored = false
  const come = Promise.withResolvers<void>()
  let expired = false
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
      come.resolve()
    },
  )
  await setTimeout(60)
  assert.equal(expired, false)
  assert.ok(deadline.at > monotonicNow() + 500)
  pause(false)
  assert.ok(deadline.at <= monotonicNow() + 30)
  await come.promise
  deadline.clear()
  assert.equal(ignored, true)
})
