import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { writeFileTool } from "../../../src/tools/files/write-file.ts"
import { tool, toolResult } from "../../../src/tools/tool.ts"
import { memoryWorkspace } from "../../../src/workspaces/memory.ts"
import { call, calls, errorCodeOf, finish, resultsIn, toolEnds } from "../tool-call-helpers.ts"

const noted: string[] = []
const note = tool({ name: "note", description: "Notes.", run: () => `note ${noted.push("note")}` })
const agentOf = (model: ReturnType<typeof scriptedModel>, options = {}) =>
  createAgent({ noTool: "continue", todos: true, model, tools: [note], ...options })

describe("finish", () => {
  test("is refused while todos are open, naming them, and works once they are done", async () => {
    const plan = { todos: [{ title: "Write the report" }, { title: "Send it", status: "done" }] }
    const model = scriptedModel([
      calls(call("write_todos", plan)),
      calls(finish("Too early.")),
      calls(call("write_todos", { todos: [{ title: "Write the report", status: "done" }] })),
      calls(finish("Sent.")),
    ])
    const { status, output, cycles, trajectory } = await agentOf(model).run("go")
    assert.deepEqual([status, output, cycles], ["done", "Sent.", 4])
    const refused = toolEnds(trajectory.events)[1]
    assert.equal(errorCodeOf(refused), "todos-open")
    assert.match(refused?.text ?? "", /Write the report \(pending\)/)
    assert.doesNotMatch(refused?.text ?? "", /Send it/)
  })

  test("with broken JSON never finishes, and the answer is not lost", async () => {
    const model = scriptedModel([calls(call("finish", '{"message": "It is 4')), calls(finish("It is 42."))])
    const { output, cycles, trajectory } = await agentOf(model).run("go")
    assert.deepEqual([output, cycles], ["It is 42.", 2])
    assert.equal(errorCodeOf(toolEnds(trajectory.events)[0]), "invalid-json")
  })

  test("without a message never finishes", async () => {
    const model = scriptedModel([calls(call("finish", { _raw: "It is 42." })), calls(finish("It is 42."))])
    const { output, cycles } = await agentOf(model).run("go")
    assert.deepEqual([output, cycles], ["It is 42.", 2])
  })

  test("has no way round the todos by another argument", async () => {
    const model = scriptedModel([
      calls(call("write_todos", { todos: [{ title: "Work" }] })),
      calls(call("finish", { message: "ok", require_all_todos_completed: false, force: true })),
      calls(call("write_todos", { todos: [] }), finish()),
    ])
    const { cycles } = await agentOf(model).run("go")
    assert.equal(cycles, 3)
  })

  test("hands over files that exist, and no others", async () => {
    const workspace = memoryWorkspace()
    await workspace.write("report.md", "# Report")
    const model = scriptedModel([
      calls(call("finish", { message: "Here.", files: ["report.md", "lost.md"] })),
      calls(call("finish", { message: "Here.", files: ["report.md"] })),
    ])
    const { files, cycles } = await agentOf(model, { workspace }).run("go")
    assert.deepEqual([files, cycles], [["report.md"], 2])
  })

  test("may follow other calls in one answer, unless one of them failed", async () => {
    const model = scriptedModel([
      calls(call("note"), call("nowhere"), finish("Noted."), call("note")),
      calls(call("note"), finish("Noted now.")),
    ])
    const { output, cycles, trajectory } = await agentOf(model).run("go")
    assert.deepEqual([output, cycles], ["Noted now.", 2])
    const ends = toolEnds(trajectory.events)
    assert.deepEqual(ends.map(errorCodeOf), [undefined, "unknown-tool", "skipped-failure", ...Array(3).fill(undefined)])
    assert.match(ends[2]?.text ?? "", /a call before it in the same answer failed/)
  })

  test("answers the calls after it without making them", async () => {
    noted.length = 0
    const model = scriptedModel([calls(call("note"), finish("Enough."), call("note"), call("nowhere"))])
    const { output, trajectory } = await agentOf(model).run("go")
    assert.equal(output, "Enough.")
    assert.equal(noted.length, 1)
    const codes = toolEnds(trajectory.events).map(errorCodeOf)
    assert.deepEqual(codes, [undefined, undefined, "skipped-finish", "skipped-finish"])
  })
})

