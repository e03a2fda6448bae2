import assert from "node:assert/strict"
import { test } from "node:test"
import { createCellQueue } from "../../src/runtime/cell-queue.ts"

test("jobs run one at a time in the order they came", async () => {
  const queue = createCellQueue()
  const story: string[] = []
  const job = (name: string) => async () => {
    story.push(`${name} in`)
    await new Promise((resolve) => setImmediate(resolve))
    story.push(`${name} out`)
  }
  await Promise.all([queue.enter(job("a")), queue.enter(job("b")), queue.enter(job("c"))])
  assert.deepEqual(story, ["a in", "a out", "b in", "b out", "c in", "c out"])
})

test("a job that fails lets the next one in", async () => {
  const queue = createCellQueue()
  const failing = queue.enter(() => Promise.reject(new Error("no")))
  const next = queue.enter(async () => "yes")
  await assert.rejects(failing, /no/)
  assert.equal(await next, "yes")
})

test("nobody slips in while a turn changes hands", async () => {
  const queue = createCellQueue()
  const story: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = queue.enter(() => gate.promise)
  const second = queue.enter(async () => {
    story.push("second")
  })
  first.then(() => queue.enter(async () => void story.push("late")))
  gate.resolve()
  await second
  await queue.enter(async () => {})
  assert.deepEqual(story, ["second", "late"])
})

test("a signal takes a job out of the queue, and the others move up", async () => {
  const queue = createCellQueue()
  const gate = Promise.withResolvers<void>()
  const controller = new AbortController()
  const first = queue.enter(() => gate.promise)
  const second = queue.enter(async () => "second", controller.signal)
  const third = queue.enter(async () => "third")
  controller.abort(new Error("enough"))
  await assert.rejects(second, /enough/)
  gate.resolve()
  await first
  assert.equal(await third, "third")
})

test("refusing sends everybody home who waits, but not who is inside", async () => {
  const queue = createCellQueue()
  const gate = Promise.withResolvers<string>()
  const inside = queue.enter(() => gate.promise)
  const waiting = queue.enter(async () => "never")
  queue.refuse(new Error("closing"))
  await assert.rejects(waiting, /closing/)
  gate.resolve("done")
  assert.equal(await inside, "done")
})

test("a job whose signal fired before it came does not wait for its turn", async () => {
  const queue = createCellQueue()
  const gate = Promise.withResolvers<void>()
  const first = queue.enter(() => gate.promise)
  await assert.rejects(
    queue.enter(async () => assert.fail("it ran"), AbortSignal.abort(new Error("too late"))),
    /too late/,
  )
  gate.resolve()
  await first
})
