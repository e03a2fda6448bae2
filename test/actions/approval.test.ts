import assert from "node:assert/strict"
import { after, beforeEach, describe, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import type { AgentOptions } from "../../src/agent/agent-config.ts"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { RunResult } from "../../src/core/agent.ts"
import type { EventType } from "../../src/core/event.ts"
import { fn, variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import type { RuntimeCall } from "../../src/runtime/runtime.ts"
import { withEnoughTime } from "../waiting.ts"
import { type Code, lastResultText, modelRunningCells, runtimes } from "./every-runtime.ts"

const done: string[] = []

class Vault {
  #opened = 0
  open() {
    return ++this.#opened
  }
  async wipe(what: string) {
    done.push(`vault ${what}`)
    return this.#opened
  }
}

const vault = new Vault()
const bindings = () => ({
  wipe: fn((what: string) => void done.push(what), { approve: true }),
  pay: fn((amount: number) => void done.push(`paid ${amount}`), {
    approve(call) {
      if (typeof call.args[0] !== "number") throw new TypeError("no amount")
      return call.args[0] > 100
    },
  }),
  free: (what: string) => void done.push(what),
  vault: variable(vault, { guard: { wipe: { approve: true } } }),
})

for (const { name, skip, open } of runtimes) {
  describe(`approval in ${name}`, { skip }, () => {
    const runtime = open(bindings())
    after(() => runtime.close())
    beforeEach(() => void done.splice(0))

    const run = async (cells: Code[], options: Partial<AgentOptions> = {}) => {
      const model = modelRunningCells(runtime, ...cells)
      const agent = createAgent({ model, runtime, ...options })
      return { model, result: await agent.run("go").settled }
    }

    test("is asked of the answerer before the function is called, and told in order", async () => {
      const asked: unknown[] = []
      const approve = (call: RuntimeCall) => {
        asked.push([call.binding, call.method, ...call.args, done.length])
        return true
      }
      const code = {
        typescript: "await wipe('disk')\nawait vault.wipe('all')",
        python: "wipe('disk')\nvault.wipe('all')",
      }
      const { result } = await run([code], { approver: approve })
      assert.deepEqual(asked, [
        ["wipe", undefined, "disk", 0],
        ["vault", "wipe", "all", 1],
      ])
      assert.deepEqual(done, ["disk", "vault all"])
      assert.deepEqual(typesOf(result, "call-start", "approval-requested", "approval-resolved", "call-end"), [
        ...["call-start", "approval-requested", "approval-resolved", "call-end"],
        ...["call-start", "approval-requested", "approval-resolved", "call-end"],
      ])
    })

    test("refused is an error the model sees, and nothing is called", async () => {
      const code = { typescript: "await vault.wipe('all')", python: "vault.wipe('all')" }
      const { model, result } = await run([code], { approver: () => "deny" })
      assert.match(lastResultText(model), /ApprovalDenied: vault\.wipe was not approved; it was not called/)
      assert.deepEqual(done, [])
      assert.equal(result.status, "done")
    })

    test("is refused at once where there is no approver, also while the events are read", async () => {
      const model = modelRunningCells(runtime, { typescript: "await wipe('disk')", python: "wipe('disk')" })
      const read = []
      const warnings = []
      for await (const event of createAgent({ model, runtime }).run("go")) {
        read.push(event.type)
        if (event.type === "warning-raised") warnings.push(`${event.code} ${event.message}`)
      }
      assert.match(lastResultText(model), /ApprovalDenied: wipe needs approval and there is no approver/)
      // The model learns what follows for it, the host how to provide an approver.
      assert.match(lastResultText(model), /Every such call will be refused: continue without it/)
      assert.doesNotMatch(lastResultText(model), /approver of the agent/)
      assert.match(warnings.join(), /^no-approver wipe needs approval.*approver of the agent or run/)
      assert.ok(!read.includes("approval-requested"))
      assert.deepEqual(done, [])
    })

    test("is asked before each call of a loop, and a refusal ends the loop", async () => {
      const asked: unknown[] = []
      const approve = (call: RuntimeCall) => {
        asked.push([call.args[0], done.length])
        return asked.length < 3
      }
      const code = {
        typescript: "for (const what of 'abcd') await wipe(what)",
        python: "for what in 'abcd': wipe(what)",
      }
      const { model } = await run([code], { approver: approve })
      assert.deepEqual(asked, [
        ["a", 0],
        ["b", 1],
        ["c", 2],
      ])
      assert.deepEqual(done, ["a", "b"])
      assert.match(lastResultText(model), /ApprovalDenied: wipe was not approved/)
    })

    test("is asked for calls made together, each with its own answer, while the others go on", async () => {
      const all = Promise.withResolvers<void>()
      let waiting = 0
      const approve = async (call: RuntimeCall) => {
        if (++waiting === 3) all.resolve()
        await all.promise
        return call.args[0] === "b"
      }
      const code = {
        typescript: `const each = await Promise.allSettled([wipe("a"), wipe("b"), vault.wipe("c"), free("d")])
each.map(({ status }) => status)`,
        python: `import asyncio
def tried(call, what):
    try: return call(what) or "made"
    except Exception as error: return type(error).__name__
calls = zip([wipe, wipe, vault.wipe, free], "abcd")
print(await asyncio.gather(*(asyncio.to_thread(tried, call, what) for call, what in calls)))`,
      }
      const { model } = await run([code], { approver: approve })
      assert.match(lastResultText(model), /rejected|ApprovalDenied/)
      assert.deepEqual(done.sort(), ["b", "d"])
    })

    test("given for always holds for that name, in this run and those after it", async () => {
      const asked: string[] = []
      const approve = ({ binding, method }: RuntimeCall) => {
        asked.push(method ? `${binding}.${method}` : binding)
        return "always" as const
      }
      const code = {
        typescript: "await wipe('1')\nawait wipe('2')\nawait vault.wipe('3')",
        python: "wipe('1')\nwipe('2')\nvault.wipe('3')",
      }
      const model = modelRunningCells(runtime, code)
      const agent = createAgent({ model, runtime, approver: approve })
      await using session = await agent.session()
      await session.send("go")
      await session.send("again", { model: modelRunningCells(runtime, code) })
      assert.deepEqual(asked, ["wipe", "vault.wipe"])
      assert.equal(done.length, 6)
    })

    test('waits for run.approve with approver: "events", also where nothing reads the run', async () => {
      const code = { typescript: "await vault.wipe('x')", python: "vault.wipe('x')" }
      const unread = createAgent({ model: modelRunningCells(runtime, code), runtime }).run("go", {
        approver: "events",
        onEvent: (event) => void (event.type === "approval-requested" && unread.approve(event.id, "allow")),
      })
      await unread
      assert.deepEqual(done.splice(0), ["vault x"])
      const watched = createAgent({ model: modelRunningCells(runtime, code), runtime, approver: "events" }).run("go")
      for await (const event of watched) {
        if (event.type !== "approval-requested") continue
        assert.deepEqual(event.call.method, "wipe")
        watched.approve(event.id, "allow")
      }
      assert.deepEqual(done, ["vault x"])
    })

    test("that stays unanswered for approvalTimeoutMs is refused, and no active time passes meanwhile", async () => {
      const code = { typescript: "await wipe('disk')", python: "wipe('disk')" }
      for (const approver of ["events", () => new Promise<boolean>(() => {})] as const) {
        const limits = { timeMs: 60_000 }
        const options = { approver, approvalTimeoutMs: 30, cellTimeoutMs: 20_000, limits }
        const { model, result } = await run([code], options)
        assert.match(lastResultText(model), /ApprovalDenied: wipe was not approved within 30 ms; it was not called/)
        const resolved = result.trajectory.events.find((event) => event.type === "approval-resolved")
        assert.deepEqual([resolved?.decision, resolved?.reason], ["deny", "No answer came within 30 ms."])
        assert.deepEqual(done, [])
      }
    })

    test("is asked only for the calls that a function picks, and where it cannot decide", async () => {
      const asked: unknown[] = []
      const approve = (call: RuntimeCall) => asked.push(call.args[0]) > 0
      const code = {
        typescript: "await pay(50)\nawait pay(200)\nawait pay('much')",
        python: "pay(50)\npay(200)\npay('much')",
      }
      const { result } = await run([code], { approver: approve })
      assert.deepEqual(asked, [200, "much"])
      assert.deepEqual(done, ["paid 50", "paid 200", "paid much"])
      const reasons = result.trajectory.events.filter((event) => event.type === "approval-requested")
      assert.deepEqual(
        reasons.map(({ reason }) => reason),
        [undefined, "Whether to ask could not be decided: no amount"],
      )
    })

    test("stops the clock of the cell and of the run, which both go on afterwards", async () => {
      const code = {
        typescript: "await wipe('slowly')\nwhile (true) await free('.')",
        python: "wipe('slowly')\nwhile True: pass",
      }
      // The clock of the run.
      let now = 0
      const { result } = await withEnoughTime(
        (cellTimeoutMs) => {
          // The clock of the cell was started before this one.
          const approver = async () => {
            now += 100_000
            await setTimeout(cellTimeoutMs)
            return true
          }
          return run([code], { approver, cellTimeoutMs, now: () => now, limits: { timeMs: 60_000 } })
        },
        () => now > 0,
      )
      assert.equal(done[0], "slowly")
      const end = result.trajectory.events.find((event) => event.type === "code-end")
      assert.equal(end?.error?.kind, "timeout")
      assert.equal(result.status, "done")
    })

    test("asked meanwhile does not let a cell keep the event loop for ever", {
      skip:
        name === "jsRuntime" ? undefined : "by design: only in jsRuntime does a cell share the event loop of its host",
    }, async () => {
      const code = {
        typescript: "Promise.allSettled([wipe('disk')])\nawait new Promise((go) => setTimeout(go, 20))\nfor (;;) {}",
        python: "",
      }
      const { result } = await run([code], { approver: () => new Promise(() => {}), cellTimeoutMs: 300 })
      const end = result.trajectory.events.find((event) => event.type === "code-end")
      assert.equal(end?.error?.kind, "timeout")
      assert.deepEqual(done, [])
    })

    test("asked when the run is aborted is over, also when the answerer does not listen", async () => {
      const aborts: boolean[] = []
      const model = modelRunningCells(runtime, { typescript: "await wipe('disk')", python: "wipe('disk')" })
      const agent = createAgent({
        model,
        runtime,
        approver: (_call, signal) => {
          signal.addEventListener("abort", () => aborts.push(true))
          aborted.abort("enough")
          return new Promise(() => {})
        },
      })
      const aborted = agent.run("go")
      const result = await aborted.settled
      assert.equal(result.status, "aborted")
      assert.deepEqual(aborts, [true])
      assert.deepEqual(done, [])
      const resolved = result.trajectory.events.find((event) => event.type === "approval-resolved")
      assert.equal(resolved?.decision, "deny")
      assert.equal((await run([{ typescript: "await free('on')", python: "free('on')" }])).result.status, "done")
    })

    test("does not keep the host from its own object", async () => {
      assert.equal(await runtime.retrieve("vault"), vault)
      const code = { typescript: "[await vault.open(), typeof vault.open]", python: "vault.open()" }
      assert.equal((await run([code])).result.status, "done")
    })
  })
}

test("asked in a run that another one started stops the clocks of both", async (context) => {
  const inner = jsRuntime({ wipe: fn(() => "wiped", { approve: true }) })
  const child = createAgent({
    model: modelRunningCells(inner, { typescript: "await wipe()", python: "" }),
    runtime: inner,
  })
  const outer = jsRuntime({ start: async () => (await child.run("go")).output })
  const model = modelRunningCells(outer, { typescript: "await start()", python: "" })
  const approver = async () => {
    // Longer than both cells may take.
    context.mock.timers.tick(120_000)
    return true
  }
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] })
  const { trajectory } = await createAgent({ model, runtime: outer, approver, cellTimeoutMs: 60_000 }).run("go")
  const ends = trajectory.events.filter((event) => event.type === "code-end")
  assert.deepEqual(
    ends.map(({ ok }) => ok),
    [true, true],
  )
})

test("conditions of calls that start together are judged before any of these calls is made", async () => {
  const order: string[] = []
  const runtime = jsRuntime({
    refund: fn((euros: number) => void order.push(`made ${euros}`), {
      approve({ args: [euros] }) {
        order.push(`judged ${euros}`)
        return !(typeof euros === "number" && euros <= 100)
      },
    }),
  })
  const model = modelRunningCells(runtime, { typescript: "await Promise.all([refund(90), refund(80)])", python: "" })
  await createAgent({ model, runtime }).run("go")
  assert.deepEqual(order, ["judged 90", "judged 80", "made 90", "made 80"])
})

function typesOf({ trajectory }: RunResult, ...types: EventType[]): EventType[] {
  return trajectory.events.map((event) => event.type).filter((type) => types.includes(type))
}
