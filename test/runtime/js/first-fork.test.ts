// Alone in its file: the first fork of a process loads the module of snapshots.
import assert from "node:assert/strict"
import { test } from "node:test"
import { jsRuntime } from "karst"

test("the first fork of a process does not contain what later cells made", async () => {
  await using runtime = jsRuntime()
  await runtime.execute("let early = 1")
  const forking = runtime.fork?.()
  await runtime.execute("let late = 2")
  await using fork = await forking
  assert.deepEqual(
    (await fork?.names())?.map(({ name }) => name),
    ["early"],
  )
})