describe("a question", () => {
  test("has the run wait, and the session goes on with the answer", async () => {
    const question = { question: "Which month?", options: ["May", " June ", "May"], multiple: false, custom: false }
    const model = scriptedModel([
      calls(call("ask", question, "q1"), call("ask", question)),
      calls(finish("June it is.")),
    ])
    await using session = await agentOf(model).session()
    const run = session.send("Sum it up")
    const asked = (await Array.fromAsync(run)).find((event) => event.type === "question-asked")
    const result = await run
    assert.equal(result.status, "waiting")
    assert.deepEqual(result.completion, { by: "question", tool: "ask" })
    const expected = { question: "Which month?", options: ["May", "June"], multiple: false, custom: false }
    assert.deepEqual(result.pending, { kind: "question", id: "q1", ...expected })
    assert.equal(asked?.question, "Which month?")
    // The second question was not asked, but has a result.
    assert.equal(errorCodeOf(toolEnds(result.trajectory.events)[1]), "skipped-ask")
    const answered = await session.send("June")
    assert.deepEqual([answered.status, answered.output], ["done", "June it is."])
    const last = model.requests[1]?.messages.at(-1)
    assert.equal(last?.role, "user")
  })

  test("can be answered without a session, from the result", async () => {
    const model = scriptedModel([calls(call("ask", { question: "Sure?" })), calls(finish("Gone."))])
    const agent = agentOf(model)
    const waiting = await agent.run("Delete it")
    const { output } = await agent.run("yes", { from: waiting })
    assert.equal(output, "Gone.")
  })
})

describe("a directive", () => {
  const directing = (name: string, directive: NonNullable<Parameters<typeof toolResult>[0]["directive"]>, ok = true) =>
    tool({
      name,
      description: name,
      run: () => toolResult({ text: "said", directive, ok, ...(!ok && { code: "no" }) }),
    })

  test("of any tool ends the run or has it wait", async () => {
    const submit = directing("submit", { kind: "finish", message: "Submitted." })
    const done = await createAgent({
      noTool: "continue",
      todos: true,
      model: scriptedModel([calls(call("submit"))]),
      tools: [submit],
    }).run("go")
    assert.deepEqual([done.output, done.completion], ["Submitted.", { by: "tool", tool: "submit" }])
    const consult = directing("consult", { kind: "ask", question: "May I?" })
    const waiting = await createAgent({
      noTool: "continue",
      todos: true,
      model: scriptedModel([calls(call("consult"))]),
      tools: [consult],
    }).run("go")
    assert.equal(waiting.pending?.kind === "question" && waiting.pending.question, "May I?")
  })

  test("to continue, or of a failure, changes nothing", async () => {
    const on = directing("on", { kind: "continue" })
    const failed = directing("failed", { kind: "finish", message: "Not so." }, false)
    const model = scriptedModel([calls(call("on"), call("failed"), call("on")), calls(finish("Really."))])
    const { output, messages } = await createAgent({ noTool: "continue", todos: true, model, tools: [on, failed] }).run(
      "go",
    )
    assert.equal(output, "Really.")
    assert.deepEqual(
      resultsIn(messages).map(({ ok }) => ok),
      [true, false, true, true],
    )
  })

  test("of one of a parallel group is the first in the model's order, and the others have their results", async () => {
    const racer = (name: string, first: boolean) =>
      tool({
        name,
        description: name,
        parallel: true,
        async run() {
          if (first) await new Promise(setImmediate)
          return toolResult({ text: name, directive: { kind: "finish", message: name } })
        },
      })
    const model = scriptedModel([calls(call("slow"), call("fast"))])
    const { output, messages } = await createAgent({
      noTool: "continue",
      todos: true,
      model,
      tools: [racer("slow", true), racer("fast", false)],
    }).run("go")
    assert.equal(output, "slow")
    assert.equal(resultsIn(messages).length, 2)
  })
})

describe("stopOn", () => {
  test("ends with the result of the first tool that worked", async () => {
    noted.length = 0
    const model = scriptedModel([calls("Hm.", call("nowhere"), call("note"), call("note"))])
    const { status, output, completion, trajectory } = await agentOf(model, { stopOn: "first-tool" }).run("go")
    assert.deepEqual([status, output, completion], ["done", "note 1", { by: "tool", tool: "note" }])
    assert.deepEqual(toolEnds(trajectory.events).map(errorCodeOf), ["unknown-tool", undefined, "skipped-finish"])
  })

  test("ends with a named tool only", async () => {
    noted.length = 0
    const other = tool({ name: "other", description: "Other.", run: () => "x".repeat(9000) })
    const model = scriptedModel([calls(call("note")), calls(call("other"))])
    const { output, completion } = await createAgent({
      noTool: "continue",
      todos: true,
      model,
      tools: [note, other],
      stopOn: ["other"],
    }).run("go")
    assert.deepEqual(completion, { by: "tool", tool: "other" })
    assert.equal(output.length, 9000)
  })
})

