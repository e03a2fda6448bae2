import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { PassThrough } from "node:stream"
import { text as readAll } from "node:stream/consumers"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import type { Run, RunResult } from "../src/core/agent.ts"
import type { EventBody } from "../src/core/event.ts"
import { type RunControl, startRun } from "../src/core/run.ts"
import { trajectory } from "../src/core/trajectory.ts"
import { type DisplayOptions, display } from "../src/display.ts"

const noChanges = { created: [], reassigned: [], removed: [] }
const usage = { input: 1200, output: 300, complete: true }

/** Returns a run that emits the events of `body`. Start and end are one second apart. */
function fakeRun(body: (control: RunControl) => unknown, end: Partial<RunResult> = {}): Run {
  const plain: RunResult = {
    id: "run_1",
    status: "done",
    output: "It is done.",
    completion: { by: "answer" },
    cycles: 1,
    usage,
    messages: [],
    trajectory: trajectory([]),
    ...end,
  }
  let ended = false
  return startRun({
    id: "run_1",
    now: () => (ended ? 3500 : 1000),
    async body(control) {
      control.emit({ type: "run-start", agent: "a", messages: [prompt("Dim the light")], metadata: {} })
      await body(control)
      ended = true
      return { result: plain }
    },
    onBodyError: (error) => ({ result: { ...plain, status: control(error), output: "" }, error }),
  })

  function control(error: unknown): RunResult["status"] {
    ended = true
    return error instanceof Error && error.name === "AbortError" ? "aborted" : "failed"
  }
}

function prompt(text: string) {
  return { id: "m_1", role: "user" as const, origin: "prompt" as const, parts: [{ type: "text" as const, text }] }
}

function answer(text: string): EventBody {
  const message = { id: "m_2", role: "assistant" as const, parts: [{ type: "text" as const, text }] }
  return { type: "message-end", message, finish: "stop", usage }
}

/** Yields the events of a cell: its source in pieces, then its result. */
function* cell(
  id: string,
  code: string,
  result: Partial<Extract<EventBody, { type: "code-end" }>>,
): Generator<EventBody> {
  yield { type: "code-start", id, language: "typescript" }
  for (const text of code.match(/[\s\S]{1,5}/g) ?? []) yield { type: "code-delta", id, of: "source", text }
  const parts = [{ type: "code" as const, id, tag: "ts", code, closed: true }]
  yield { type: "message-end", message: { id: `m_${id}`, role: "assistant", parts }, finish: "stop", usage }
  yield { type: "code-end", id, ok: true, text: "", durationMs: 2, calls: 0, changes: noChanges, ...result }
}

async function shown(run: Run, options: DisplayOptions = {}): Promise<string> {
  const stream = new PassThrough()
  const printed = readAll(stream)
  await display(run, { stream, input: new PassThrough(), color: false, ...options })
  stream.end()
  return printed
}

/** Displays a run at a terminal where a person types these lines, one per question. `early` is typed before a
 *  question. */
async function asked(
  run: Run,
  { early = "", lines, rows = 24, isTTY = false }: { early?: string; lines: string[]; rows?: number; isTTY?: boolean },
) {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const stream = Object.assign(new PassThrough(), { rows, columns: 80, isTTY })
  const printed = readAll(stream)
  const answers = lines.values()
  stream.on("data", (text: Buffer) => {
    if (text.toString().includes("Allow it?")) input.write(answers.next().value ?? "")
  })
  input.write(early)
  await display(run, { stream, input, color: false })
  stream.end()
  return printed
}

/** Returns a run that asks about one call, and the decision. `text` is the full text of the call. */
function askingRun(text?: string) {
  const decided: string[] = []
  const run = fakeRun(async (control) => {
    control.emit({ type: "approval-requested", id: "k1", call: { binding: "wipe", args: "" } })
    const decision = await control.awaitDecision("k1", { text })
    decided.push(decision)
    control.emit({ type: "approval-resolved", id: "k1", decision })
  })
  return { run, decided }
}

