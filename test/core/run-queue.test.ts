import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createRunQueue, type QueueEntry, type RunQueue } from "../../src/core/run-queue.ts"

describe("a serial queue", () => {
  test("gives the turn to one entry after the other", async () => {
    const { queue, taken, add } = start()
    const [a, b] = [add("a"), add("b")]
    await settle()
    assert.deepEqual([taken, values(queue)], [["a"], ["a", "b"]])
    a.entry.end()
    await settle()
    assert.deepEqual([taken, values(queue)], [["a", "b"], ["b"]])
    b.entry.end()
    assert.deepEqual(values(queue), [])
  })

  test("keeps the order of the others when an entry is aborted", async () => {
    const { queue, taken, add } = start()
    const [a, b] = [add("a"), add("b"), add("c")]
    await settle()
    b?.controller.abort()
    assert.deepEqual(values(queue), ["a", "c"])
    b?.entry.end({ hold: true })
    assert.deepEqual([taken, values(queue)], [["a"], ["a", "c"]])
    a?.entry.end()
    await settle()
    assert.deepEqual(taken, ["a", "c"])
  })

  test("does not hold the others back for an entry that is aborted as its turn comes", async () => {
    const { queue, taken, add } = start()
    const [a, b] = [add("a"), add("b"), add("c")]
    await settle()
    a?.entry.end()
    assert.equal(queue.running, b?.entry)
    b?.controller.abort()
    b?.entry.end({ hold: true })
    await settle()
    assert.deepEqual(taken, ["a", "c"])
  })

  test("adds nothing when the start throws", async () => {
    const { queue, taken, add } = start()
    assert.throws(() =>
      queue.add(() => {
        throw new Error("no")
      }),
    )
    add("a")
    await settle()
    assert.deepEqual(taken, ["a"])
  })

  test("lets an entry that was aborted before it was added leave at once", async () => {
    const { taken, add } = start()
    add("a", AbortSignal.abort())
    add("b")
    await settle()
    assert.deepEqual(taken, ["b"])
  })

  test("holds entries back until they are released; what is added meanwhile goes before them", async () => {
    const { queue, taken, add } = start()
    const [a] = [add("a"), add("b"), add("c")]
    await settle()
    a?.entry.end({ hold: true })
    await settle()
    assert.deepEqual([queue.running, taken, values(queue)], [undefined, ["a"], ["b", "c"]])
    const d = add("d")
    add("e")
    await settle()
    assert.deepEqual(
      [taken, values(queue)],
      [
        ["a", "d"],
        ["d", "e", "b", "c"],
      ],
    )
    d.entry.end({ hold: true })
    queue.release()
    assert.deepEqual(values(queue), ["e", "b", "c"])
    await settle()
    assert.deepEqual(taken, ["a", "d", "e"])
  })

  test("runs every entry exactly once and in order, whichever are aborted", async () => {
    for (let aborted = 0; aborted < 2 ** 5; aborted++) {
      const { queue, taken, add } = start()
      const entries = ["a", "b", "c", "d", "e"].map((value) => add(value))
      const isAborted = (at: number) => (aborted >> at) % 2 === 1
      for (const [at, { controller }] of entries.entries()) if (isAborted(at)) controller.abort()
      while (queue.running) {
        await settle()
        queue.running?.end()
      }
      assert.equal(taken.join(""), [..."abcde"].filter((_, at) => !isAborted(at)).join(""))
    }
  })
})

const settle = () => new Promise((resolve) => setImmediate(resolve))

const values = (queue: RunQueue<string>) =>
  [queue.running, ...queue.pending].flatMap((entry) => (entry ? [entry.value] : []))

interface Added {
  entry: QueueEntry<string>
  controller: AbortController
}

function start() {
  const queue = createRunQueue<string>()
  const taken: string[] = []
  function add(value: string, given?: AbortSignal): Added {
    const controller = new AbortController()
    const entry = queue.add((turn) => {
      queueMicrotask(() => {
        turn(given ?? controller.signal).then(
          () => taken.push(value),
          () => undefined,
        )
      })
      return value
    })
    return { entry, controller }
  }
  return { queue, taken, add }
}
