// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Json } from "karst"
import { decidePermission, permissionAnswer } from "../../../src/providers/acp/acp-permissions.ts"
import { acpRequestFailure } from "../../../src/providers/acp/acp-process.ts"
import { createAcpUpdateReader, readAcpCost, readAcpUsage } from "../../../src/providers/acp/acp-updates.ts"
import type { Step, TurnSettings } from "../../../src/providers/provider.ts"
import { objectAt, textAt } from "../../../src/providers/read-json.ts"
import { readCliRecording } from "../cli-recordings.ts"

// The steps of a recorded turn if everything is allowed.
function stepsOf(name: string): Step[] {
  const reader = createAcpUpdateReader("/project")
  const steps = readCliRecording(name).flatMap((line) => {
    const method = textAt(line, "method")
    if (method === "session/update") return reader.update(objectAt(line, "params", "update"))
    if (method === "session/request_permission")
      return reader.permissionRequested(objectAt(line, "params", "toolCall")).steps
    return []
  })
  return [...steps, ...reader.finish()]
}

const wholes = (steps: Step[]) => steps.filter((step) => !("delta" in step))

describe("what agents tell over ACP", () => {
  test("is the name, the input and the result of each call, and the whole text after its pieces", () => {
    assert.deepEqual(wholes(stepsOf("acp-opencode-mcp")), [
      { type: "call", id: "call_50", name: "acphttp_add", input: { a: 1, b: 2 } },
      { type: "result", id: "call_50", ok: true, text: "SUM=3" },
      { type: "text", text: "tool said: SUM=3" },
    ])
    const [bash, progress, ran, write, wrote, files, text] = wholes(stepsOf("acp-opencode"))
    assert.deepEqual(bash, {
      type: "call",
      id: "call_3",
      name: "bash",
      input: { command: "echo hi", description: "x", cwd: "/project" },
    })
    assert.deepEqual(progress, { type: "progress", id: "call_3", text: "hi\n" })
    assert.deepEqual(ran, { type: "result", id: "call_3", ok: true, text: "hi\n" })
    assert.deepEqual([write?.type, wrote?.type], ["call", "result"])
    assert.deepEqual(files, { type: "files", paths: ["/project/a.txt"] })
    assert.deepEqual(text, { type: "text", text: "tool said: hi\n | Wrote file successfully." })
  })

  test("may be the end of a call before anything else of it", () => {
    const [call, result] = stepsOf("acp-gemini-mcp")
    const input = { title: "add (acphttp MCP Server)" }
    assert.deepEqual(call, { type: "call", id: "mcp_acphttp_add__f16", name: "mcp_acphttp_add", input })
    assert.deepEqual(result, { type: "result", id: "mcp_acphttp_add__f16", ok: true, text: "SUM=3" })
  })

  test("names calls by their ids where titles are descriptions, and files by diffs", () => {
    const steps = stepsOf("acp-gemini")
    assert.deepEqual(
      steps.flatMap((step) => (step.type === "call" ? [[step.name, step.input]] : [])),
      [
        ["run_shell_command", { title: "echo hi" }],
        ["write_file", { title: "Writing to a.txt" }],
        ["list_directory", { title: "." }],
      ],
    )
    assert.deepEqual(
      steps.filter(({ type }) => type === "files"),
      [{ type: "files", paths: ["/project/a.txt"] }],
    )
  })

  test("keeps thoughts from what is said, and ends a refused call once", () => {
    const reader = createAcpUpdateReader("/")
    const chunk = (sessionUpdate: string, text: string) =>
      reader.update({ sessionUpdate, content: { type: "text", text } })
    assert.deepEqual(wholes([...chunk("agent_thought_chunk", "a"), ...chunk("agent_thought_chunk", "b")]), [])
    assert.deepEqual(wholes(chunk("agent_message_chunk", "c")), [{ type: "reasoning", text: "ab" }])
    const { steps } = reader.permissionRequested({ toolCallId: "x", title: "rm it", kind: "delete" })
    assert.deepEqual(steps, [
      { type: "text", text: "c" },
      { type: "call", id: "x", name: "delete", input: { title: "rm it" } },
    ])
    assert.equal(reader.hasRunningCalls, true)
    assert.deepEqual(reader.permissionDenied("x"), [
      { type: "result", id: "x", ok: false, text: "It was not allowed.", refused: true },
    ])
    assert.deepEqual(reader.update({ sessionUpdate: "tool_call_update", toolCallId: "x", status: "failed" }), [])
    assert.deepEqual([reader.hasRunningCalls, reader.finish()], [false, []])
  })

  test("counts tokens whether or not an agent counts what was cached and thought apart", () => {
    const last = (name: string) => objectAt(readCliRecording(name).at(-1), "result")
    assert.deepEqual(readAcpUsage(last("acp-opencode-mcp")), {
      complete: true,
      input: 100,
      output: 20,
      cacheRead: 40,
      reasoning: 5,
    })
    assert.deepEqual(readAcpUsage(last("acp-gemini")), { complete: true, input: 400, output: 80 })
    const within = { inputTokens: 100, outputTokens: 20, totalTokens: 120, cachedReadTokens: 40 }
    assert.deepEqual(readAcpUsage({ usage: within }), { complete: true, input: 100, output: 20, cacheRead: 40 })
    assert.deepEqual(readAcpUsage({ stopReason: "end_turn" }), { complete: false })
    assert.equal(readAcpCost({ sessionUpdate: "usage_update", cost: { amount: 0.2, currency: "USD" } }), 0.2)
    assert.equal(readAcpCost({ sessionUpdate: "usage_update", cost: { amount: 0.2, currency: "EUR" } }), undefined)
  })
})

