import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { RunResult } from "../../../src/core/agent.ts"
import type { AgentEvent } from "../../../src/core/event.ts"
import { messageText, userMessage } from "../../../src/core/message.ts"
import type { Hooks } from "../../../src/index.ts"
import { isPaired } from "../../../src/memory/call-result-pairs.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { tool, toolFailure, toolResult } from "../../../src/tools/tool.ts"
import { call, calls, callsIn, errorCodeOf, finish, resultsIn, toolEnds } from "../tool-call-helpers.ts"

const made: string[] = []
const note = tool({
  name: "note",
  description: "Notes.",
  input: { type: "object", properties: { text: { type: "string" } } },
  run: ({ text }) => `${made.push(String(text))}`,
})
const usage = { input: 10, output: 5, complete: true }
type Answers = Parameters<typeof scriptedModel>[0]

function agentOf(answers: Answers, hooks: Hooks | readonly Hooks[]) {
  const model = scriptedModel(answers, { usage })
  return { model, agent: createAgent({ noTool: "continue", model, tools: [note], hooks }) }
}

const said = (result: RunResult) => result.messages.map(messageText)

describe("hooks around a run", () => {
  test("come in their order, each with what it is about and where", async () => {
    const log: string[] = []
    const at = (point: string) => (_: unknown, context: { run: string; agent: string }) => {
      log.push(`${point} ${context.agent} ${typeof context.run}`)
    }
    const hooks: Hooks = {
      beforeRun: at("beforeRun"),
      beforeModel: at("beforeModel"),
      afterModel: at("afterModel"),
      beforeCall: at("beforeCall"),
      afterCall: (_call, _outcome, context) => at("afterCall")(_call, context),
      afterCycle: at("afterCycle"),
      afterRun: at("afterRun"),
    }
    const { agent } = agentOf([calls(call("note")), calls(finish())], hooks)
    await agent.run("go")
    const cycle = ["beforeModel", "afterModel", "beforeCall", "afterCall", "afterCycle"]
    assert.deepEqual(
      log,
      ["beforeRun", ...cycle, ...cycle, "afterRun"].map((point) => `${point} agent string`),
    )
  })

  test("beforeRun may give another prompt, one after the other", async () => {
    const more = (word: string): Hooks => ({
      beforeRun: ({ prompt }) => ({ prompt: `${prompt[0]?.type === "text" && prompt[0].text} ${word}` }),
    })
    const { agent } = agentOf([calls(finish())], [more("and"), more("more")])
    assert.equal(said(await agent.run("this"))[0], "this and more")
  })

  test("beforeRun may stop the run: the model is not asked, and never hears of the prompt", async () => {
    const stop: Hooks = {
      beforeRun: ({ prompt }) => (JSON.stringify(prompt).includes("bomb") ? { stop: "No." } : undefined),
    }
    const { agent, model } = agentOf([calls(finish())], [stop, { beforeRun: () => undefined }])
    await using session = await agent.session()
    const run = session.send("a bomb")
    const events = await Array.fromAsync(run)
    const result = await run
    assert.deepEqual([result.status, result.reason, result.detail], ["stopped", "hook", "No."])
    assert.deepEqual([result.completion, result.cycles, result.output], [{ by: "hook" }, 0, ""])
    assert.deepEqual(
      events.map(({ type }) => type),
      ["run-start", "run-end"],
    )
    const end = events.at(-1)
    assert.equal(end?.type === "run-end" && end.detail, "No.")
    assert.equal(session.trajectory().runs[0]?.detail, "No.")
    assert.equal(model.requests.length, 0)
    await session.send("a cake")
    assert.doesNotMatch(JSON.stringify(model.requests[0]?.messages), /bomb/)
  })

  test("afterRun may give another output, or withhold it", async () => {
    const shout: Hooks = { afterRun: ({ output }) => ({ output: output.toUpperCase() }) }
    const mark: Hooks = { afterRun: ({ output }) => ({ output: `${output}!` }) }
    const { agent } = agentOf([calls(finish("done"))], [shout, mark])
    const result = await agent.run("go")
    assert.equal(result.output, "DONE!")
    assert.equal(result.trajectory.runs[0]?.output, "DONE!")
    const { agent: other } = agentOf([calls(finish("secret"))], [{ afterRun: () => ({ stop: "Withheld." }) }, mark])
    const withheld = await other.run("go")
    assert.deepEqual([withheld.status, withheld.output, withheld.detail], ["stopped", "", "Withheld."])
  })

  test("afterRun sees every ending, and cannot make one of another kind done", async () => {
    const seen: string[] = []
    const hooks: Hooks = {
      afterRun({ status }) {
        seen.push(status)
        return { output: "All is well." }
      },
    }
    const failed = await agentOf([new Error("broken")], hooks).agent.run("go").settled
    const stopped = await agentOf(() => calls(call("note")), hooks).agent.run("go", { limits: { cycles: 1 } }).settled
    const waiting = await agentOf([calls(call("ask", { question: "?" }))], hooks).agent.run("go")
    const run = agentOf([() => new Promise<string>(() => undefined)], hooks).agent.run("go")
    setImmediate(() => run.abort())
    const aborted = await run.settled
    assert.deepEqual(seen, ["failed", "stopped", "waiting", "aborted"])
    assert.deepEqual(
      [failed, stopped, waiting, aborted].map(({ status }) => status),
      seen,
    )
  })
})

