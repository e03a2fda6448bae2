// The snippet of docs/events.md, run as it is shown there.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"

test("docs/events.md shows how to print the text while it is written, and the warnings", async (t) => {
  const written: string[] = []
  const write = process.stdout.write.bind(process.stdout)
  // The test runner writes its reports as bytes.
  t.mock.method(process.stdout, "write", (chunk: string | Uint8Array) =>
    typeof chunk === "string" ? written.push(chunk) > 0 : write(chunk),
  )
  const warned = t.mock.method(console, "warn", () => {})
  const model = scriptedModel(["It has three columns."], { chunkChars: 7 })
  const agent = createAgent({
    model,
    onEvent() {
      throw new Error("This observer fails.")
    },
  })
  // #region loop
  const run = agent.run("Analyse df")
  for await (const event of run) {
    if (event.type === "text-delta") process.stdout.write(event.text)
    if (event.type === "warning-raised") console.warn(event.code, event.message)
  }
  // #endregion
  t.mock.restoreAll()
  assert.deepEqual(written, ["It has ", "three c", "olumns."])
  assert.deepEqual(
    warned.mock.calls.map(({ arguments: [code] }: { arguments: unknown[] }) => code),
    ["observer"],
  )
  const { events } = (await run).trajectory
  assert.deepEqual([events.at(0)?.type, events.at(-1)?.type], ["run-start", "run-end"])
})
