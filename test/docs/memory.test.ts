// The programs of docs/memory.md, each run as it is shown there.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { test } from "node:test"
// #region options
import { createAgent } from "karst"
// #endregion
import type { Hooks } from "../../src/actions/hooks.ts"
import { type Message, messageText } from "../../src/core/message.ts"
import { resolveMemory } from "../../src/memory.ts"
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { cell } from "../agent/scripted-agents.ts"
import { modelServer } from "../fixtures/model-server.ts"
import { goodSummary } from "../memory/memory-helpers.ts"

const printing = (count: number): ScriptedStep[] =>
  Array.from({ length: count }, (_, step) => cell(`console.log("order A-${step}, ".repeat(200))`))

/** An answer with a cell for which the provider counts this many tokens. */
const counting = (input: number, code: string): ScriptedStep => [
  { type: "text", text: cell(code) },
  { type: "finish", reason: "stop", usage: { input, output: 10, complete: true } },
]

test("results are cleared at 60,000 tokens, the small model writes the summary, and a cell reads what was removed", async (t) => {
  const env = { ...process.env }
  t.after(() => Object.assign(process.env, env))
  await using server = await modelServer({ text: [goodSummary()] })
  Object.assign(process.env, { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${server.url}/v1` })
  const reading = await readFile(new URL("./memory/read-history.js", import.meta.url), "utf8")
  const steps = [
    ...printing(11),
    counting(59_000, "11"),
    counting(70_000, "12"),
    counting(500_000, "13"),
    cell(reading),
  ]
  const model = scriptedModel([...steps, "Done."])
  // #region options
  const agent = createAgent({
    model,
    memory: {
      compactAtTokens: 60_000, // default: 77 % of the window (99,000 of 128,000)
      keepResults: 6, // the newest results that stay whole; this is the default
      model: "openai/gpt-5-mini", // writes the summaries; default: the agent's model
    },
  })
  // #endregion
  const defaults = resolveMemory({}, { model, contextWindow: 128_000 })
  assert.deepEqual([Math.round(defaults.compactAtTokens / 1000), defaults.keepResults], [99, 6])
  assert.equal(defaults.model, model)

  await agent.with({ runtime: () => jsRuntime({}), limits: { cycles: 20 } }).run("Look at the orders")
  const [full, cleared, summarised, read] = model.requests.slice(12).map(({ messages }) => messages)
  assert.equal(wholeResults(full), 11)
  assert.deepEqual([wholeResults(cleared), cleared?.length], [4, 27], "and the results of two short cells")
  assert.match(messageText(summarised?.[0] ?? assert.fail()), /_history_1/)
  assert.deepEqual([server.requests.length, server.requests[0]?.body.model], [1, "gpt-5-mini"])
  assert.match(messageText(read?.at(-1) ?? assert.fail()), /'order A-0'/)
})

test("hooks observe a step, begin with other messages, and add one to a summary", async (t) => {
  const log = t.mock.method(console, "log", () => {})
  const reminder: Message = { id: "euros", role: "user", origin: "host", parts: [{ type: "text", text: "In euros." }] }
  // #region hooks
  const hooks: Hooks = {
    onCompact: ({ tier, replaced, messages }) =>
      console.log(`step ${tier}: ${replaced.length} → ${messages.length} messages`),
    // begin with these instead; there are also `tokens`, `maxTokens` and `reason`
    beforeCompact: ({ messages }) => messages.filter(({ id }) => id !== reminder.id),
    // `usage` is what the summary has cost
    afterCompact: ({ tier, messages }) => (tier === 2 ? [...messages, reminder] : undefined),
  }
  // #endregion
  const model = scriptedModel([...printing(9), "Done."], { contextWindow: 5000 })
  const memory = { model: scriptedModel(() => goodSummary()) }
  const agent = createAgent({ model, runtime: () => jsRuntime({}), hooks, memory, limits: { cycles: 20 } })
  const { messages } = await agent.run("Look at the orders")
  const steps = log.mock.calls.map(({ arguments: [line] }) => line)
  assert.match(steps.slice(0, 2).join(), /^step 1: \d+ → \d+ messages,step 2: \d+ → 3 messages$/)
  // The reminder of the first summary is taken out before the second.
  const [, before, after] = /^step 1: (\d+) → (\d+) messages$/.exec(steps[2]) ?? []
  assert.equal(Number(before) - Number(after), 1)
  assert.equal(messages.filter(({ id }) => id === reminder.id).length, 1)
})

function wholeResults(messages: readonly Message[] = []): number {
  return messages.filter((message) => message.role === "result" && messageText(message).length > 2000).length
}