describe("beforeModel", () => {
  test("changes one request and not the conversation", async () => {
    const hooks: Hooks = {
      beforeModel({ cycle, messages, system, tools }) {
        if (cycle > 1) return undefined
        return { messages: [...messages, userMessage("psst")], system: `${system}\nBe kind.`, tools: tools.slice(0, 1) }
      },
    }
    const { agent, model } = agentOf([calls(call("note")), calls(finish())], hooks)
    const result = await agent.run("go")
    const [first, second] = model.requests
    assert.match(JSON.stringify(first?.messages), /psst/)
    assert.match(first?.system ?? "", /Be kind\.$/)
    assert.equal(first?.tools?.length, 1)
    assert.doesNotMatch(JSON.stringify(second?.messages), /psst/)
    assert.doesNotMatch(JSON.stringify(result.messages), /psst/)
    assert.ok((second?.tools?.length ?? 0) > 1)
  })

  test("may say something that stays in the conversation", async () => {
    const hooks: Hooks = { beforeModel: ({ cycle }) => (cycle === 1 ? { note: "The office is closed." } : undefined) }
    const { agent, model } = agentOf([calls(call("note")), calls(finish())], hooks)
    const result = await agent.run("go")
    assert.match(JSON.stringify(model.requests[0]?.messages.at(-1)), /office is closed/)
    assert.match(JSON.stringify(model.requests[1]?.messages), /office is closed/)
    assert.equal(said(result).filter((text) => text === "The office is closed.").length, 1)
  })

  test("keeps a tool it took out from being called by that answer", async () => {
    made.length = 0
    const hooks: Hooks = {
      beforeModel: ({ cycle, tools }) =>
        cycle === 1 ? { tools: tools.filter(({ name }) => name !== "note") } : undefined,
    }
    const { agent } = agentOf([calls(call("note")), calls(call("note", { text: "now" }), finish())], hooks)
    const { trajectory } = await agent.run("go")
    assert.deepEqual(toolEnds(trajectory.events).map(errorCodeOf), ["unknown-tool", undefined, undefined])
    assert.deepEqual(made, ["now"])
  })

  test("may answer in place of the model, which is not asked and costs nothing", async () => {
    const hooks: Hooks[] = [
      { beforeModel: () => ({ answer: "```ts\nseen.push(1)\n```\n" }), afterCycle: () => ({ stop: "Once." }) },
      { beforeModel: () => assert.fail("the pipeline has ended") },
    ]
    const model = scriptedModel([])
    const seen: number[] = []
    const result = await createAgent({ model, runtime: jsRuntime({ seen }), hooks }).run("go")
    assert.deepEqual(seen, [1])
    assert.equal(result.detail, "Once.")
    assert.deepEqual(result.usage, { input: 0, output: 0, complete: true })
  })

  test("may stop the run, such as when it has used enough", async () => {
    const hooks: Hooks = {
      beforeModel: ({ usage }) => ((usage.input ?? 0) + (usage.output ?? 0) >= 30 ? { stop: "Enough." } : undefined),
    }
    const { agent } = agentOf(() => calls("Working.", call("note")), hooks)
    const result = await agent.run("go")
    assert.deepEqual([result.status, result.reason, result.detail], ["stopped", "hook", "Enough."])
    assert.equal(result.usage.input, 20)
    assert.equal(result.output, "Working.")
  })
})

