import assert from "node:assert/strict"
import { after, beforeEach, describe, test } from "node:test"
import { z } from "zod"
import { type CallOutcome, nestHooks } from "../../src/actions/hooks.ts"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError } from "../../src/core/errors.ts"
import { fn, type Hooks, jsRuntime, variable } from "../../src/index.ts"
import { lastResultText, modelRunningCells, runtimes } from "./every-runtime.ts"

const made: unknown[] = []
const vault = {
  wipe(what: string) {
    made.push(`vault ${what}`)
    return `wiped ${what}`
  },
}
const bindings = () => ({
  double: fn((n: number) => made.push(n) && n * 2, { input: z.tuple([z.number()]) }),
  fail() {
    throw new RangeError("out of range")
  },
  wipe: fn((what: string) => void made.push(what), { approve: true }),
  vault: variable(vault, { guard: { wipe: {} } }),
})

for (const { name, skip, open } of runtimes) {
  describe(`hooks around calls in ${name}`, { skip }, () => {
    const runtime = open(bindings())
    after(() => runtime.close())
    beforeEach(() => void made.splice(0))
    const both = (call: string) => ({
      typescript: `print(await ${call})`.replace("print", "console.log"),
      python: `print(${call})`,
    })

    const outcomeOf = async (call: string, hooks: Hooks | readonly Hooks[], approve = () => true) => {
      const model = modelRunningCells(runtime, both(call))
      const { trajectory } = await createAgent({ model, runtime, hooks, approver: approve }).run("go")
      const end = trajectory.events.find((event) => event.type === "call-end")
      return { said: lastResultText(model), end, events: trajectory.events }
    }

    test("see every call with where it was made, and let it be when they give nothing", async () => {
      const seen: unknown[] = []
      const hooks: Hooks = {
        beforeCall(call, context) {
          seen.push([call.binding, call.method, ...call.args, context.agent, typeof context.run, typeof context.within])
        },
        async afterCall(_call, outcome) {
          seen.push(outcome)
        },
      }
      const { said } = await outcomeOf("vault.wipe('all')", hooks)
      assert.match(said, /wiped all/)
      assert.deepEqual(seen, [
        ["vault", "wipe", "all", "agent", "string", "string"],
        { ok: true, value: "wiped all", by: "call" },
      ])
    })

    test("may give a call other arguments, which are validated and shown", async () => {
      const tens: Hooks = { beforeCall: (call) => ({ args: [Number(call.args[0]) * 10] }) }
      const { said, end } = await outcomeOf("double(1)", [tens, tens])
      assert.match(said, /200/)
      assert.deepEqual(made, [100])
      assert.deepEqual(end?.call, { binding: "double", args: "100" })
      const text: Hooks = { beforeCall: () => ({ args: ["ten"] }) }
      assert.match((await outcomeOf("double(1)", text)).said, /TypeError: Invalid input of double/)
      assert.deepEqual(made, [100])
    })

    test("may answer in place of the function, which is not called and asks nobody", async () => {
      const outcomes: CallOutcome[] = []
      const hooks: Hooks[] = [
        { beforeCall: () => ({ result: "instead" }) },
        {
          beforeCall: () => assert.fail("the pipeline has ended"),
          afterCall: (_call, outcome) => void outcomes.push(outcome),
        },
      ]
      const { said, end } = await outcomeOf("wipe('disk')", hooks, () => assert.fail("nobody is to be asked"))
      assert.match(said, /instead/)
      assert.equal(end?.by, "hook")
      assert.deepEqual(outcomes, [{ ok: true, value: "instead", by: "hook" }])
      assert.deepEqual(made, [])
    })

    test("may refuse a call with a reason the model sees", async () => {
      const { said, end } = await outcomeOf("vault.wipe('all')", { beforeCall: () => ({ refuse: "not on Fridays" }) })
      assert.match(said, /CallRefused: vault\.wipe was not called: not on Fridays/)
      assert.equal(end?.ok, false)
      assert.deepEqual(made, [])
    })

    test("come before approval, which is asked for the call as it will be made", async () => {
      const hooks: Hooks = { beforeCall: () => ({ args: ["little"] }) }
      const { events } = await outcomeOf("wipe('everything')", hooks)
      const request = events.find((event) => event.type === "approval-requested")
      assert.deepEqual(request?.call, { binding: "wipe", args: '"little"' })
      assert.deepEqual(made, ["little"])
    })

    test("may replace the value, one after the other, and that of a failure", async () => {
      const plus: Hooks = { afterCall: (_call, outcome) => ({ value: outcome.ok ? `${outcome.value}+` : "rescued" }) }
      assert.match((await outcomeOf("double(2)", [plus, plus])).said, /4\+\+/)
      const { said, end } = await outcomeOf("fail()", plus)
      assert.match(said, /rescued/)
      assert.deepEqual([end?.ok, end?.by], [true, "hook"])
    })

    test("see failures: of the function, of the answerer, of a refusal", async () => {
      const errors: string[] = []
      const hooks: Hooks = {
        beforeCall: (call) => (call.binding === "double" ? { refuse: "no" } : undefined),
        afterCall: (_call, outcome) => void errors.push(outcome.ok ? "ok" : String(outcome.error)),
      }
      await outcomeOf("fail()", hooks)
      await outcomeOf("wipe('disk')", hooks, () => false)
      await outcomeOf("double(1)", hooks)
      assert.deepEqual(errors, [
        "RangeError: out of range",
        "ApprovalDenied: wipe was not approved; it was not called.",
        "CallRefused: double was not called: no",
      ])
    })

    test("that throw, or give what they may not, fail closed", async () => {
      const broken = () => {
        throw new Error("out of order")
      }
      assert.match((await outcomeOf("double(1)", { beforeCall: broken })).said, /beforeCall hook failed: out of order/)
      for (const garbage of [true, "no", {}, { args: 5 }, { refuse: 1 }, { result: 1, args: [2] }, []]) {
        const hooks = { beforeCall: () => garbage } as unknown as Hooks
        assert.match((await outcomeOf("double(1)", hooks)).said, /beforeCall hook failed: it gave something else/)
      }
      assert.deepEqual(made, [])
      assert.match(
        (await outcomeOf("double(1)", { afterCall: broken })).said,
        /double was called, and .*its afterCall hook failed/,
      )
      const hooks = { afterCall: () => 5 } as unknown as Hooks
      assert.match(
        (await outcomeOf("double(1)", hooks)).said,
        /double was called, and .*its afterCall hook failed: it gave/,
      )
    })
  })
}

