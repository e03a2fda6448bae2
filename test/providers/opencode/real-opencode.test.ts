// test lane: clis, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { opencode } from "karst/providers"
import { requires } from "../../system.ts"
import { opencodeMachine } from "../slow-cli-machines.ts"
import { slowSuite } from "../slow-cli-suite.ts"

const shell = (command: string) => `[[tool:bash ${JSON.stringify({ command, description: "x" })}]]`

slowSuite({
  name: "opencode",
  title: "opencode",
  bench: opencodeMachine,
  agent: opencode,
  shell,
  ours: (tool) => `karst_${tool}`,
  systemOf: (body) => JSON.stringify(Reflect.get(Object(body), "messages")?.[0]),
  // opencode retries a broken service for minutes without reporting it.
  silent: ["[[status:500]]", "[[hang]]"],
  codes: { "[[status:500]]": /^stalled$/ },
})

describe("opencode that is silent or cut off", { skip: requires("opencode") }, () => {
  test("does not take a long command for silence", { timeout: 120_000 }, async () => {
    await using place = await opencodeMachine()
    const agent = opencode({ ...place.options, idleTimeoutMs: 25_000 })
    const { status, output, error } = await agent.run(shell("sleep 28; echo late")).settled
    assert.deepEqual([status, error?.message], ["done", undefined])
    assert.match(output, /late/)
  })

  test("fails where the answers of its model are cut off, and does not ask for ever", {
    timeout: 120_000,
  }, async () => {
    await using place = await opencodeMachine()
    const agent = opencode({ ...place.options, idleTimeoutMs: 60_000 })
    const { status, error } = await agent.run("[[cut]] hello").settled
    assert.deepEqual([status, error?.code], ["failed", "connection"])
    assert.deepEqual(await place.processes(), [])
  })
})