describe("afterModel", () => {
  test("may replace an answer before it is remembered and acted on", async () => {
    made.length = 0
    const hooks: Hooks = {
      afterModel: ({ parts }) => ({
        parts: parts.map((part) =>
          part.type === "tool-call" && part.name === "note" ? { ...part, input: { text: "redacted" } } : part,
        ),
      }),
    }
    const { agent } = agentOf([calls(call("note", { text: "secret" })), calls(finish())], hooks)
    const { messages } = await agent.run("go")
    assert.deepEqual(made, ["redacted"])
    assert.doesNotMatch(JSON.stringify(messages), /secret/)
  })

  test("may add a call, which gets an id of its own, and take calls out", async () => {
    made.length = 0
    const hooks: Hooks = {
      afterModel({ cycle, parts }) {
        const kept = parts.filter((part) => part.type !== "tool-call" || part.name !== "nowhere")
        const added = { type: "tool-call", id: "same", name: "note", input: { text: "by hook" } } as const
        return cycle === 1 ? { parts: [...kept, added, added] } : undefined
      },
    }
    const { agent } = agentOf(
      [calls("Hm.", call("nowhere"), call("note", { text: "own" }, "same")), calls(finish())],
      hooks,
    )
    const { messages } = await agent.run("go")
    assert.deepEqual(made, ["own", "by hook", "by hook"])
    assert.ok(isPaired(messages))
    assert.equal(new Set(callsIn(messages).map(({ id }) => id)).size, 4)
  })

  test("may stop the run: nothing the answer asks for is done, and everything has its result", async () => {
    made.length = 0
    const model = scriptedModel([calls("```ts\nseen.push(1)\n```\n", call("note"))])
    const seen: number[] = []
    const hooks: Hooks = { afterModel: () => ({ stop: "Not this.", reason: "guardrail" }) }
    const agent = createAgent({ model, tools: [note], runtime: jsRuntime({ seen }), hooks })
    const { status, reason, messages, trajectory } = await agent.run("go")
    assert.deepEqual([status, reason], ["stopped", "guardrail"])
    assert.deepEqual([seen, made], [[], []])
    assert.ok(isPaired(messages))
    assert.equal(errorCodeOf(toolEnds(trajectory.events)[0]), "skipped-stopped")
  })
})

describe("hooks around tool calls", () => {
  test("see the result as it is, may short-circuit with a failure, and keep the id of the call", async () => {
    const outcomes: unknown[] = []
    const hooks: Hooks = {
      beforeCall: ({ binding }) => (binding === "note" ? { result: toolFailure("blocked", "Not now.") } : undefined),
      afterCall(_call, outcome) {
        outcomes.push(outcome.ok && outcome.by)
      },
    }
    const { agent } = agentOf([calls(call("note", {}, "n1")), calls(finish())], hooks)
    const { trajectory } = await agent.run("go")
    const [first] = toolEnds(trajectory.events)
    assert.deepEqual([first?.id, errorCodeOf(first)], ["n1", "blocked"])
    assert.deepEqual(outcomes, ["hook", "call"])
  })

  test("may turn a result into the end of the run", async () => {
    const directive = { kind: "finish", message: "Good enough." } as const
    const hooks: Hooks = { afterCall: () => ({ value: toolResult({ text: "ok", directive }) }) }
    const { agent } = agentOf([calls(call("note"))], hooks)
    assert.equal((await agent.run("go")).output, "Good enough.")
  })

  test("may rewrite the input, which is validated again", async () => {
    made.length = 0
    const rewriting = (args: readonly unknown[]): Hooks => ({
      beforeCall: ({ binding }) => (binding === "note" ? { args } : undefined),
    })
    await agentOf([calls(call("note", { text: "a" })), calls(finish())], rewriting([{ text: "b" }])).agent.run("go")
    assert.deepEqual(made, ["b"])
    const { agent } = agentOf([calls(call("note")), calls(finish())], rewriting([{ text: 7 }]))
    const { messages } = await agent.run("go")
    assert.match(resultsIn(messages)[0]?.text ?? "", /^Error \(invalid-input\): Invalid input of note/)
    assert.deepEqual(made, ["b"])
  })

  test("that throw fail closed, as a result the model sees", async () => {
    made.length = 0
    const hooks: Hooks = {
      beforeCall() {
        throw new Error("no policy server")
      },
    }
    const { agent } = agentOf([calls(call("note")), calls(finish())], hooks)
    const { trajectory } = await agent.run("go", { limits: { cycles: 1 } })
    assert.equal(errorCodeOf(toolEnds(trajectory.events)[0]), "refused")
    assert.deepEqual(made, [])
  })

  test("do not see calls that are not made", async () => {
    const seen: string[] = []
    const hooks: Hooks = { beforeCall: ({ binding }) => void seen.push(binding) }
    await agentOf([calls(call("nowhere"), call("note", "{")), calls(finish(), call("note"))], hooks).agent.run("go")
    assert.deepEqual(seen, ["finish"])
  })
})

