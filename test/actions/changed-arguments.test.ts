import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { type Bindings, fn, variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import type { ApprovalCondition, RuntimeCall } from "../../src/runtime/runtime.ts"
import { lastResultText, modelRunningCells } from "./every-runtime.ts"

interface Trial {
  /** Called at each approval request, before it is answered. */
  asked(call: RuntimeCall, times: number): void
  approve?: boolean | ApprovalCondition
  more?: Bindings
}

/** Runs a cell whose calls of `use` need approval. Returns the arguments of the calls, as JSON, and the number of
 *  requests. */
async function trial(code: string, { asked, approve = true, more = {} }: Trial) {
  const used: string[] = []
  let times = 0
  await using runtime = jsRuntime({
    use: fn(
      (...args: unknown[]) => {
        used.push(JSON.stringify(args))
        return "used"
      },
      { approve },
    ),
    ...more,
  })
  const model = modelRunningCells(runtime, { typescript: code, python: "" })
  const agent = createAgent({
    model,
    runtime,
    approver(call) {
      asked(call, ++times)
      return true
    },
  })
  const result = await agent.run("go").settled
  const reasons = result.trajectory.events.flatMap((event) =>
    event.type === "approval-requested" ? [event.reason ?? ""] : [],
  )
  return { used, times, reasons, told: lastResultText(model) }
}

describe("a call whose arguments change while approval is asked for", () => {
  const changes: [string, string, (given: never) => unknown][] = [
    ["a field", "({ to: 'A' })", (order: { to: string }) => Object.assign(order, { to: "B" })],
    ["a nested field", "({ a: [{ to: 'A' }] })", ({ a }: { a: object[] }) => a.splice(0, 1, { to: "B" })],
    ["a new field", "({})", (order: object) => Object.assign(order, { to: "B" })],
    ["a removed field", "({ to: 'A' })", (order: { to?: string }) => delete order.to],
    ["an element", "([1, 2])", (list: number[]) => list.push(3)],
    ["a Map", "(new Map([['to', 'A']]))", (map: Map<string, string>) => map.set("to", "B")],
    ["a Set", "(new Set([1]))", (set: Set<number>) => set.add(2)],
    ["a date", "(new Date(0))", (date: Date) => date.setTime(1)],
    ["bytes", "(new Uint8Array(4))", (bytes: Uint8Array) => bytes.fill(7, 1)],
  ]
  for (const [title, value, change] of changes) {
    test(`is asked about again: ${title}`, async () => {
      const asked = (call: RuntimeCall, times: number) => times === 1 && change(call.args[0] as never)
      const { used, times, reasons } = await trial(`await use${value}`, { asked })
      assert.equal(times, 2)
      assert.equal(used.length, 1)
      assert.match(String(reasons[1]), /arguments have changed/)
    })
  }

  test("is asked about again when the cell itself changes them", async () => {
    const code = `const order = { to: "A" }
const made = use(order)
await wait(() => { order.to = "B" })
await made`
    let release: (() => void) | undefined
    const change = Promise.withResolvers<void>()
    const more = {
      async wait(callback: () => void) {
        release = callback
        await change.promise
      },
    }
    const seen: string[] = []
    const { used } = await trial(code, {
      asked(call) {
        seen.push(JSON.stringify(call.args))
        release?.()
        change.resolve()
      },
      more,
    })
    assert.deepEqual(seen, ['[{"to":"A"}]', '[{"to":"B"}]'])
    assert.deepEqual(used, ['[{"to":"B"}]'])
  })

  test("is asked about again where there are functions beside the data, and guarded objects in the runtime", async () => {
    const lamp = { wipe: () => 1 }
    const asked = ({ args }: RuntimeCall, times: number) =>
      times === 1 && Object.assign(args[0] as object, { amount: 500 })
    const { used, times } = await trial("await use({ amount: 5, done() {} })", {
      asked,
      more: { lamp: variable(lamp, { guard: { wipe: {} } }) },
    })
    assert.deepEqual([used, times], [['[{"amount":500}]'], 2])
  })

  test("is asked about again by another id, so that a late answer to the first question does not count", async () => {
    const order = { to: "A" }
    const used: string[] = []
    const use = fn((given: object) => void used.push(JSON.stringify(given)), { approve: true })
    const model = scriptedModel(["```ts\nawait use(order)\n```", "Done."])
    const run = createAgent({ model, runtime: jsRuntime({ use, order }), approver: "events" }).run("go")
    const ids: string[] = []
    for await (const event of run) {
      if (event.type !== "approval-requested") continue
      ids.push(event.id)
      if (ids.length === 1) order.to = "B"
      else assert.throws(() => run.approve(String(ids[0]), "deny"), { code: "unknown-approval" })
      run.approve(event.id, "allow")
    }
    assert.equal(new Set(ids).size, 2)
    assert.deepEqual(used, ['{"to":"B"}'])
  })

  test("is refused when they never stay the same", async () => {
    const asked = (call: RuntimeCall, times: number) => (call.args[0] as number[]).push(times)
    const { used, times, told } = await trial("await use([0])", { asked })
    assert.deepEqual(used, [])
    assert.equal(times, 4)
    assert.match(told, /ApprovalDenied: use was not called: its arguments changed 4 times/)
  })

  test("is decided again by the function that picks the calls to ask about", async () => {
    const decided: unknown[] = []
    const approve = async ({ args }: RuntimeCall) => {
      const order = args[0] as { amount: number }
      decided.push(order.amount)
      if (decided.length === 1) queueMicrotask(() => Object.assign(order, { amount: 1000 }))
      await null
      return decided.at(-1) === 1000
    }
    const seen: unknown[] = []
    const { used } = await trial("await use({ amount: 5 })", {
      approve,
      asked: ({ args }) => seen.push(JSON.stringify(args)),
    })
    assert.deepEqual(decided, [5, 1000])
    assert.deepEqual([seen, used], [['[{"amount":1000}]'], ['[{"amount":1000}]']])
  })

  test("is made when an object of a class changes inside: it counts by its identity", async () => {
    class Account {
      balance = 1
    }
    const account = new Account()
    const asked = () => void account.balance++
    const { used, times } = await trial("await use(account)", { asked, more: { account } })
    assert.deepEqual([used, times], [['[{"balance":2}]'], 1])
  })
})

describe("a call that is approved", () => {
  test("gets the very arguments, which a function may change in place", async () => {
    const more = { sort: fn((list: number[]) => list.sort(), { approve: true }) }
    const { told } = await trial("const list = [3, 1]; const same = (await sort(list)) === list; [same, list]", {
      asked() {},
      more,
    })
    assert.match(told, /\[ true, \[ 1, 3 \] \]/)
  })

  test("is refused when its arguments are too large to be compared", async () => {
    const { used, times, told } = await trial("await use(new Array(2e6).fill(1))", { asked() {} })
    assert.deepEqual([used, times], [[], 0])
    assert.match(told, /too large for approval/)
  })

  test("for always is remembered for the object: not for another under its name, and for both names of one", async () => {
    const done: string[] = []
    const make = (name: string) => ({ wipe: () => void done.push(name) })
    const [first, second] = [make("first"), make("second")]
    const guard = { wipe: { approve: true } }
    await using runtime = jsRuntime({ db: variable(first, { guard }), alias: variable(first, { guard }) })
    const asked: string[] = []
    const agent = createAgent({
      model: modelRunningCells(runtime, { typescript: "await db.wipe(); await alias.wipe()", python: "" }),
      runtime,
      approver(call) {
        asked.push(String(call.subject))
        return "always"
      },
    })
    await using session = await agent.session()
    await session.send("go")
    await runtime.update({ db: second })
    await session.send("again", {
      model: modelRunningCells(runtime, { typescript: "await db.wipe(); await alias.wipe()", python: "" }),
    })
    assert.deepEqual(asked, ["db.wipe", "db#2.wipe"])
    assert.deepEqual(done, ["first", "first", "second", "first"])
  })
})
