// The program of docs/durable-objects.md, run as it is shown there.
import assert from "node:assert/strict"
import { test } from "node:test"
// #region codec
import { codec, jsRuntime, variable } from "karst"
// #endregion
import { createAgent } from "../../src/agent/create-agent.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { createEngine } from "../../src/engine/engine.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import { askTool } from "../../src/tools/finish-and-ask.ts"
import { cell } from "../agent/scripted-agents.ts"

class Database {
  count = () => 7
}
const openDatabase = () => new Database()

test("a codec keeps the state of an instance, and an external object is not reported as lost", async () => {
  // #region codec
  class Charts {
    names: string[] = []
    add(name: string) {
      this.names.push(name)
    }
  }

  const charts = codec(Charts, {
    encode: (charts) => charts.names, // plain data; its type is that of `names`
    // `current` is the instance that the factory made
    decode: (names, current = new Charts()) => Object.assign(current, { names }),
  })
  const runtime = () =>
    jsRuntime(
      { charts: new Charts(), db: variable(openDatabase(), { external: true }) }, // the state of db is not in this process
      { codecs: { charts } }, // also an option of processRuntime and pythonRuntime
    )
  // #endregion
  assert.deepEqual(await shownByAnotherProcess(runtime), { shown: "<output>\n[ 'sales' ]\n</output>", lost: [] })

  const bare = () => jsRuntime({ charts: new Charts(), db: openDatabase() })
  assert.deepEqual(await shownByAnotherProcess(bare), { shown: "<output>\n[]\n</output>", lost: ["charts", "db"] })
})

/** Runs a cell that uses both objects, lets the run wait, and continues it with an engine whose factory makes the
 *  objects again. */
async function shownByAnotherProcess(runtime: () => Runtime): Promise<{ shown: string | undefined; lost: string[] }> {
  const steps = [
    cell("charts.add('sales'); db.count()"),
    [{ type: "tool-call", id: "1", name: "ask", input: { question: "Which next?" } } as const],
    cell("charts.names"),
    "Done.",
  ]
  const model = scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? "")
  const store = memoryStore()
  const engine = () => createEngine({ agents: { artist: createAgent({ model, runtime, tools: [askTool()] }) }, store })
  const first = engine()
  const { id } = await first.submit("artist", "Draw")
  assert.equal((await first.result(id)).status, "waiting")
  await first.close()

  await using second = engine()
  await second.recover()
  await second.answer(id, "None")
  const events: AgentEvent[] = await Array.fromAsync(second.watch(id))
  const results = events.flatMap((event) => (event.type === "code-end" ? [event.text] : []))
  const lost = events.flatMap((event) =>
    event.type === "warning-raised" && event.code === "state-lost" ? (event.names ?? []) : [],
  )
  return { shown: results.at(-1), lost }
}