describe("afterCycle", () => {
  test("may let it be, steer, or stop, and sees how the run would go on", async () => {
    const seen: string[] = []
    const hooks: Hooks = {
      afterCycle({ cycle, next, output, usage, messages }) {
        seen.push(`${cycle} ${next} ${output} ${usage.input} ${isPaired(messages)}`)
        if (cycle === 2) return { steer: "Check it once more." }
        return cycle === 4 ? { stop: "That will do." } : undefined
      },
    }
    const { agent } = agentOf(
      [calls("One.", call("note")), calls(finish("Two.")), calls("Three.", call("note")), calls("Four.", call("note"))],
      hooks,
    )
    const result = await agent.run("go")
    assert.deepEqual(seen, [
      "1 continue One. 10 true",
      "2 done Two. 20 true",
      "3 continue Three. 30 true",
      "4 continue Four. 40 true",
    ])
    assert.deepEqual(
      [result.status, result.reason, result.detail, result.output],
      ["stopped", "hook", "That will do.", "Four."],
    )
    assert.ok(said(result).includes("Check it once more."))
  })

  test("can answer a question in the user's place", async () => {
    const hooks: Hooks = { afterCycle: ({ next }) => (next === "waiting" ? { steer: "Take May." } : undefined) }
    const { agent, model } = agentOf([calls(call("ask", { question: "Which month?" })), calls(finish("May."))], hooks)
    assert.equal((await agent.run("go")).output, "May.")
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /Take May/)
  })

  test("cannot make a run done, nor keep one from its limits", async () => {
    // @ts-expect-error: there is no such answer.
    const fake: Hooks = { afterCycle: () => ({ done: "All good." }) }
    const failed = await agentOf(() => calls(call("note")), fake).agent.run("go").settled
    assert.deepEqual([failed.status, failed.error?.code], ["failed", "hook-failed"])
    const eager: Hooks = { afterCycle: () => ({ steer: "On!" }) }
    const { agent } = agentOf(() => calls(finish()), eager)
    const stopped = await agent.run("go", { limits: { cycles: 3 } })
    assert.deepEqual([stopped.status, stopped.reason, stopped.cycles], ["stopped", "cycles", 3])
  })

  test("of several: a stop ends the pipeline, and each hears what those before it decided", async () => {
    const seen: string[] = []
    const hook = (gives: ReturnType<NonNullable<Hooks["afterCycle"]>>): Hooks => ({
      afterCycle({ next }) {
        seen.push(next)
        return gives
      },
    })
    const steer = hook({ steer: "More." })
    const { agent } = agentOf([calls(finish())], [steer, hook(undefined), hook({ stop: "No." }), hook(undefined)])
    const result = await agent.run("go")
    assert.deepEqual(seen, ["done", "continue", "continue"])
    assert.equal(result.detail, "No.")
  })
})

describe("a hook that fails", () => {
  for (const point of ["beforeRun", "beforeModel", "afterModel", "afterCycle", "afterRun"] as const) {
    test(`in ${point} fails the run, names itself, and lets nothing out`, async () => {
      const cause = new Error("no such table")
      const hooks = {
        [point]() {
          throw cause
        },
      }
      const { status, error, output, messages } = await agentOf([calls(finish("out"))], hooks).agent.run("go").settled
      assert.deepEqual([status, error?.code], ["failed", "hook-failed"])
      assert.match(error?.message ?? "", new RegExp(`The ${point} hook failed: no such table`))
      assert.ok(error?.cause instanceof Error)
      assert.equal(error.cause.cause, cause)
      if (point !== "afterCycle") assert.equal(output, "")
      assert.ok(isPaired(messages))
    })
  }

  test("because it gives something else than it may says so", async () => {
    for (const hooks of [
      { beforeRun: () => ({ prmpt: "typo" }) },
      { beforeModel: () => "text" },
      { afterModel: () => ({ parts: "text" }) },
      { afterRun: () => ({ output: 1 }) },
    ]) {
      // @ts-expect-error: each of them gives something wrong.
      const { error } = await agentOf([calls(finish())], hooks).agent.run("go").settled
      assert.match(error?.message ?? "", /something else than nothing or an object with|a wrong `(parts|output)`/)
    }
  })
})