describe("what agents ask over ACP", () => {
  const servers: TurnSettings["servers"] = [{ name: "karst", toolTimeoutMs: 1, url: "http://127.0.0.1" }]
  const verdict = (kind: string, settings: Partial<TurnSettings>, name = kind, title = name) =>
    decidePermission(
      { id: "1", name, kind, title, input: {} },
      { allow: new Set(["read", "exec"]), permissions: "allow", servers, ...settings },
    )

  test("is granted by the group that the kind of the call is of", () => {
    const kinds = ["read", "search", "execute", "edit", "delete", "move", "fetch", "other", "think"]
    const granted = kinds.filter((kind) => verdict(kind, {}) === "allow")
    assert.deepEqual(granted, ["read", "search", "execute"])
    assert.equal(verdict("other", { allow: new Set(["read", "write", "exec", "web"]) }), "allow")
    assert.equal(verdict("edit", { permissions: "bypass" }), "allow")
  })

  test("is asked where somebody wants to be, but for reading and for what is not allowed at all", () => {
    const kinds = ["read", "execute", "edit"]
    assert.deepEqual(
      kinds.map((kind) => verdict(kind, { permissions: "ask" })),
      ["allow", "ask", "deny"],
    )
  })

  test("is granted for our own servers, however the agent spells their tools", () => {
    const spellings: [string, string][] = [
      ["karst_run", "karst_run"],
      ["mcp__karst__run", "x"],
      ["other", "run (karst MCP Server)"],
      ["other", "mcp_karst_run"],
    ]
    for (const [name, title] of spellings) assert.equal(verdict("other", {}, name, title), "allow", title)
    assert.equal(verdict("edit", {}, "karst_run"), "deny")
    assert.equal(verdict("other", {}, "karstify"), "deny")
    for (const other of ["mcp__karst_2__run", "mcp__karst-2__run"]) assert.equal(verdict("other", {}, other), "deny")
  })

  test("is answered by the mildest of the options that says so", () => {
    const options = (...kinds: string[]): { [key: string]: Json } => ({
      options: kinds.map((kind) => ({ optionId: `id-${kind}`, kind })),
    })
    const all = options("allow_always", "allow_once", "reject_always", "reject_once")
    const optionOf = (answer: { [key: string]: Json }) => textAt(answer, "outcome", "optionId")
    assert.equal(optionOf(permissionAnswer(all, "allow")), "id-allow_once")
    assert.equal(optionOf(permissionAnswer(all, "always")), "id-allow_always")
    assert.equal(optionOf(permissionAnswer(all, "deny")), "id-reject_once")
    assert.equal(optionOf(permissionAnswer(options("allow_always"), "allow")), "id-allow_always")
    assert.deepEqual(permissionAnswer(options("allow_once"), "deny"), { outcome: { outcome: "cancelled" } })
  })

  test("and is refused tells why by a code", () => {
    const names = { provider: "acp", title: "Agent" }
    const code = (code: number, message: string, data?: Json) =>
      acpRequestFailure(names, "session/load", { code, message, data }).code
    assert.equal(code(-32000, "Authentication required"), "authentication")
    assert.equal(code(429, "Rate limit exceeded"), "rate-limited")
    assert.equal(code(-32603, "Internal error", { statusCode: 503 }), "overloaded")
    assert.equal(
      code(-32603, "Internal error", { details: "No previous sessions found for this project." }),
      "session-not-found",
    )
    assert.equal(code(-32603, "fetch failed"), "connection")
    const { message } = acpRequestFailure(names, "session/prompt", {
      code: 401,
      message: '{"error":{"message":"no such key"}}',
    })
    assert.match(message, /^Agent: no such key\. Log in/)
  })
})
