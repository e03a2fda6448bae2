// The third of the five ways in README.md, run as it is shown there.
import assert from "node:assert/strict"
import { test } from "node:test"
// #region program
import { createEngine } from "karst/engine"
import { sqliteStore } from "karst/stores"
// #endregion
import { createAgent, fn, jsRuntime } from "../../../src/index.ts"
import { scriptedModel } from "../../../src/models.ts"
import { until } from "../../waiting.ts"
import { workIn } from "../surroundings.ts"

test("README.md shows durable runs: those that another engine left are continued, and an approval is given later", async (t) => {
  await workIn(t)
  const booked: string[] = []
  const book = (month: string) => void booked.push(month)
  const steps = ["```ts\nawait book('May')\n```", "May is closed."]
  const model = scriptedModel(({ messages }) =>
    messages.some(({ parts }) => JSON.stringify(parts).includes("April"))
      ? "April is closed."
      : (steps[messages.filter(({ role }) => role === "assistant").length] ?? ""),
  )
  const runtime = () => jsRuntime({ book: fn(book, { approve: true }) })
  const analyst = createAgent({ model, runtime })

  // An engine that is closed in the first cycle of a run.
  const first = Promise.withResolvers<string>()
  const slow = scriptedModel([() => first.promise])
  const agents = { analyst: createAgent({ model: slow, runtime }) }
  const before = createEngine({ agents, store: sqliteStore("karst.db") })
  const april = await before.submit("analyst", "Close the books of April", { key: "books-april" })
  await until(() => slow.requests.length === 1)
  const closed = before.close()
  first.resolve("```ts\n1\n```")
  await closed

  // #region program
  const engine = createEngine({ agents: { analyst }, store: sqliteStore("karst.db") }) // or Redis, with BullMQ workers
  await engine.recover() // continues the runs of a dead process
  const { id } = await engine.submit("analyst", "Close the books of May", { key: "books-may" })
  const { status, pending } = await engine.result(id)
  if (pending?.kind === "approval") await engine.approve(id, pending.id, "allow")
  // #endregion
  assert.equal(status, "waiting")
  assert.equal((await engine.result(id)).output, "May is closed.")
  assert.deepEqual(booked, ["May"])
  assert.equal((await engine.result(april.id)).output, "April is closed.")
  const again = await engine.submit("analyst", "Close the books of May", { key: "books-may" })
  assert.equal(again.id, id, "the same key is the same run")
  await engine.close()
})