describe("an observer", () => {
  test("sees every event, of the runs below too, and can break nothing", async () => {
    const child = createAgent({
      noTool: "continue",
      name: "child",
      model: scriptedModel([calls(finish("x"))]),
      tools: [note],
    })
    const spawn = tool({ name: "spawn", description: "", run: async () => (await child.run("go")).output })
    const seen: AgentEvent[] = []
    const hooks: Hooks[] = [
      {
        onEvent() {
          throw new Error("display is gone")
        },
      },
      { onEvent: async () => Promise.reject(new Error("later")) },
      { onEvent: (event) => void seen.push(event) },
    ]
    const run = createAgent({
      noTool: "continue",
      model: scriptedModel([calls(call("spawn")), calls(finish())]),
      tools: [spawn],
      hooks,
    }).run("go")
    const events = await Array.fromAsync(run)
    assert.equal((await run).status, "done")
    assert.deepEqual(seen, events)
    assert.equal(events.filter((event) => event.type === "warning-raised" && event.code === "observer").length, 1)
    assert.equal(new Set(seen.map(({ run }) => run)).size, 2)
  })
})

describe("hooks of a run", () => {
  test("are around those of the runs it starts", async () => {
    const log: string[] = []
    const hooks = (who: string): Hooks => ({
      beforeRun: (_start, { agent }) => void log.push(`${who} beforeRun ${agent}`),
      beforeModel: (_turn, { agent }) => void log.push(`${who} beforeModel ${agent}`),
      afterModel: (_answer, { agent }) => void log.push(`${who} afterModel ${agent}`),
      afterRun: (_end, { agent, parent }) => void log.push(`${who} afterRun ${agent} ${parent ? "inner" : "outer"}`),
    })
    const model = scriptedModel([calls(finish("x"))])
    const child = createAgent({ noTool: "continue", name: "child", model, tools: [note], hooks: hooks("own") })
    const spawn = tool({ name: "spawn", description: "", run: async () => (await child.run("go")).output })
    const boss = scriptedModel([calls(call("spawn")), calls(finish())])
    await createAgent({ noTool: "continue", name: "boss", model: boss, tools: [spawn], hooks: hooks("boss") }).run("go")
    assert.deepEqual(
      log.filter((line) => line.includes("child")),
      [
        ...["boss beforeRun child", "own beforeRun child", "boss beforeModel child", "own beforeModel child"],
        ...["own afterModel child", "boss afterModel child", "own afterRun child inner", "boss afterRun child inner"],
      ],
    )
  })

  test("stay with it where they say so", async () => {
    const seen: string[] = []
    const hooks: Hooks = { inherited: false, beforeRun: (_start, { agent }) => void seen.push(agent) }
    const child = createAgent({
      noTool: "continue",
      name: "child",
      model: scriptedModel([calls(finish("x"))]),
      tools: [note],
    })
    const spawn = tool({ name: "spawn", description: "", run: async () => (await child.run("go")).output })
    await createAgent({
      noTool: "continue",
      model: scriptedModel([calls(call("spawn")), calls(finish())]),
      tools: [spawn],
      hooks,
    }).run("go")
    assert.deepEqual(seen, ["agent"])
  })

  test("may run agents themselves, which are no part of the run", async () => {
    const judge = createAgent({
      noTool: "continue",
      name: "judge",
      model: scriptedModel(() => calls(finish("fine"))),
      tools: [note],
    })
    const hooks: Hooks = { beforeRun: async () => void (await judge.run("Is this fine?")) }
    const { agent } = agentOf([calls(finish("ok"))], hooks)
    const run = agent.run("go")
    const events = await Array.fromAsync(run)
    assert.equal((await run).output, "ok")
    assert.equal(new Set(events.map(({ run }) => run)).size, 1)
  })
})