describe("hooks of an agent", () => {
  const cell = { typescript: "await f()", python: "f()" }
  const runtime = jsRuntime({ f: () => 1 })
  const hook = (name: string, seen: string[]): Hooks => ({
    beforeCall: () => void seen.push(`${name} before`),
    afterCall: () => void seen.push(`${name} after`),
  })

  test("are replaced by those of `with`, a session, a run or a send, and not added to", async () => {
    const seen: string[] = []
    const agent = createAgent({ model: modelRunningCells(runtime, cell), runtime, hooks: hook("agent", seen) })
    const go = { model: modelRunningCells(runtime, cell) }
    await agent.run("go")
    await agent.with({ hooks: [] }).run("go", { model: modelRunningCells(runtime, cell) })
    await agent.run("go", { ...go, hooks: hook("run", seen) })
    await using session = await agent.session({ hooks: hook("session", seen) })
    await session.send("go", { model: modelRunningCells(runtime, cell) })
    await session.send("go", { model: modelRunningCells(runtime, cell), hooks: hook("send", seen) })
    assert.deepEqual(
      seen,
      ["agent", "run", "session", "send"].flatMap((name) => [`${name} before`, `${name} after`]),
    )
  })

  test("may be methods of an object with state, and must be objects", async () => {
    class Audit {
      #calls = 0
      beforeCall() {
        this.#calls++
      }
      get calls() {
        return this.#calls
      }
    }
    const audit = new Audit()
    await createAgent({ model: modelRunningCells(runtime, cell), runtime, hooks: nestHooks([audit], []) }).run("go")
    assert.equal(audit.calls, 1)
    const wrong = [5] as unknown as Hooks[]
    assert.throws(() => createAgent({ model: modelRunningCells(runtime, cell), hooks: wrong }), ConfigError)
  })

  test("whose name is misspelt are refused, because a guard that is never called guards nothing", () => {
    for (const name of ["beforeCalls", "beforCall", "beforecall", "before_call", "onEvents"]) {
      const misspelt: Hooks = { [name]: () => ({ refuse: "no" }) }
      assert.throws(
        () => createAgent({ model: modelRunningCells(runtime, cell), hooks: [misspelt] }),
        new RegExp(`there is no "${name}".*beforeCall,`),
      )
    }
    const counting = { count: 0, describe: () => "", beforeCall() {} }
    createAgent({ model: modelRunningCells(runtime, cell), hooks: counting })
  })

  test("that are no functions are refused", () => {
    // Values that the types would reject.
    const wrong = { beforeCall: { refuse: "no" } } as never
    assert.throws(
      () => createAgent({ model: modelRunningCells(runtime, cell), hooks: wrong }),
      /beforeCall is not a function/,
    )
  })

  test("of a run are around those of the runs it starts, and its answerer answers for them", async () => {
    const seen: string[] = []
    const asked: string[] = []
    const inner = jsRuntime({ wipe: fn(() => seen.push("wipe"), { approve: true }) })
    const code = { typescript: "await wipe()", python: "" }
    const child = createAgent({
      name: "child",
      model: modelRunningCells(inner, code),
      runtime: inner,
      hooks: hook("child", seen),
    })
    const outer = jsRuntime({ start: async () => (await child.run("go")).output })
    const parent = createAgent({
      model: modelRunningCells(outer, { typescript: "await start()", python: "" }),
      runtime: outer,
      hooks: {
        beforeCall: (call, { agent }) => void seen.push(`parent before ${agent} ${call.binding}`),
        afterCall: (call, _outcome, { agent }) => void seen.push(`parent after ${agent} ${call.binding}`),
      },
      approver: ({ binding }) => asked.push(binding) > 0,
    })
    await parent.run("go")
    assert.deepEqual(asked, ["wipe"])
    assert.deepEqual(seen, [
      "parent before agent start",
      "parent before child wipe",
      "child before",
      "wipe",
      "child after",
      "parent after child wipe",
      "parent after agent start",
    ])
  })
})