function emitAll(control: RunControl, events: Iterable<EventBody>): void {
  for (const event of events) control.emit(event)
}

const closing = "✓ done · 1 cycle · 1,500 tokens · 2.5 s\n"

test("a run is shown as it happens: prompt, words, code, calls, output, answer and what it took", async () => {
  const run = fakeRun((control) => {
    control.emit({ type: "cycle-start", cycle: 1 })
    for (const text of ["\n\nI'll look ", "at the **lig", "ht** first.\n", "\n"])
      control.emit({ type: "text-delta", text })
    const code = "const before = await read(light)\nlight.dim(20)\n"
    const [start, ...rest] = cell("c1", code, { text: "<output>\n20\n</output>", calls: 1 })
    const end = rest.pop()
    emitAll(
      control,
      [start, ...rest].filter((event) => event !== undefined),
    )
    control.emit({ type: "call-start", id: "k1", within: "c1", call: { binding: "read", args: '"hall"' } })
    control.emit({ type: "call-end", id: "k1", ok: true, durationMs: 2.4 })
    control.emit({ type: "code-delta", id: "c1", of: "stdout", text: "20\n" })
    if (end) control.emit(end)
    control.emit({ type: "cycle-end", cycle: 1, usage })
    control.emit({ type: "cycle-start", cycle: 2 })
    control.emit({ type: "text-delta", text: "It is done." })
    control.emit(answer("It is done."))
  })
  assert.equal(
    await shown(run),
    `❯ Dim the light

● I'll look at the light first.

  │ const before = await read(light)
  │ light.dim(20)
  → read("hall") 2 ms
  └ 20

● It is done.

${closing}`,
  )
})