describe("an answer without a tool call", () => {
  test("is the answer, and finish, write_todos and compact_memory are not offered", async () => {
    const model = scriptedModel([calls(call("note")), "It is 4."])
    const result = await createAgent({ model, tools: [note] }).run("2 + 2?")
    assert.deepEqual([result.status, result.output, result.completion], ["done", "It is 4.", { by: "answer" }])
    const { system = "", tools = [] } = model.requests[0] ?? {}
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["note", "ask", "read_artifact"],
    )
    assert.match(system, /answer in plain text without a tool call/)
    assert.doesNotMatch(system, /finish/)
  })

  test("is sent back once while todos are open, with their titles; given again, it is the answer", async () => {
    const todos = [{ title: "Count" }, { title: "Compare", status: "done" }]
    const model = scriptedModel([calls(call("write_todos", { todos })), "It is 4.", "Still 4."])
    const result = await createAgent({ model, tools: [note], todos: true }).run("go")
    assert.deepEqual([result.status, result.output, result.cycles], ["done", "Still 4.", 3])
    const reminder = JSON.stringify(model.requests[2]?.messages.at(-1))
    assert.match(reminder, /todos are open.*- Count/)
    assert.doesNotMatch(reminder, /Compare/)
  })

  test("is not sent back again in a later run for the same todos, but for new ones", async () => {
    const write = (...titles: string[]) => calls(call("write_todos", { todos: titles.map((title) => ({ title })) }))
    const model = scriptedModel([write("Count"), "One.", "One.", "Two.", write("Count", "Sum"), "Three.", "Three."])
    await using session = await createAgent({ model, tools: [note], todos: true }).session()
    const cycles = async (prompt: string) => (await session.send(prompt)).cycles
    assert.deepEqual([await cycles("a"), await cycles("b"), await cycles("c")], [3, 1, 3])
  })

  test("is sent back for open todos to an agent that writes code, too", async () => {
    const model = scriptedModel([calls(call("write_todos", { todos: [{ title: "Count" }] })), "4.", "Four."])
    const agent = createAgent({ model, tools: [note], runtime: jsRuntime(), todos: true })
    const { output, cycles } = await agent.run("go")
    assert.deepEqual([output, cycles], ["Four.", 3])
  })

  test("ends the run with todos in the state that no tool can change", async () => {
    const todos = [{ id: "1", title: "Count", status: "pending" }]
    const { cycles } = await createAgent({ model: scriptedModel(["4."]), tools: [note] }).run("go", {
      state: { todos },
    })
    assert.equal(cycles, 1)
  })

  test("is never taken for the answer with noTool continue: the model is reminded, until the limit", async () => {
    const model = scriptedModel(() => "I think it is 4.")
    const result = await agentOf(model, { limits: { cycles: 2 } }).run("2 + 2?")
    assert.deepEqual([result.status, result.reason, result.cycles], ["stopped", "cycles", 2])
    assert.deepEqual(result.completion, { by: "limit" })
    // The output is the last text of the model; nothing was made up.
    assert.equal(result.output, "I think it is 4.")
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /call finish/)
  })

  test("is the answer with noTool answer", async () => {
    const result = await agentOf(scriptedModel(["It is 4."]), { noTool: "answer" }).run("2 + 2?")
    assert.deepEqual([result.status, result.output, result.completion], ["done", "It is 4.", { by: "answer" }])
  })

  test("is a question to the user with noTool wait", async () => {
    const result = await agentOf(scriptedModel(["Which two?"]), { noTool: "wait" }).run("Add them")
    assert.equal(result.status, "waiting")
    assert.equal(result.pending?.kind === "question" && result.pending.question, "Which two?")
    assert.deepEqual(result.completion, { by: "question" })
  })
})

