// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createGeminiParser } from "../../../src/providers/gemini/gemini-parser.ts"
import type { CliProcessEnd } from "../../../src/providers/turn/cli-process.ts"
import { readCliRecording, readLines } from "../cli-recordings.ts"

const limits = { timeoutMs: undefined, idleTimeoutMs: 1000, reasoning: undefined }
const read = (name: string) => readLines(createGeminiParser(limits), readCliRecording(name))
const ended: CliProcessEnd = { exitCode: 1, signal: null, stderr: "", stopped: undefined, error: undefined }
const exit = (end: Partial<CliProcessEnd>) => createGeminiParser(limits).readExit({ ...ended, ...end }).failure

describe("the stream of Gemini CLI", () => {
  test("tells its session and model, the text in pieces and whole, and what the turn used with what was thought", () => {
    const { steps, end, of } = read("gemini-text")
    assert.deepEqual(
      steps.slice(0, 2).map(({ type }) => type),
      ["key", "model"],
    )
    assert.equal(of("text-delta").length, 1)
    const [message] = of("message-end")
    assert.match(JSON.stringify(message?.message.parts), /hi gemini/)
    assert.deepEqual(end?.usage, { complete: true, input: 100, output: 25, cacheRead: 40, reasoning: 5 })
  })

  test("tells a call of an MCP tool with its input and what it gave", () => {
    const { of } = read("gemini-mcp")
    assert.deepEqual(
      of("tool-start").map(({ name, input }) => [name, input]),
      [["mcp_labhttp_add", { a: 2, b: 3 }]],
    )
    assert.deepEqual(
      of("tool-end").map(({ ok, text }) => [ok, text]),
      [[true, "SUM=5"]],
    )
  })

  test("makes of an error what the service's own answer in it says", () => {
    assert.equal(read("gemini-401").end?.failure?.code, "authentication")
  })

  test("knows from what it wrote beside why it was silent", () => {
    const stderr = "Attempt 3 failed with status 429. Retrying with backoff..."
    assert.equal(exit({ stopped: "idle", stderr })?.code, "rate-limited")
    assert.equal(exit({ stopped: "idle" })?.code, "stalled")
    assert.equal(exit({ stopped: "timeout", stderr })?.code, "timeout")
  })

  test("names a missing key and an unknown session", () => {
    assert.equal(exit({ exitCode: 41, stderr: "Please set an Auth method" })?.code, "authentication")
    assert.equal(exit({ exitCode: 42, stderr: 'Invalid session identifier "none".' })?.code, "session-not-found")
  })

  test("says that it cannot be told how hard to think", () => {
    const { steps } = readLines(createGeminiParser({ ...limits, reasoning: "high" }), readCliRecording("gemini-text"))
    assert.ok(steps.some((step) => step.type === "warning" && /reasoning/.test(step.message)))
  })
})
