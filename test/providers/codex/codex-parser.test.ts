// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type CodexParserOptions, createCodexParser } from "../../../src/providers/codex/codex-parser.ts"
import { readCliRecording, readLines } from "../cli-recordings.ts"

const nothing = { input: 0, cached: 0, written: 0, output: 0, reasoning: 0 }
const parser = (totalBeforeTurn: CodexParserOptions["totalBeforeTurn"] = nothing) =>
  createCodexParser({ totalBeforeTurn, prefix: "t", timeoutMs: undefined, idleTimeoutMs: undefined })
const read = (name: string, before?: CodexParserOptions["totalBeforeTurn"]) =>
  readLines(parser(before), readCliRecording(name))
const exit = { exitCode: 1, signal: null, stopped: undefined, error: undefined, stderr: "" }

describe("what Codex writes", () => {
  test("is text, usage and the key to resume it by", () => {
    const { steps, end, of } = read("codex-text")
    assert.match(JSON.stringify(steps[0]), /"type":"key","key":"01a1dca7-3613-/)
    assert.equal(of("message-end")[0]?.message.parts[0]?.type, "text")
    assert.deepEqual(end?.usage, {
      input: 100,
      output: 20,
      cacheRead: 40,
      cacheWrite: 0,
      reasoning: 5,
      complete: true,
    })
  })

  test("counts the whole thread: what it had used before is taken off", () => {
    const before = { input: 100, cached: 40, written: 0, output: 20, reasoning: 5 }
    assert.equal(read("codex-resume", before).end?.usage.input, 100)
    const unknown = readLines(
      createCodexParser({ totalBeforeTurn: undefined, timeoutMs: undefined, idleTimeoutMs: undefined }),
      readCliRecording("codex-resume"),
    )
    assert.deepEqual(unknown.end?.usage, { complete: false }, "unknown is never a number")
  })

  test("is reasoning before the text", () => {
    assert.deepEqual(
      read("codex-think")
        .of("message-end")[0]
        ?.message.parts.map(({ type }) => type),
      ["reasoning", "text"],
    )
  })

  test("is a command with its output and exit code", () => {
    const [end] = read("codex-tool").of("tool-end")
    assert.deepEqual(
      [end?.id, end?.name, end?.ok, end?.text],
      ["t_item_1", "command_execution", false, "MARK42\n\n(exit code 3)"],
    )
  })

  test("is a tool of an MCP server by the name that other CLIs give it", () => {
    const { of } = read("codex-mcp")
    assert.deepEqual(of("tool-start")[0]?.input, { a: 2, b: 3 })
    assert.deepEqual([of("tool-end")[0]?.name, of("tool-end")[0]?.text], ["mcp__labhttp__add", "SUM=5"])
  })

  test("is a change of files, by their paths", () => {
    const { of, steps } = read("codex-patch")
    assert.equal(of("tool-end")[0]?.text, "add /lab/project/n.txt")
    assert.deepEqual(
      steps.find(({ type }) => type === "files"),
      { type: "files", paths: ["/lab/project/n.txt"] },
    )
  })

  test("has items that are warnings, and no failure", () => {
    const { of, end } = read("codex-text")
    assert.match(of("warning-raised")[0]?.message ?? "", /Model metadata/)
    assert.equal(end?.failure, undefined)
  })

  const failures: [string, string][] = [
    ["codex-401", "authentication"],
    ["codex-429", "rate-limited"],
    ["codex-500", "overloaded"],
    ["codex-nokey", "authentication"],
  ]
  for (const [name, code] of failures) {
    test(`is a failure of the kind ${code} in ${name}, told once`, () => {
      const { end, of } = read(name)
      assert.equal(end?.failure?.code, code, end?.failure?.message)
      assert.equal(of("message-end").length, 0)
    })
  }

  test("says when a usage limit is over", () => {
    const { retryAt = 0 } = read("codex-429").end?.failure ?? {}
    const local = new Date(retryAt)
    assert.deepEqual([local.getHours(), local.getMinutes()], [1, 42])
    assert.ok(retryAt > Date.now() - 3_660_000)
  })

  test("has notices of a reconnection, which are no failure unless the turn fails", () => {
    const notice = { type: "error", message: "Reconnecting... 1/5 (stream disconnected before completion)" }
    const done = { type: "turn.completed", usage: { input_tokens: 1, output_tokens: 1 } }
    const went = readLines(parser(), [notice, done])
    assert.equal(went.end?.failure, undefined)
    assert.equal(went.of("warning-raised")[0]?.code, "cli-retry")
    const failed = readLines(parser(), [notice, { type: "turn.failed", error: { message: notice.message } }])
    assert.ok(failed.end?.failure)
    const inside = { type: "error", message: "it said Reconnecting... 1/5" }
    const codex = parser()
    readLines(codex, [inside])
    assert.match(codex.readExit(exit).failure?.message ?? "", /it said Reconnecting/)
  })

  test("may end without a word, or with one on its standard error", () => {
    const codex = parser()
    assert.equal(codex.readExit({ ...exit, stderr: "Error: bad config" }).failure?.code, "exit")
    assert.match(codex.readExit({ ...exit, stderr: "Error: bad config" }).failure?.message ?? "", /bad config/)
    assert.equal(
      codex.readExit({ ...exit, stderr: "no rollout found for thread id x" }).failure?.code,
      "session-not-found",
    )
  })

  test("has kinds of items that came later, which are calls all the same", () => {
    const item = { id: "item_9", type: "dance", steps: 3, status: "completed" }
    const { of } = readLines(parser(), [{ type: "item.completed", item }])
    assert.deepEqual([of("tool-start")[0]?.name, of("tool-start")[0]?.input], ["dance", { steps: 3 }])
    assert.equal(of("tool-end")[0]?.ok, true)
  })

  test("tells what a command writes while it runs", () => {
    const item = (aggregated_output: string) => ({
      id: "i",
      type: "command_execution",
      command: "x",
      aggregated_output,
    })
    const { of } = readLines(parser(), [
      { type: "item.started", item: item("") },
      { type: "item.updated", item: item("one ") },
      { type: "item.updated", item: item("one two") },
    ])
    assert.deepEqual(
      of("tool-delta").map(({ text }) => text),
      ["one ", "two"],
    )
    assert.equal(of("tool-end")[0]?.ok, false, "a call that never ended is given an end")
  })
})