describe("the user's word between calls", () => {
  test("leaves out the calls that are left, and comes after all their results", async () => {
    const speak = tool({
      name: "speak",
      description: "Speaks.",
      run: () => void run.steer("Stop, use the other file."),
    })
    const model = scriptedModel([calls(call("speak"), call("note"), call("note")), calls(finish("Other it is."))])
    noted.length = 0
    const run = createAgent({ noTool: "continue", todos: true, model, tools: [speak, note] }).run("go")
    const { messages, trajectory } = await run
    assert.equal(noted.length, 0)
    const codes = toolEnds(trajectory.events).map(errorCodeOf)
    assert.deepEqual(codes, [undefined, "skipped-steering", "skipped-steering", undefined])
    assert.deepEqual(
      messages.slice(2, 6).map((message) => (message.role === "user" ? message.origin : message.role)),
      ["result", "result", "result", "steer"],
    )
  })

  test("leaves out those of a parallel group that have not begun, and so does an end", async () => {
    const speak = tool({ name: "speak", description: "", parallel: true, run: () => void run.steer("Stop.") })
    const end = tool({
      name: "end",
      description: "",
      parallel: true,
      run: () => toolResult({ text: "", directive: done }),
    })
    const done = { kind: "finish", message: "Ended." } as const
    const model = scriptedModel([
      calls(call("speak"), call("speak"), call("end")),
      calls(call("end"), call("speak"), call("speak")),
    ])
    const run = createAgent({ noTool: "continue", todos: true, model, tools: [speak, end], maxParallelTools: 1 }).run(
      "go",
    )
    const { output, trajectory } = await run
    assert.equal(output, "Ended.")
    const codes = toolEnds(trajectory.events).map(errorCodeOf)
    const [steering, finished] = ["skipped-steering", "skipped-finish"]
    assert.deepEqual(codes, [undefined, steering, steering, undefined, finished, finished])
    assert.equal(trajectory.events.filter(({ type }) => type === "tool-start").length, 2)
  })

  test("is not lost where the run ends before the model can hear it", async () => {
    const speak = tool({ name: "speak", description: "Speaks.", run: () => void session.steer("And in French.") })
    const model = scriptedModel([calls(call("speak")), calls(finish("Fini."))])
    await using session = await createAgent({ noTool: "continue", todos: true, model, tools: [speak] }).session()
    const stopped = await session.send("go", { limits: { cycles: 1 } })
    assert.equal(stopped.status, "stopped")
    await session.send("go on")
    assert.match(JSON.stringify(model.requests[1]?.messages), /And in French/)
  })
})

test("every way a run ends says by what it ended", async () => {
  const failing = await agentOf(scriptedModel([new Error("no service")])).run("go").settled
  assert.deepEqual(failing.completion, { by: "failure" })
  const run = agentOf(scriptedModel([() => new Promise<string>(() => undefined)])).run("go")
  setImmediate(() => run.abort())
  assert.deepEqual((await run.settled).completion, { by: "abort" })
  const early = agentOf(scriptedModel([])).run("go")
  early.abort()
  assert.deepEqual((await early.settled).completion, { by: "abort" })
})

describe("the files of a result", () => {
  const write = (path: string) => call("write_file", { path, content: "x" })

  test("are those that the tools of the run wrote or changed, each once and in order", async () => {
    const workspace = memoryWorkspace({ "a.txt": "old", "read.txt": "r" })
    const own = tool({
      name: "own",
      description: "Writes and removes.",
      async run(_, { workspace }) {
        await workspace.write("own.txt", "x")
        await workspace.write(".karst/log", "x")
        await workspace.remove("gone.txt")
      },
    })
    const edit = call("edit_file", { path: "a.txt", oldText: "old", newText: "new" })
    const model = scriptedModel([
      calls(write("z.txt"), write("gone.txt"), call("read_file", { path: "read.txt" })),
      calls(edit, write("z.txt"), call("own"), call("edit_file", { path: "a.txt", oldText: "no", newText: "" })),
      "Done.",
    ])
    const { files } = await createAgent({ model, workspace, tools: [own] }).run("go")
    assert.deepEqual(files, ["a.txt", "own.txt", "z.txt"])
  })

  test("are only those of this run of a session, and absent if it wrote none", async () => {
    const model = scriptedModel([calls(write("a.txt")), "One.", calls(write("b.txt")), "Two.", "Three."])
    await using session = await createAgent({ model, workspace: memoryWorkspace() }).session()
    const results = [await session.send("1"), await session.send("2"), await session.send("3")]
    assert.deepEqual(
      results.map(({ files }) => files),
      [["a.txt"], ["b.txt"], undefined],
    )
    assert.deepEqual(results[0]?.state, {})
  })

  test("include those that a cell wrote by a tool", async () => {
    const model = scriptedModel(['```ts\nawait writeFile({ path: "cell.txt", content: "x" })\n```', "Done."])
    const runtime = jsRuntime({ writeFile: writeFileTool() })
    const { files } = await createAgent({ model, runtime, workspace: memoryWorkspace() }).run("go")
    assert.deepEqual(files, ["cell.txt"])
  })
})
