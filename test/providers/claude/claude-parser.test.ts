// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createClaudeParser } from "../../../src/providers/claude/claude-parser.ts"
import { claudeToolNames } from "../../../src/providers/claude/claude-tools.ts"
import { type TurnSettings, toolGroups } from "../../../src/providers/provider.ts"
import { readCliRecording, readLines } from "../cli-recordings.ts"

type Options = Partial<Pick<TurnSettings, "allow" | "permissions">>

// The recordings were made with every tool that the CLI has.
const parser = (options: Options = {}) =>
  createClaudeParser({
    allow: new Set(toolGroups),
    permissions: "bypass",
    timeoutMs: undefined,
    idleTimeoutMs: undefined,
    ...options,
  })

const read = (name: string) => readLines(parser(), readCliRecording(name))
const init = (tools: string[]) => ({ type: "system", subtype: "init", session_id: "s", model: "m", tools })
const result = (fields: object) => ({ type: "result", subtype: "success", is_error: false, usage: {}, ...fields })
const says = (text: string) => ({
  type: "assistant",
  message: { id: "m1", model: "x", content: [{ type: "text", text }] },
})

describe("what Claude Code writes", () => {
  test("is text, usage, cost and the key to resume it by", () => {
    const { steps, end } = read("claude-text")
    assert.deepEqual(steps[0], { type: "key", key: "11111111-1111-4111-8111-111111111111" })
    assert.deepEqual(steps[1], { type: "model", id: "claude-opus-4-8" })
    assert.equal(end?.output, "pong: hi there")
    assert.deepEqual(end?.usage, {
      input: 112,
      output: 20,
      cacheRead: 7,
      cacheWrite: 5,
      costUsd: 0.00103475,
      complete: true,
    })
    assert.equal(end?.failure, undefined)
  })

  test("is reasoning before the text, each delta told once and the whole kept", () => {
    const { of } = read("claude-think")
    assert.deepEqual(
      of("reasoning-delta").map(({ text }) => text),
      ["let me think"],
    )
    assert.deepEqual(
      of("text-delta").map(({ text }) => text),
      ["pong: [[think]] hello"],
    )
    assert.deepEqual(of("message-end")[0]?.message.parts, [
      { type: "reasoning", text: "let me think" },
      { type: "text", text: "pong: [[think]] hello" },
    ])
    assert.equal(of("message-end").length, 1)
  })

  test("is a call with its input and its result, and an answer after it", () => {
    const { of, end } = read("claude-tool")
    const [start, done] = [of("tool-start")[0], of("tool-end")[0]]
    assert.equal(start?.name, "Bash")
    assert.deepEqual(start?.input, { command: "echo MARK$((40+2))", description: "x" })
    assert.deepEqual([done?.id, done?.ok, done?.text], [start?.id, true, "MARK42"])
    assert.deepEqual(
      of("cycle-start").map(({ cycle }) => cycle),
      [1, 2],
    )
    assert.equal(end?.output, "tool said: MARK42")
  })

  test("is a tool of an MCP server like any other", () => {
    for (const name of ["claude-mcp", "claude-mcps"]) {
      const { of } = read(name)
      assert.match(of("tool-end")[0]?.name ?? "", /^mcp__lab\w+__add$/)
      assert.match(of("tool-end")[0]?.text ?? "", /^SUM=\d$/)
    }
  })

  test("is a refusal that is told, and no failure of the turn", () => {
    const { of, end } = read("claude-tool-noperm")
    assert.equal(of("tool-end")[0]?.ok, false)
    assert.equal(of("warning-raised")[0]?.code, "permission-denied")
    assert.equal(end?.failure, undefined)
  })

  const failures: [string, string][] = [
    ["claude-429", "rate-limited"],
    ["claude-500", "server-error"],
    ["claude-401", "authentication"],
    ["claude-nokey", "authentication"],
    ["claude-conn", "connection"],
    ["claude-hang", "timeout"],
    ["claude-badresume", "session-not-found"],
    ["claude-cwd", "session-not-found"],
  ]
  for (const [name, code] of failures) {
    test(`is a failure of the kind ${code} in ${name}, and no answer`, () => {
      const { end, of } = read(name)
      assert.equal(end?.failure?.code, code, end?.failure?.message)
      assert.equal(of("message-end").length, 0)
    })
  }

  test("is a failure by its flag alone, by its subtype alone, and by nothing that a model says", () => {
    const turn = (fields: object, text = "API Error: 500, says the log. Request timed out. resets 3pm (UTC)") =>
      readLines(parser(), [init([]), says(text), result({ result: text, ...fields })]).end
    assert.equal(turn({})?.failure, undefined)
    assert.equal(turn({ is_error: true, api_error_status: 529 })?.failure?.code, "overloaded")
    assert.equal(turn({ subtype: "error_max_turns", result: null })?.failure?.code, "provider")
    assert.equal(turn({ result: "" }, "")?.failure, undefined, "nothing said is no failure")
  })

  test("is a limit of the account with the time it is over, from its field and, in a failed turn, from its words", () => {
    const resetsAt = 1_800_000_000
    const event = { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt } }
    const words = { is_error: true, result: "You've hit your limit · resets 3pm (UTC)" }
    const told = readLines(parser(), [init([]), event, result(words)]).end?.failure
    assert.deepEqual([told?.code, told?.retryAt], ["rate-limited", resetsAt * 1000])
    const said = readLines(parser(), [init([]), result(words)]).end?.failure
    assert.equal(said?.code, "rate-limited")
    assert.equal(new Date(said?.retryAt ?? 0).getUTCHours(), 15)
    const warned = { ...event, rate_limit_info: { status: "allowed_warning", resetsAt } }
    assert.equal(readLines(parser(), [init([]), warned, says("fine"), result({})]).end?.failure, undefined)
  })

  test("fails loudly when its tools are not those it was told to have, before anything is done", () => {
    const strict: Options = { allow: new Set(["read"]), permissions: "allow" }
    const known = claudeToolNames(["read"])
    const start = (tools: string[]) => readLines(parser(strict), [init(tools), says("hi")]).end?.failure
    assert.equal(start(known), undefined)
    assert.equal(start([...known, "mcp__karst__run"]), undefined)
    assert.match(start([...known, "Bash"])?.message ?? "", /not granted: Bash/)
    assert.match(start(known.filter((name) => name !== "Read"))?.message ?? "", /does not know the tools Read/)
    assert.equal(start([])?.code, "protocol")
    const without = readLines(parser(strict), [init(known.filter((name) => name !== "Grep")), says("hi"), result({})])
    assert.equal(without.end?.failure, undefined)
    assert.match(without.of("warning-raised")[0]?.message ?? "", /does not have the tools Grep/)
  })

  test("asks, and is answered in its own words", () => {
    const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "toolu_1" }
    const claude = parser()
    const { permission: ask } = claude.read({ type: "control_request", request_id: "r1", request })
    assert.ok(ask)
    assert.deepEqual([ask.id, ask.name, ask.input], ["toolu_1", "Bash", { command: "ls" }])
    const response = (decision: "allow" | "deny") => claude.permissionAnswer?.(ask, decision)
    assert.deepEqual(response("allow"), {
      type: "control_response",
      response: {
        subtype: "success",
        request_id: "r1",
        response: { behavior: "allow", updatedInput: { command: "ls" } },
      },
    })
    assert.match(JSON.stringify(response("deny")), /"behavior":"deny"/)
    const [, content] = /"message":"([^"]+)"/.exec(JSON.stringify(response("deny"))) ?? []
    const block = { type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: content ?? "" }
    const [result] = claude.read({ type: "user", message: { content: [block] } }).steps
    assert.ok(result?.type === "result" && result.refused, "what was denied was refused, and did not fail")
  })

  test("may be anything: lines without what is expected are passed over", () => {
    const odd = [{}, { type: 5 }, { type: "assistant" }, { type: "user", message: null }, { type: "stream_event" }]
    assert.deepEqual(readLines(parser(), odd as never).steps, [])
  })
})
