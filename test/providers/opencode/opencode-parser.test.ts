// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createOpencodeParser } from "../../../src/providers/opencode/opencode-parser.ts"
import type { CliProcessEnd } from "../../../src/providers/turn/cli-process.ts"
import { readCliRecording, readLines } from "../cli-recordings.ts"

const limits = { timeoutMs: undefined, idleTimeoutMs: 1000 }
const over: CliProcessEnd = { exitCode: 0, signal: null, stderr: "", stopped: undefined, error: undefined }

function read(name: string, end: Partial<CliProcessEnd> = {}) {
  const parser = createOpencodeParser(limits, () => 1000)
  return { ...readLines(parser, readCliRecording(name)), end: parser.readExit({ ...over, ...end }) }
}

describe("the stream of opencode", () => {
  test("tells its session, the text, and what the turn used and cost", () => {
    const { steps, end } = read("opencode-text")
    assert.deepEqual(steps[0], { type: "key", key: "ses_e23561ccbffeN6Q7wvcisMNyvT" })
    assert.deepEqual(
      steps.filter(({ type }) => type === "text").map((step) => "text" in step && step.text),
      ['pong: "hi opencode"'],
    )
    assert.deepEqual(end, {
      usage: { complete: true, input: 100, output: 20, cacheRead: 40, cacheWrite: 0, reasoning: 5, costUsd: 0.000104 },
    })
  })

  test("tells a call with its input and output, and adds up what each model call used", () => {
    const { of, end } = read("opencode-tool")
    const [call] = of("tool-start")
    assert.deepEqual([call?.name, call?.input], ["bash", { command: "echo MARK$((40+2))", description: "x" }])
    assert.deepEqual(
      of("tool-end").map(({ ok, text }) => [ok, text]),
      [[true, "MARK42\n"]],
    )
    assert.equal(end.usage.input, 200)
    assert.equal(of("message-end").length, 2)
  })

  test("tells reasoning before what it led to", () => {
    const [first] = read("opencode-mcps").of("message-end")
    assert.deepEqual(
      first?.message.parts.map(({ type }) => type),
      ["reasoning", "tool-call"],
    )
  })

  test("makes of an error what its status says, and when to come again", () => {
    assert.equal(read("opencode-401", { exitCode: 1 }).end.failure?.code, "authentication")
    const { failure } = read("opencode-429", { exitCode: 1 }).end
    assert.deepEqual([failure?.code, failure?.retryAt], ["rate-limited", 2000])
    assert.match(read("opencode-badmodel", { exitCode: 1 }).end.failure?.message ?? "", /Unexpected server error/)
  })

  const step = (type: string, part: object = {}) => ({ type, sessionID: "ses_1", part: { messageID: "m", ...part } })
  const finished = (reason: string) => step("step_finish", { reason, tokens: { input: 1, output: 1 } })

  test("is a failure where the answer was cut off, though the process ends well", () => {
    for (const lines of [
      [step("step_start")],
      [step("step_start"), step("text", { text: "hel" }), finished("unknown")],
      [step("step_start"), finished("tool-calls")],
    ]) {
      const parser = createOpencodeParser(limits)
      readLines(parser, lines)
      const { failure, usage } = parser.readExit(over)
      assert.deepEqual([failure?.code, usage.complete], ["connection", false])
    }
    const parser = createOpencodeParser(limits)
    readLines(parser, [step("step_start"), finished("stop")])
    assert.equal(parser.readExit(over).failure, undefined)
  })

  test("ends where the model is asked again and again for an answer that never has an end", () => {
    const cut = [step("step_start"), finished("unknown")]
    assert.equal(readLines(createOpencodeParser(limits), [...cut, ...cut]).end, undefined)
    assert.equal(readLines(createOpencodeParser(limits), [...cut, ...cut, ...cut]).end?.failure?.code, "connection")
    const called = step("tool_use", { callID: "c", tool: "bash", state: { status: "completed" } })
    assert.equal(readLines(createOpencodeParser(limits), [...cut, ...cut, called, ...cut]).end, undefined)
  })

  test("knows from its log when a call is under way, and keeps what the log says of failures", () => {
    const { readLogLine: log = () => assert.fail("it reads no log") } = createOpencodeParser(limits)
    const head = "timestamp=2026-11-15T19:20:49.885Z level=INFO run=dddab464"
    assert.deepEqual(log(`${head} message=evaluated permission=bash pattern="ls"`), { kept: false, isCalling: true })
    assert.deepEqual(log(`${head} message=stream providerID=p modelID=m small=false agent=build`), {
      kept: false,
      isCalling: false,
    })
    assert.deepEqual(log(`${head} message=stream providerID=p modelID=m small=true agent=title`), { kept: false })
    assert.deepEqual(log(head.replace("INFO", "ERROR")), { kept: true })
    assert.deepEqual(log("Error: Session not found"), { kept: true })
  })

  test("says that nothing came where it was stopped for that, and that a session is unknown where it is", () => {
    assert.equal(read("opencode-text", { exitCode: 1, stopped: "idle" }).end.failure?.code, "stalled")
    const stderr = "Error: Session not found: ses_none"
    assert.equal(
      createOpencodeParser(limits).readExit({ ...over, exitCode: 1, stderr }).failure?.code,
      "session-not-found",
    )
  })
})
