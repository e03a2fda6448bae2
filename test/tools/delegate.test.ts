import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { Agent } from "../../src/core/agent.ts"
import { ConfigError, ModelError } from "../../src/core/errors.ts"
import type { Json } from "../../src/core/json.ts"
import { type ScriptedAnswer, type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { delegateTools } from "../../src/tools/delegate.ts"
import { isToolResult, type Tool, type ToolContext, tool } from "../../src/tools/tool.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { cell, collectRun, endlessStep, onlyEvent, runIdsOf } from "../agent/scripted-agents.ts"
import fc from "../property.ts"
import { call, delegate, finish, resultIn, saidIn } from "./delegate-case.ts"

const usage = { input: 10, output: 5, complete: true }

/** A sub-agent whose answer is a function of its prompt. */
function worker(name: string, answer: (prompt: string) => ScriptedStep | Promise<ScriptedStep>, options = {}) {
  const model = scriptedModel((request) => answer(saidIn(request)), { usage })
  return createAgent({ name, description: `Does ${name} work`, model, ...options })
}

function lead(steps: readonly ScriptedStep[], agents: Parameters<typeof createAgent>[0]["agents"], options = {}) {
  const model = scriptedModel(steps, { usage })
  return { model, agent: createAgent({ noTool: "continue", name: "lead", model, agents, ...options }) }
}

/** An agent that is created after the tools that name it. */
function later(find: () => Agent | undefined): Agent {
  const agent = () => find() ?? assert.fail()
  return {
    name: "later",
    run: (prompt, options) => agent().run(prompt, options),
    session: (options) => agent().session(options),
    describe: () => agent().describe(),
    with: (overrides) => agent().with(overrides),
  }
}

describe("delegate", () => {
  test("gives tasks to named sub-agents and brings their answers back in the order of the tasks", async () => {
    const agents = { searcher: worker("searcher", (p) => `found ${p}`), writer: worker("writer", (p) => `wrote ${p}`) }
    const { model, agent } = lead(
      [delegate(["writer: one", "searcher: two", "writer: three"]), finish("All done.")],
      agents,
    )
    const { output, usage: used } = await agent.run("go")
    assert.equal(output, "All done.")
    assert.equal(
      resultIn(model.requests[1]),
      "[t1 writer] done.\nwrote one\n\n[t2 searcher] done.\nfound two\n\n[t3 writer] done.\nwrote three",
    )
    assert.equal(used.input, 50, "what sub-agents use counts for the run")
  })

  test("is offered with the names and descriptions of the sub-agents, and only where there are some", async () => {
    const { model, agent } = lead([finish("Done.")], { writer: worker("writer", () => "x") })
    await agent.run("go")
    const spec = model.requests[0]?.tools?.find(({ name }) => name === "delegate")
    assert.match(spec?.description ?? "", /- writer: Does writer work/)
    const none = scriptedModel([finish("Done.")])
    await createAgent({
      noTool: "continue",
      model: none,
      tools: [tool({ name: "look", description: "Looks", run: () => "" })],
    }).run("go")
    assert.ok(!none.requests[0]?.tools?.some(({ name }) => name.startsWith("delegate")))
  })

  test("really runs tasks side by side, up to a limit", async () => {
    let busy = 0
    let most = 0
    const slow = async (prompt: string) => {
      most = Math.max(most, ++busy)
      await new Promise((resolve) => setImmediate(resolve))
      busy--
      return prompt
    }
    const tasks = Array.from({ length: 9 }, (_, n) => `w: task ${n}`)
    const { model, agent } = lead([delegate(tasks), finish("Done.")], { w: worker("w", slow) }, { maxParallelTools: 3 })
    await agent.run("go")
    assert.equal(most, 3)
    const order = resultIn(model.requests[1]).match(/task \d/g)
    assert.deepEqual(
      order,
      tasks.map((task) => task.slice(3)),
    )
  })

  test("tells failures among the rest as data, and fails only where all did", async () => {
    const down = new ModelError("It is down.", { code: "overloaded" })
    const agents = { w: worker("w", (prompt) => (prompt === "bad" ? down : "fine"), { limits: { cycles: 3 } }) }
    const { model, agent } = lead([delegate(["w: bad", "w: good"]), delegate(["w: bad"]), finish("Done.")], agents)
    const { events } = await collectRun(agent.run("go"))
    assert.equal(resultIn(model.requests[1]), "[t1 w] failed (overloaded): It is down.\n\n[t2 w] done.\nfine")
    const ends = events.filter((event) => event.type === "tool-end" && event.name === "delegate")
    assert.deepEqual(
      ends.map((event) => event.type === "tool-end" && (event.error?.code ?? "ok")),
      ["ok", "sub-agent-failed"],
    )
  })

  test("a sub-agent that reaches its limit says so, with its last words", async () => {
    const looping = createAgent({
      name: "w",
      model: scriptedModel(() => `Still at it.\n${cell("1")}`),
      limits: { cycles: 2 },
    })
    const { model, agent } = lead([delegate(["w: go"]), finish("Done.")], { w: looping })
    await agent.run("go")
    assert.match(resultIn(model.requests[1]), /sub-agent-stopped.*stopped at its limit \(cycles\).*Still at it\./s)
  })

  test("a task for nobody, for no one known or without an agent is refused before anything runs", async () => {
    let runs = 0
    const agents = {
      w: worker("w", () => {
        runs++
        return "x"
      }),
    }
    const steps = [
      call("delegate", {
        tasks: [
          { agent: "w", prompt: "a" },
          { agent: "ghost", prompt: "b" },
        ],
      }),
      call("delegate", { tasks: [] }),
      call("delegate", { tasks: [{ agent: "w", prompt: "a" }, { prompt: "b" }] }),
      call("delegate", { tasks: [{ continue: "t9", prompt: "b" }] }),
      finish("Done."),
    ]
    const { model, agent } = lead(steps, agents)
    await agent.run("go")
    const codes = model.requests.slice(1).map((request) => /Error \(([\w-]+)\)/.exec(resultIn(request))?.[1])
    assert.deepEqual(codes, ["invalid-input", "invalid-input", "agent-missing", "unknown-task"])
    assert.equal(runs, 0)
  })

  test("runs side by side on one shared runtime are refused with the cure, one at a time they are not", async () => {
    const runtime = jsRuntime({ n: 0 })
    const shared = createAgent({ name: "w", model: scriptedModel(() => "x"), runtime })
    const own = createAgent({ name: "o", model: scriptedModel(() => "y"), runtime: () => jsRuntime() })
    const steps = [delegate(["w: a", "w: b"]), delegate(["w: a"]), delegate(["o: a", "o: b"]), finish("Done.")]
    const { model, agent } = lead(steps, { w: shared, o: own })
    const { events } = await collectRun(agent.run("go"))
    assert.match(
      resultIn(model.requests[1]),
      /Error \(config\).*share one runtime.*createAgent\(\{ runtime: \(\) => jsRuntime/s,
    )
    assert.equal(resultIn(model.requests[2]), "[t1 w] done.\nx")
    assert.match(resultIn(model.requests[3]), /\[t2 o\] done.*\[t3 o\] done/s)
    assert.equal(runIdsOf(events, "w").size, 1)
  })

  test("names that are no words and things that are no agents are refused when the agent is made", () => {
    const model = scriptedModel([])
    assert.throws(() => createAgent({ model, agents: { "a b": worker("w", () => "") } }), ConfigError)
    assert.throws(() => createAgent({ model, agents: { a: {} as never } }), /agents\.a: this is no agent/)
  })

  test("an answer longer than the model may see is kept whole", async () => {
    const { model, agent } = lead([delegate(["w: go"]), finish("Done.")], {
      w: worker("w", () => "long ".repeat(20_000)),
    })
    await agent.run("go")
    assert.match(resultIn(model.requests[1]), /the whole text is in the artifact _output_1/)
  })
})

describe("in the background", () => {
  test("tasks go on while the model does, and their state and answers can be asked for", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const slow = worker("slow", async () => {
      await released
      return "at last"
    })
    const steps: ScriptedStep[] = [
      delegate(["slow: go"], { background: true }),
      call("delegate_status"),
      () => {
        release()
        return call("delegate_status", { wait: true }, "s2")
      },
      call("delegate_status", {}, "s3"),
      call("delegate_status", { ids: ["t1"] }, "s4"),
      finish("Done."),
    ]
    const { model, agent } = lead(steps, { slow })
    await agent.run("go")
    const seen = model.requests.slice(1).map(resultIn)
    assert.match(seen[0] ?? "", /^\[t1 slow\] (queued|running)\.$/)
    assert.equal(seen[1], "[t1 slow] running.")
    assert.equal(seen[2], "[t1 slow] done.\nat last")
    assert.equal(seen[3], "[t1 slow] done, as reported.")
    assert.equal(seen[4], "[t1 slow] done.\nat last")
  })

  test("nothing is left running after the run: what runs and what is queued ends with it", async () => {
    const { step, begun } = endlessStep()
    let started = 0
    const slow = createAgent({
      name: "slow",
      model: scriptedModel((request) => {
        started++
        return typeof step === "function" ? step(request) : step
      }),
    })
    const tasks = Array.from({ length: 6 }, () => "slow: go")
    const answer: ScriptedStep = async () => {
      await begun
      return finish("Done.")
    }
    const { agent } = lead([delegate(tasks, { background: true }), answer], { slow }, { maxParallelTools: 2 })
    const { events, result } = await collectRun(agent.run("go"))
    assert.equal(result.status, "done")
    assert.equal(started, 2, "what was queued is never begun")
    const ends = events.filter((event) => event.type === "run-end")
    assert.deepEqual(
      ends.map(({ status }) => status),
      ["aborted", "aborted", "done"],
    )
    assert.equal(events.at(-1)?.run, result.id)
  })

  test("in the next run of a session, what ended with the last one is told as interrupted", async () => {
    const { step, begun } = endlessStep()
    const slow = createAgent({ name: "slow", model: scriptedModel([step]) })
    const steps: ScriptedStep[] = [
      delegate(["slow: go"], { background: true }),
      async () => {
        await begun
        return finish("Later.")
      },
      call("delegate_status"),
      finish("Done."),
    ]
    const { model, agent } = lead(steps, { slow })
    await using session = await agent.session()
    await session.send("go")
    await session.send("and?")
    assert.equal(
      resultIn(model.requests[3]),
      "[t1 slow] was interrupted, not done: The run that started this one has ended.",
    )
  })
})

test("tasks that an earlier process knew are told as lost, and new ones get other ids", async () => {
  const values = new Map<string, Json>([["karst:subtasks", [{ id: "t1", agent: "w", status: "running" }]]])
  const context: ToolContext = {
    call: "c",
    signal: new AbortController().signal,
    workspace: memoryWorkspace(),
    state: { get: (key) => values.get(key), set: (key, value) => values.set(key, value) },
    progress: () => undefined,
  }
  const [give, status] = delegateTools({ w: worker("w", () => "new") })
  const text = async (asked: Tool | undefined, input: object) => {
    const result: unknown = await asked?.run(input, context)
    return isToolResult(result) ? result.text : result
  }
  assert.equal(await text(status, {}), "[t1 w] was lost in a restart. Delegate it anew.")
  assert.match(String(await text(give, { tasks: [{ continue: "t1", prompt: "x" }] })), /t1 of w was lost in a restart/)
  assert.equal(await text(give, { tasks: [{ agent: "w", prompt: "x" }] }), "[t2 w] done.\nnew")
})

test("one set of delegate tools in agents at several levels does not wait for itself", async () => {
  const low = worker("low", () => "deep")
  const middleModel = scriptedModel([delegate(["low: go"]), finish("from below")])
  const agents: Record<string, Agent> = { low }
  const tools = delegateTools({ low, middle: later(() => agents.middle) }, { maxParallel: 1 })
  agents.middle = createAgent({ noTool: "continue", name: "middle", model: middleModel, tools })
  const model = scriptedModel([delegate(["middle: go"]), finish("Done.")])
  await createAgent({ noTool: "continue", model, tools }).run("go")
  assert.equal(resultIn(model.requests[1]), "[t1 middle] done.\nfrom below")
})

describe("what sub-agents have from the run that starts them", () => {
  const guarded = () => {
    const made: string[] = []
    const write = tool({
      name: "write",
      description: "Writes",
      async run(_input, { workspace }) {
        made.push("write")
        await workspace.write("made.txt", "by the child")
        return "written"
      },
    })
    return { made, write }
  }

  test("its files, where they have none, also when they were given nothing at all", async () => {
    const workspace = memoryWorkspace({ "note.txt": "from the lead" })
    const { write } = guarded()
    const child = createAgent({
      noTool: "continue",
      name: "w",
      model: scriptedModel([call("write"), finish("Done.")]),
      tools: [write],
    })
    const bare = scriptedModel(["I only have tools."])
    const { agent } = lead(
      [delegate(["w: go"]), delegate(["bare: go"]), finish("Done.")],
      { w: child, bare: createAgent({ name: "bare", model: bare }) },
      { workspace },
    )
    await agent.run("go")
    assert.equal(Buffer.from(await workspace.read("made.txt")).toString(), "by the child")
    assert.ok(
      bare.requests[0]?.tools?.some(({ name }) => name === "read_file"),
      "it works by tools, as the lead does",
    )
  })

  test("their own files and runtime, where they have them", async () => {
    const [outer, inner] = [memoryWorkspace(), memoryWorkspace()]
    const { write } = guarded()
    const steps = [call("write"), finish("Done.")]
    const child = createAgent({
      noTool: "continue",
      name: "w",
      model: scriptedModel(steps),
      tools: [write],
      workspace: inner,
    })
    const coder = createAgent({
      name: "c",
      model: scriptedModel([cell("n + 1"), "Done."]),
      runtime: () => jsRuntime({ n: 1 }),
    })
    const { model, agent } = lead(
      [delegate(["w: go", "c: go"]), finish("Done.")],
      { w: child, c: coder },
      { workspace: outer },
    )
    await agent.run("go")
    assert.equal(await outer.stat("made.txt"), undefined)
    assert.ok(await inner.stat("made.txt"))
    assert.match(resultIn(model.requests[1]), /\[t2 c\] done/)
  })

  test("its tool policy, narrowed by theirs and never widened", async () => {
    const { made, write } = guarded()
    const steps = [call("write"), finish("Could not.")]
    const model = scriptedModel(steps)
    const child = createAgent({
      noTool: "continue",
      name: "w",
      model,
      tools: [write],
      toolPolicy: { allow: ["write", "finish"] },
    })
    const { agent } = lead([delegate(["w: go"]), finish("Done.")], { w: child }, { toolPolicy: { deny: ["write"] } })
    await agent.run("go")
    assert.deepEqual(made, [])
    assert.match(resultIn(model.requests[1]), /unknown-tool/)
    const offered = model.requests[0]?.tools?.map(({ name }) => name) ?? []
    assert.ok(offered.includes("finish") && !offered.includes("write") && !offered.includes("ask"))
  })

  test("its hooks: a guard on the lead sees and stops the calls of a child", async () => {
    const { made, write } = guarded()
    const seen: string[] = []
    const child = createAgent({
      noTool: "continue",
      name: "w",
      model: scriptedModel([call("write"), finish("Could not.")]),
      tools: [write],
    })
    const hooks = {
      beforeCall({ binding }: { binding: string }, { agent }: { agent: string }) {
        seen.push(`${agent} ${binding}`)
        return binding === "write" ? { refuse: "not here" } : undefined
      },
    }
    const { agent } = lead([delegate(["w: go"]), finish("Done.")], { w: child }, { hooks })
    await agent.run("go")
    assert.deepEqual(made, [])
    assert.deepEqual(seen, ["lead delegate", "w write", "w finish", "lead finish"])
  })

  test("its budgets: a child is stopped when the lead's tokens are spent", async () => {
    const child = createAgent({ name: "w", model: scriptedModel(() => cell("1"), { usage }) })
    const { model, agent } = lead([delegate(["w: go"]), finish("Done.")], { w: child }, { limits: { tokens: 60 } })
    const { status, reason } = await agent.run("go")
    assert.deepEqual([status, reason, model.requests.length], ["stopped", "tokens", 1])
  })

  test("its answerer for approvals", async () => {
    const asked: string[] = []
    const wipe = tool({ name: "wipe", description: "Wipes", approve: true, run: () => "wiped" })
    const child = createAgent({
      noTool: "continue",
      name: "w",
      model: scriptedModel([call("wipe"), finish("Wiped.")]),
      tools: [wipe],
    })
    const approve = ({ binding }: { binding: string }) => {
      asked.push(binding)
      return "allow" as const
    }
    const { model, agent } = lead([delegate(["w: go"]), finish("Done.")], { w: child }, { approver: approve })
    await agent.run("go")
    assert.deepEqual(asked, ["wipe"])
    assert.equal(resultIn(model.requests[1]), "[t1 w] done.\nWiped.")
  })

  test("its end: an abort of the lead ends all tasks, also those that have not begun", async () => {
    const { step, begun } = endlessStep()
    const model = scriptedModel((request) => (typeof step === "function" ? step(request) : step))
    const child = createAgent({ name: "w", model })
    const { agent } = lead([delegate(["w: a", "w: b", "w: c"])], { w: child }, { maxParallelTools: 2 })
    const run = agent.run("go")
    void begun.then(() => run.abort())
    const { events } = await collectRun(run)
    assert.ok(events.filter((event) => event.type === "run-end").every(({ status }) => status === "aborted"))
    assert.ok(model.requests.length <= 2)
    const end = onlyEvent(events, "tool-end", "lead")
    assert.equal(end.error?.code, "aborted")
  })

  test("its depth: one level too many is a result that names the chain", async () => {
    const low = worker("low", () => "never")
    const middleModel = scriptedModel([delegate(["low: go"]), finish("Could not.")])
    const middle = createAgent({ noTool: "continue", name: "middle", model: middleModel, agents: { low } })
    const { agent } = lead([delegate(["middle: go"]), finish("Done.")], { middle }, { limits: { depth: 2 } })
    await agent.run("go")
    assert.match(resultIn(middleModel.requests[1]), /Error \(too-deep\).*lead → middle/s)
  })
})

test("whatever becomes of sub-agents, every task has one report in its place and every call one result", async () => {
  const outcome = fc.constantFrom("done", "fail", "ask", "stop")
  const batches = fc.array(
    fc.record({ tasks: fc.array(outcome, { minLength: 1, maxLength: 4 }), background: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  await fc.assert(
    fc.asyncProperty(batches, fc.integer({ min: 1, max: 3 }), async (plan, maxParallelTools) => {
      const answer: ScriptedAnswer = (request) => {
        const [wanted] = saidIn(request).split(" ")
        if (wanted === "fail") return new ModelError("no", { code: "billing" })
        if (wanted === "ask") return call("ask", { question: "which?" })
        return wanted === "stop" ? "hm" : finish("ok")
      }
      const look = tool({ name: "look", description: "Looks", run: () => "" })
      const w = createAgent({
        noTool: "continue",
        name: "w",
        model: scriptedModel(answer),
        tools: [look],
        limits: { cycles: 2 },
      })
      const steps = [
        plan.flatMap(({ tasks, background }, n) =>
          call("delegate", { tasks: tasks.map((task) => ({ agent: "w", prompt: task })), background }, `c${n}`),
        ),
        call("delegate_status", { wait: true }),
        finish("Done."),
      ]
      const model = scriptedModel(steps)
      const agent = createAgent({ noTool: "continue", name: "lead", model, agents: { w }, maxParallelTools })
      await using session = await agent.session()
      const first = await session.send("go")
      const results = session.messages().flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"))
      const calls = session.messages().flatMap(({ parts }) => parts.filter((part) => part.type === "tool-call"))
      assert.deepEqual(
        results.map(({ id }) => id),
        calls.map(({ id }) => id),
      )
      for (const [n, { tasks, background }] of plan.entries()) {
        const text = results.find(({ id }) => id === `c${n}`)?.text ?? ""
        if (background || text.includes("skipped-")) continue
        const words = { done: "done", fail: "failed", ask: "asks the user", stop: "stopped" }
        const told = [...text.matchAll(/\[t\d+ w\] (done|failed|asks the user|stopped)/g)].map(([, word]) => word)
        assert.deepEqual(
          told,
          tasks.map((task) => words[task]),
        )
      }
      const asks = plan.some(({ tasks, background }) => !background && tasks.includes("ask"))
      if (asks) assert.equal(first.status, "waiting")
    }),
    { numRuns: 40 },
  )
})
