import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Hooks } from "../../src/actions/hooks.ts"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { tool } from "../../src/tools/tool.ts"
import { call, calls, toolEnds } from "../agent/tool-call-helpers.ts"

const broken: Hooks = {
  afterCall() {
    throw new Error("audit log is offline")
  },
}

describe("an afterCall hook that fails", () => {
  /** Calls the tool `pay` once and returns the end of the call. */
  async function endOfPay(hooks: Hooks | Hooks[], pay: () => unknown = () => "paid") {
    const tools = [tool({ name: "pay", description: "Pays.", run: pay })]
    const model = scriptedModel([calls(call("pay")), "Done."])
    const { trajectory } = await createAgent({ model, tools, noTool: "answer", hooks }).run("go")
    const [end] = toolEnds(trajectory.events)
    assert.equal(end?.ok, false)
    return { text: end?.text ?? "", error: end?.error }
  }

  test("after a tool was called tells the model that it was called", async () => {
    const { text, error } = await endOfPay(broken)
    assert.match(text, /^Error \(hook-failed\): pay was called.*again.*afterCall hook failed: audit log is offline/)
    assert.deepEqual([error?.kind, error?.code], ["throw", "hook-failed"])
  })

  test("after a function was called from a cell says so in the cell and in the events", async () => {
    let made = 0
    const model = scriptedModel(["```ts\nawait pay()\n```\n", "Done."])
    const { trajectory } = await createAgent({ model, runtime: jsRuntime({ pay: () => ++made }), hooks: broken }).run(
      "go",
    )
    const errors = trajectory.events.flatMap((event) => {
      if (event.type === "call-end") return [event.error ?? ""]
      return event.type === "code-end" ? [event.error?.message ?? ""] : []
    })
    assert.equal(errors.length, 2)
    for (const error of errors) assert.match(error, /^HookFailed: pay was called.*afterCall hook failed/)
    assert.equal(made, 1)
  })

  test("after a call that was refused, answered by a hook, or failed says that", async () => {
    const pay = () => {
      throw new RangeError("no money")
    }
    const refused = await endOfPay([{ beforeCall: () => ({ refuse: "not now" }) }, broken])
    assert.match(refused.text, /pay failed \(CallRefused: pay was not called: not now\).*afterCall hook failed/)
    const answered = await endOfPay([{ beforeCall: () => ({ result: "later" }) }, broken])
    assert.match(answered.text, /pay was not called: a hook provided its result.*afterCall hook failed/)
    assert.match((await endOfPay(broken, pay)).text, /pay failed \(RangeError: no money\).*afterCall hook failed/)
  })

  test("after another hook replaced the result still says that the call was made", async () => {
    const { text } = await endOfPay([{ afterCall: () => ({ value: "hidden" }) }, broken])
    assert.match(text, /pay was called/)
  })

  test("because the run was aborted does not say that the call was interrupted", async () => {
    const begun = Promise.withResolvers<void>()
    const hooks: Hooks = {
      afterCall() {
        begun.resolve()
        return new Promise<never>(() => undefined)
      },
    }
    const tools = [tool({ name: "pay", description: "Pays.", run: () => "paid" })]
    const run = createAgent({ model: scriptedModel([calls(call("pay"))]), tools, hooks }).run("go")
    await begun.promise
    run.abort("enough")
    const { status, trajectory } = await run.settled
    assert.equal(status, "aborted")
    const [end] = toolEnds(trajectory.events)
    assert.match(end?.text ?? "", /pay was called/)
  })
})

test("a cell whose output cannot be stored has run: its calls and changes count, and the run goes on", async () => {
  const runtime = jsRuntime({ pay: () => "paid" })
  const keep = () => Promise.reject(new Error("no space is left"))
  const model = scriptedModel([
    "```ts\nvar paid = await pay()\nconsole.log('word '.repeat(9000))\n```\n",
    "```ts\nArray.from({ length: 9000 }, (_, at) => ({ at, name: 'a name' }))\n```\n",
    "```ts\nthrow new Error('word '.repeat(9000))\n```\n",
    "Done.",
  ])
  // A runtime that does not keep values itself.
  const execute: typeof runtime.execute = (code, options) =>
    runtime.execute(code, { ...options, keepCutValue: undefined })
  const result = await createAgent({ model, runtime: { ...runtime, keep, execute } }).run("go")
  const [first, second, third] = result.trajectory.events.filter((event) => event.type === "code-end")
  assert.deepEqual([first?.ok, first?.calls, first?.changes.created], [true, 1, ["paid"]])
  assert.match(first?.text ?? "", /^<output>\nword word.*could not be kept: no space is left/s)
  assert.equal(second?.ok, true)
  assert.match(second?.text ?? "", /could not be kept: no space is left/)
  assert.equal(third?.error?.kind, "throw")
  assert.equal(result.output, "Done.")
})

test("a cell whose runtime fails after a call reports the call", async () => {
  const runtime = jsRuntime({ pay: () => "paid" })
  const model = scriptedModel(["```ts\nawait pay()\n```\n"])
  const execute: typeof runtime.execute = async (...given) => {
    await runtime.execute(...given)
    throw new Error("connection lost")
  }
  const { trajectory } = await createAgent({ model, runtime: { ...runtime, execute } }).run("go").settled
  const end = trajectory.events.find((event) => event.type === "code-end")
  assert.deepEqual([end?.ok, end?.calls, end?.error?.kind], [false, 1, "crash"])
})
