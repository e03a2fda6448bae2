import assert from "node:assert/strict"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { messageText, totalTokens } from "karst"
import { loadSession, toAtif } from "karst/sessions"
import { freshFolder } from "./session-fixtures.ts"

const usage = (input_tokens: number, output_tokens: number) => ({
  ...{ input_tokens, output_tokens, cache_read_tokens: 100, cache_write_tokens: 10, cost_usd: 0.5 },
})

const child = {
  agent: "claude_code",
  model: "haiku",
  session_id: "child-1",
  created_at: "2026-03-01T10:00:02+00:00",
  turns: [{ input: "Look it up", output: [{ type: "text", text: "It is 42." }], usage: usage(1, 2), duration_ms: 500 }],
}

const caw = {
  agent: "claude_code",
  model: "opus",
  session_id: "0b1c",
  created_at: "2026-03-01T10:00:00+00:00",
  completed_at: "2026-03-01T10:05:00+00:00",
  usage_limited: false,
  system_prompt: "Be brief.",
  reasoning: null,
  mcp_servers: [],
  turns: [
    {
      input: "What is it?",
      output: [
        { type: "thinking", text: "Hm." },
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "t1", name: "Bash", arguments: { command: "ls" }, output: "a.txt" },
        {
          type: "tool_use",
          id: "t2",
          name: "expert",
          arguments: { prompt: "x" },
          output: "42",
          subagent_trajectory: child,
        },
        { type: "tool_use", id: "t3", name: "Read", arguments: {}, output: "no such file", is_error: true },
        { type: "text", text: "It is 42." },
      ],
      usage: usage(10, 20),
      duration_ms: 4000,
    },
    { input: "Again", output: [], usage: {}, duration_ms: 1000, failure_reason: "error_max_turns" },
  ],
  usage: usage(10, 20),
  duration_ms: 5000,
  metadata: { ticket: "A-1" },
}

describe("a trajectory of caw", () => {
  test("is loaded with its turns as runs, its calls and its usage", async () => {
    await using folder = await freshFolder()
    const path = join(folder.path, "run.traj.json")
    await writeFile(path, JSON.stringify(caw, undefined, 2))
    const session = await loadSession(path)
    const record = session.trajectory()
    assert.equal(session.id, "0b1c")
    assert.deepEqual([record.agent, record.system, record.metadata], ["claude_code", "Be brief.", { ticket: "A-1" }])
    assert.deepEqual(
      record.runs.map(({ status, output, cycles, model }) => ({ status, output, cycles, model })),
      [
        { status: "done", output: "It is 42.", cycles: 2, model: "opus" },
        { status: "failed", output: "", cycles: 0, model: "opus" },
      ],
    )
    assert.equal(record.runs[1]?.error?.message, "error_max_turns")
    assert.equal(record.startedAt, Date.UTC(2026, 2, 1, 10))
    assert.equal(record.runs[0]?.endedAt, Date.UTC(2026, 2, 1, 10, 0, 4))
    assert.equal(record.completedAt, Date.UTC(2026, 2, 1, 10, 5))
    // Both the parent's and the sub-agent's, with what was read from the cache.
    assert.equal(totalTokens(record.usage), 10 + 20 + 110 + 1 + 2 + 110)
    assert.equal(record.usage.costUsd, 1)
    assert.equal(record.usage.complete, false)
    assert.deepEqual(
      session.messages().map(({ role }) => role),
      ["user", "assistant", "result", "result", "result", "assistant", "user"],
    )
    assert.match(messageText(session.messages()[4] ?? assert.fail()), /no such file/)
  })

  test("keeps sub-agents as child runs of the turn that called them", async () => {
    await using folder = await freshFolder()
    const path = join(folder.path, "trajectory.json")
    await writeFile(path, JSON.stringify(caw))
    const { events, runs } = (await loadSession(path)).trajectory()
    const nested = events.filter(({ parent }) => parent === runs[0]?.id)
    assert.deepEqual(
      nested.map(({ type }) => type),
      ["run-start", "cycle-start", "message-end", "cycle-end", "run-end"],
    )
    assert.ok(toAtif((await loadSession(path)).trajectory()).steps.length > 3)
  })

  test("is found in its session folder, saved as one of ours, and loaded again", async () => {
    await using folder = await freshFolder()
    const own = join(folder.path, "sessions", "0b1c")
    await mkdir(own, { recursive: true })
    await writeFile(join(own, "trajectory.json"), JSON.stringify(caw))
    const loaded = await loadSession(own)
    const path = join(folder.path, "ours.json")
    await loaded.save(path)
    assert.deepEqual((await loadSession(path)).trajectory(), loaded.trajectory())
  })

  test("may lack fields, have unknown blocks and the mark of a usage limit", async () => {
    await using folder = await freshFolder()
    const path = join(folder.path, "old.json")
    const turns = [
      {
        input: "Hi",
        output: [
          { type: "image", output: { a: 1 } },
          { type: "text", text: "Limit reached" },
        ],
      },
    ]
    await writeFile(path, JSON.stringify({ turns, usage_limited: true }))
    const record = (await loadSession(path)).trajectory()
    assert.deepEqual([record.agent, record.session, record.usageLimited], ["caw", "unknown", true])
    assert.equal(record.usage.complete, false)
    assert.equal(record.messages.length, 4)
    await writeFile(path, JSON.stringify({ turns: [] }))
    assert.equal((await loadSession(path)).trajectory().runs.length, 0)
  })

  test("keeps the results of two calls with the same id apart, and counts no negative tokens", async () => {
    const call = (a: number, output: string) => ({ type: "tool_use", id: "t", name: "n", arguments: { a }, output })
    const turn = { input: "p", output: [call(1, "first"), call(2, "second")], usage: usage(-5, 7) }
    await using folder = await freshFolder()
    const file = join(folder.path, "trajectory.json")
    await writeFile(file, JSON.stringify({ turns: [turn, turn] }))
    const record = (await loadSession(file)).trajectory()
    const results = record.messages.flatMap(({ role, parts: [part] }) => (role === "result" ? [part] : []))
    assert.deepEqual(
      results.map((part) => part?.type === "tool-result" && [part.id, part.text]),
      [
        ["t", "first"],
        ["t-2", "second"],
        ["t-3", "first"],
        ["t-4", "second"],
      ],
    )
    assert.equal(record.usage.input, 220)
  })

  test("is told from other JSON", async () => {
    await using folder = await freshFolder()
    const path = join(folder.path, "other.json")
    for (const other of [
      {},
      [],
      { turns: 1 },
      { turns: [1] },
      { turns: [{ output: "x" }] },
      { version: 2, turns: [] },
    ]) {
      await writeFile(path, JSON.stringify(other))
      await assert.rejects(loadSession(path), /no trajectory\b.*\bcaw/, JSON.stringify(other))
    }
  })
})