test("a failing cell shows what it printed and then its error", async () => {
  const text = "<output>\nhalf\n</output>\n<error>\nTypeError: dimm is not a function\n    at cell:1:7\n</error>"
  const run = fakeRun((control) => emitAll(control, cell("c1", "light.dimm()", { ok: false, text })))
  assert.match(await shown(run), / {2}└ half\n {4}TypeError: dimm is not a function\n {8}at cell:1:7\n/)
  const colored = fakeRun((control) => emitAll(control, cell("c1", "light.dimm()", { ok: false, text })))
  assert.match(await shown(colored, { color: true }), /\x1b\[31mTypeError:\x1b\[39m \x1b\[31mdimm\x1b\[39m/)
})

test("long output is shown by its beginning and end", async () => {
  const output = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join("\n")
  const run = fakeRun((control) => emitAll(control, cell("c1", "x", { text: `<output>\n${output}\n</output>` })))
  const text = await shown(run)
  assert.match(text, /└ line 1\n[\s\S]* line 12\n {4}… 80 more lines\n {4}line 93\n[\s\S]*line 100\n/)
  assert.doesNotMatch(text, /line 13\n/)
})

test("calls are shown one by one, then counted; a failed one says why", async () => {
  const run = fakeRun((control) => {
    const [start, ...rest] = cell("c1", "work()", { text: "<output>\nok\n</output>", calls: 12 })
    const end = rest.pop()
    emitAll(
      control,
      [start, ...rest].filter((event) => event !== undefined),
    )
    for (let index = 0; index < 12; index++) {
      const id = `k${index}`
      control.emit({
        type: "call-start",
        id,
        within: "c1",
        call: { binding: "db", method: "get", args: String(index) },
      })
      const failed = index === 1 ? { ok: false, error: "Error: gone" } : { ok: true }
      control.emit({ type: "call-end", id, durationMs: 1, ...failed })
    }
    if (end) control.emit(end)
  })
  const text = await shown(run)
  assert.match(text, / {2}→ db\.get\(0\) 1 ms\n {2}→ db\.get\(1\) Error: gone\n/)
  assert.match(text, / {2}→ db\.get\(7\) 1 ms\n {2}→ … 4 more calls\n {2}└ ok\n/)
})

test("tool calls show their input and result, also when they end in another order", async () => {
  const run = fakeRun((control) => {
    control.emit({ type: "tool-start", id: "t1", name: "search", input: { query: "karst" } })
    control.emit({ type: "tool-start", id: "t2", name: "read", input: { path: "a.txt" } })
    control.emit({ type: "tool-end", id: "t2", name: "read", ok: true, text: "hello", durationMs: 3 })
    control.emit({ type: "tool-end", id: "t1", name: "search", ok: false, text: "no network", durationMs: 5 })
  })
  const text = await shown(run)
  assert.match(
    text,
    /● search\({"query":"karst"}\)\n\n● read\({"path":"a.txt"}\)\n {2}└ hello\n● search\({"query":"karst"}\)\n {2}└ no network\n/,
  )
})

test("everything else worth knowing is a line", async () => {
  const run = fakeRun((control) => {
    control.emit({ type: "warning-raised", code: "price", message: "The price is not known." })
    control.emit({ type: "provider-changed", from: "claude", to: "codex", reason: "usage limit" })
    control.emit({ type: "skill-activated", name: "charts", messages: [] })
    control.emit({ type: "memory-compacted", tier: 1, from: "a", to: "b", messages: [], usage: { complete: true } })
    control.emit({ type: "prompt-steered", message: { ...prompt("Hurry"), origin: "steer" } })
    control.emit({ type: "prompt-steered", message: { ...prompt("(Two cycles are left.)"), origin: "host" } })
    control.emit({ type: "checkpoint-saved", revision: 3 })
  })
  const text = await shown(run)
  assert.match(
    text,
    /! The price is not known\.\n! Went on with codex instead of claude: usage limit\n◆ Skill charts\.\n✂ Older messages/,
  )
  assert.match(text, /\n❯ Hurry\n· \(Two cycles are left\.\)\n/)
})

test("a source that streams nothing is shown from its whole messages", async () => {
  const run = fakeRun((control) => {
    const parts = [
      { type: "text" as const, text: "First this." },
      { type: "code" as const, id: "c1", tag: "py", code: "print(1)", closed: true },
    ]
    control.emit({ type: "message-end", message: { id: "m_2", role: "assistant", parts }, finish: "stop", usage })
    control.emit({ type: "code-end", id: "c1", ok: true, text: "1", durationMs: 1, calls: 0, changes: noChanges })
  })
  assert.match(await shown(run), /● First this\.\n\n {2}│ print\(1\)\n {2}└ 1\n/)
})

test("each way to end has its own closing line", async () => {
  const failed = fakeRun(() => {}, {
    status: "failed",
    output: "",
    error: { name: "ModelError", message: "The key is wrong." },
  })
  assert.match(await shown(failed), /\n {2}The key is wrong\.\n✗ failed · 1 cycle/)
  const stopped = fakeRun(() => {}, { status: "stopped", reason: "cycles" })
  assert.match(await shown(stopped), /■ stopped by its limit on cycles · 1 cycle/)
  const asked = { kind: "question" as const, id: "q", question: "Which room?", options: ["hall", "attic"] }
  const waiting = fakeRun(() => {}, { status: "waiting", pending: asked })
  assert.match(await shown(waiting), /\? Which room\?\n {4}1\. hall\n {4}2\. attic\n\? waiting for an answer · /)
  const aborted = fakeRun((control) => {
    setImmediate(() => aborted.abort())
    return new Promise((_, reject) => control.signal.addEventListener("abort", () => reject(control.signal.reason)))
  })
  assert.match(await shown(aborted), /■ aborted · /)
})

test("the result comes back whatever the status, and a failed run does not throw", async () => {
  const stream = new PassThrough().resume()
  for (const status of ["done", "failed", "stopped", "waiting"] as const) {
    assert.equal(
      (
        await display(
          fakeRun(() => {}, { status }),
          { stream },
        )
      ).status,
      status,
    )
  }
})

test("unknown tokens and cost are left out, known ones shown, estimates marked", async () => {
  const unknown = fakeRun(() => {}, { usage: { complete: false } })
  assert.match(await shown(unknown), /✓ done · 1 cycle · 2\.5 s\n$/)
  const priced = fakeRun(() => {}, {
    cycles: 12,
    usage: { input: 1_234_567, output: 1, costUsd: 0.5, complete: false },
  })
  assert.match(await shown(priced), /✓ done · 12 cycles · ~1,234,568 tokens · \$0\.5000 · 2\.5 s\n$/)
})

test("short mode has a line for each cell, errors, and the answer", async () => {
  const run = fakeRun(
    (control) => {
      control.emit({ type: "text-delta", text: "Not shown." })
      emitAll(control, cell("c1", "// Load it\nconst a = 1\n", { text: "<output>\n1\n</output>" }))
      emitAll(control, cell("c2", "boom()", { ok: false, text: "<error>\nError: boom\n</error>", durationMs: 1500 }))
    },
    { output: "It **is** done." },
  )
  assert.equal(
    await shown(run, { mode: "short" }),
    `❯ Dim the light
✓ Load it (+ 1 line) · 2 ms
✗ boom() · 1.5 s
  Error: boom

● It is done.

${closing}`,
  )
})

test("result mode prints the answer as it is, and off prints nothing", async () => {
  const body = (control: RunControl) => emitAll(control, cell("c1", "x", {}))
  assert.equal(await shown(fakeRun(body, { output: "It **is**.\n" }), { mode: "result" }), "It **is**.\n")
  assert.equal(await shown(fakeRun(body), { mode: "off" }), "")
  const failed = fakeRun(body, { status: "failed", output: "", error: { name: "Error", message: "no" } })
  assert.match(await shown(failed, { mode: "result" }), /^ {2}no\n✗ failed/)
})

test("a sub-agent's run is shown in short, beside a dotted line", async () => {
  const run = fakeRun((control) => {
    const stamp = { run: "run_2", parent: "run_1", at: 1000 }
    let seq = 0
    const forward = (event: EventBody) => control.forward({ ...event, ...stamp, seq: seq++ })
    forward({ type: "run-start", agent: "cleaner", messages: [prompt("Clean it")], metadata: {} })
    for (const event of cell("c9", "rows.filter(Boolean)", {})) forward(event)
    forward({ type: "run-end", status: "done", output: "ok", cycles: 1, usage })
  })
  assert.match(await shown(run), / {2}┆ ❯ Clean it\n {2}┆ ✓ rows\.filter\(Boolean\) · 2 ms\n {2}┆ ✓ done · 1 cycle/)
})

test("what the model, a cell, a call or an error prints cannot command the terminal", async () => {
  const evil = "a\x1b[2J\x1b]52;c;aGk=\x07\x1b]0;t\x07\u202eb"
  const run = fakeRun(
    (control) => {
      control.emit({ type: "text-delta", text: evil })
      emitAll(control, cell("c1", `x("${evil}")`, { text: `<output>\n${evil}\n</output>` }))
      control.emit({ type: "call-start", id: "k", within: "c1", call: { binding: "f", args: evil } })
      control.emit({ type: "call-end", id: "k", ok: false, durationMs: 1, error: evil })
      control.emit({ type: "tool-start", id: "t", name: evil, input: { [evil]: evil } })
      control.emit({ type: "tool-end", id: "t", name: evil, ok: false, text: evil, durationMs: 1 })
      control.emit({ type: "warning-raised", code: "w", message: evil })
    },
    { status: "failed", output: evil, error: { name: "Error", message: evil } },
  )
  for (const mode of ["full", "short", "result"] as const) {
    assert.doesNotMatch(await shown(run, { mode }), /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
  }
})

test("an approval nobody can answer is denied, with a line", async () => {
  const run = fakeRun(async (control) => {
    control.emit({ type: "approval-requested", id: "k1", call: { binding: "wipe", args: '"all"' }, reason: "deletes" })
    const decision = await control.awaitDecision("k1")
    control.emit({ type: "approval-resolved", id: "k1", decision })
  })
  assert.match(await shown(run), /\? wipe\("all"\) · deletes\n.*no terminal.*denied\.\n {2}✗ denied\n/)
})

for (const [typed, decision] of [
  ["y\n", "allow"],
  ["what\nNO\n", "deny"],
  ["always\n", "always"],
] as const) {
  test(`an approval is asked at the terminal: ${JSON.stringify(typed)} means ${decision}`, async () => {
    const { run, decided } = askingRun()
    assert.match(await asked(run, { lines: [typed] }), /Allow it\?/)
    assert.deepEqual(decided, [decision])
  })
}

test("what was typed before an approval was asked for does not answer it", async () => {
  const { run, decided } = askingRun()
  await asked(run, { early: "y\ny\ny", lines: ["n\n"] })
  assert.deepEqual(decided, ["deny"])
})

test("an approval shows the whole call, a screenful at a time, and more on request", async () => {
  const lines = Array.from({ length: 30 }, (_, at) => `  "line ${at}",`)
  const { run, decided } = askingRun(["wipe(", ...lines, ")"].join("\n"))
  const printed = await asked(run, { lines: ["m\n", "m\n", "more\n", "y\n"], rows: 14 })
  for (const line of lines) assert.ok(printed.includes(line), line)
  assert.match(printed, /… 21 more lines/)
  assert.match(printed, /\[m\]ore/)
  assert.deepEqual(decided, ["allow"])
})

test("a long line of a call is broken at a space and not cut", async () => {
  const text = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ")
  for (const call of [`wipe(\n  "${text}",\n)`, `wipe("${text}")`]) {
    const { run } = askingRun(call)
    const printed = await asked(run, { lines: ["n\n"], isTTY: true })
    for (const line of printed.split("\n")) assert.ok(line.length < 80, line)
    assert.ok(printed.replace(/\n +/g, " ").includes(text))
  }
})

test("a question that is asked again by the same id is not taken for answered", async () => {
  const decided: string[] = []
  const run = fakeRun(async (control) => {
    for (let time = 0; time < 2; time++) {
      control.emit({ type: "approval-requested", id: "k1", call: { binding: "wipe", args: "" } })
      const decision = await control.awaitDecision("k1")
      decided.push(decision)
      control.emit({ type: "approval-resolved", id: "k1", decision })
    }
  })
  await asked(run, { lines: ["y\n", "a\n"] })
  assert.deepEqual(decided, ["allow", "always"])
})

test("a withdrawn question does not answer the next one of the same id", async () => {
  const decided: string[] = []
  const run = fakeRun(async (control) => {
    control.emit({ type: "approval-requested", id: "k1", call: { binding: "wipe", args: "" } })
    const first = control.awaitDecision("k1")
    setImmediate(() => run.approve("k1", "allow"))
    decided.push(await first)
    control.emit({ type: "approval-resolved", id: "k1", decision: "allow" })
    control.emit({ type: "approval-requested", id: "k1", call: { binding: "wipe", args: "" } })
    decided.push(await control.awaitDecision("k1"))
    control.emit({ type: "approval-resolved", id: "k1", decision: "always" })
  })
  await asked(run, { lines: ["always\n"] })
  assert.deepEqual(decided, ["allow", "always"])
})

test("an agent that answers its own questions is left to it", async () => {
  const run = fakeRun((control) => {
    const call = { binding: "wipe", args: "" }
    control.emit({ type: "approval-requested", id: "k1", call, answerer: "agent" })
    control.emit({ type: "approval-resolved", id: "k1", decision: "allow" })
  })
  const text = await shown(run, { input: Object.assign(new PassThrough(), { isTTY: true }) })
  assert.doesNotMatch(text, /Allow it\?|denied/)
})

test("a question somebody else answered, or a run that ended, is withdrawn", async () => {
  const run = fakeRun(async (control) => {
    control.emit({ type: "approval-requested", id: "k1", call: { binding: "wipe", args: "" } })
    await new Promise(setImmediate)
    control.emit({ type: "approval-resolved", id: "k1", decision: "allow" })
  })
  const input = Object.assign(new PassThrough(), { isTTY: true })
  assert.match(await shown(run, { input }), /approved \(allow\)\n\n✓ done/)
  const endless = fakeRun((control) => {
    control.emit({ type: "approval-requested", id: "k1", call: { binding: "wipe", args: "" } })
    setImmediate(() => endless.abort())
    return control.awaitDecision("k1")
  })
  assert.match(await shown(endless, { input: Object.assign(new PassThrough(), { isTTY: true }) }), /■ aborted/)
})

/** Returns what a terminal shows after all cursor movements, and whether its cursor is visible. */
function terminal(output: string): { lines: string[]; cursor: boolean } {
  const cursor = output.lastIndexOf("\x1b[?25h") >= output.lastIndexOf("\x1b[?25l")
  const plain = output.replace(/\x1b\[\?25[hl]/g, "").replace(/\x1b\[\d+m/g, "")
  const lines = plain.split("\n").map((line) => line.slice(line.lastIndexOf("\r\x1b[K") + 1).replace("\x1b[K", ""))
  return { lines, cursor }
}

function tty(columns = 60) {
  return Object.assign(new PassThrough(), { isTTY: true, columns })
}

test("in a terminal a spinner turns while the run waits, and leaves no trace", async () => {
  const stream = tty()
  const run = fakeRun(async (control) => {
    control.emit({ type: "cycle-start", cycle: 1 })
    control.emit({ type: "reasoning-delta", text: "Let me think about 日本語" })
    await new Promise(setImmediate)
    emitAll(control, cell("c1", "light.dim()", { text: "<output>\nok\n</output>" }))
  })
  await display(run, { stream, color: true })
  const output = String(stream.read())
  assert.match(output, /⠋.*thinking · 0\.0 s/)
  assert.match(output, /running · 0\.0 s · 1,500 tokens/)
  const { lines, cursor } = terminal(output)
  assert.doesNotMatch(lines.join("\n"), /thinking|running|[⠋⠙⠹⠸]/)
  assert.ok(cursor, "the cursor is visible again")
  assert.ok(lines.includes("  └ ok"))
})

test("lines are broken for the terminal's width, wide characters counted as two", async () => {
  const stream = tty(31)
  const run = fakeRun((control) => {
    control.emit({
      type: "text-delta",
      text: "A sentence that is longer than the terminal is wide. 日本語の文章は空白がなくても折り返されます。",
    })
    emitAll(control, cell("c1", "const name = someFunction(withArguments, andMore)", { text: "数".repeat(40) }))
  })
  await display(run, { stream, color: true })
  for (const line of terminal(String(stream.read())).lines) {
    const columns = [...line].reduce((sum, sign) => sum + (/[\u3000-\u9fff]/.test(sign) ? 2 : 1), 0)
    assert.ok(columns <= 30, JSON.stringify(line))
  }
})

test("calls, tools, output, code and the closing line are wrapped between words", async () => {
  const words = Array.from({ length: 12 }, (_, at) => `word${at}`).join(" ")
  const stream = tty(32)
  const run = fakeRun((control) => {
    const [start, ...rest] = cell("c1", `say("${words}")`, { text: `<output>\n${words}\n</output>` })
    const end = rest.pop()
    for (const event of [start, ...rest]) if (event) control.emit(event)
    control.emit({ type: "call-start", id: "k", within: "c1", call: { binding: "say", args: `"${words}"` } })
    control.emit({ type: "call-end", id: "k", ok: true, durationMs: 12 })
    if (end) control.emit(end)
    control.emit({ type: "tool-start", id: "t", name: "search", input: { query: words } })
    control.emit({ type: "tool-end", id: "t", name: "search", ok: true, text: words, durationMs: 3 })
  })
  await display(run, { stream, color: false })
  const lines = terminal(String(stream.read())).lines
  for (const line of lines) assert.ok(line.length < 32, line)
  const joined = lines.map((line) => line.replace(/^ *(?:[│└→●] *)?/, "")).join(" ")
  // The code, its call, its output, the tool's input and the tool's output.
  assert.equal(joined.split(words).length - 1, 5, joined)
  assert.match(joined, /✓ done · 1 cycle · 1,500 tokens · 2\.5 s/)
})

test("repeated retries are one line with their number", async () => {
  const retry = (attempt: number) => ({
    type: "warning-raised" as const,
    code: "model-retried",
    message: `The service is busy (429). Trying again in ${attempt}.5 s (retry ${attempt}).`,
  })
  const run = fakeRun((control) => {
    control.emit({ type: "cycle-start", cycle: 1 })
    for (let attempt = 1; attempt <= 4; attempt++) control.emit(retry(attempt))
    control.emit({ type: "text-delta", text: "Hello" })
    control.emit(answer("Hello"))
    control.emit(retry(1))
  })
  const text = await shown(run)
  assert.match(text, /! The service is busy \(429\)\. Tried again 4 times\.\n\n● Hello\n/)
  assert.match(text, /! The service is busy \(429\)\. Tried again\.\n\n✓ done/)
  assert.doesNotMatch(text, /Trying again/)
  assert.match(await shown(run, { mode: "short" }), /! The service is busy \(429\)\. Tried again 4 times\.\n/)
})

test("in a terminal the status says at once that the model is asked again", async () => {
  const stream = tty(80)
  const message = "The service is busy (429). Trying again in 2.0 s (retry 3)."
  const run = fakeRun(async (control) => {
    control.emit({ type: "cycle-start", cycle: 1 })
    control.emit({ type: "warning-raised", code: "model-retried", message })
    await new Promise(setImmediate)
  })
  await display(run, { stream, color: true })
  assert.match(String(stream.read()), /The service is busy \(429\)\. Trying again in 2\.0 s \(retry 3\)/)
})

test("without colour a terminal gets plain text: no spinner, no sequences", async () => {
  const stream = tty()
  await display(
    fakeRun((control) => emitAll(control, [{ type: "cycle-start", cycle: 1 }, answer("x")])),
    { stream, color: false },
  )
  assert.doesNotMatch(String(stream.read()), /\x1b|[⠋⠙⠹⠸]/)
})

test("NO_COLOR makes a terminal plain and FORCE_COLOR makes a file colourful", async (t) => {
  const { NO_COLOR, FORCE_COLOR } = process.env
  t.after(() => restoreEnv({ NO_COLOR, FORCE_COLOR }))
  restoreEnv({ NO_COLOR: "1", FORCE_COLOR: undefined })
  const terminalStream = tty()
  await display(
    fakeRun(() => {}),
    { stream: terminalStream },
  )
  assert.doesNotMatch(String(terminalStream.read()), /\x1b/)
  restoreEnv({ NO_COLOR: "1", FORCE_COLOR: "1" })
  const file = new PassThrough()
  await display(
    fakeRun(() => {}),
    { stream: file },
  )
  assert.match(String(file.read()), /\x1b\[32m✓\x1b\[39m \x1b\[32mdone\x1b\[39m/)
})

function restoreEnv(values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

test("a signal that ends the process while the spinner turns still shows the cursor, and still ends it", async () => {
  const program = `
    import { startRun } from ${JSON.stringify(new URL("../src/core/run.ts", import.meta.url).href)}
    import { display } from ${JSON.stringify(new URL("../src/display.ts", import.meta.url).href)}
    Object.assign(process.stdout, { isTTY: true, columns: 80 })
    setInterval(() => {}, 1000)
    const run = startRun({ id: "r", broken: () => {}, body: (control) => {
      control.emit({ type: "cycle-start", cycle: 1 })
      return new Promise(() => {})
    } })
    display(run, { color: true })`
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
  })
  const printed = readAll(child.stdout)
  await once(child.stdout, "data")
  child.kill("SIGINT")
  const [, signal] = await once(child, "exit")
  assert.equal(signal, "SIGINT")
  assert.ok((await printed).endsWith("\x1b[?25h"))
})
