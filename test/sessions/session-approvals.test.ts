// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AgentError, type Approver, type CodeAgent, createAgent, fn, jsRuntime, type Run } from "karst"
import { scriptedModel } from "karst/models"
import { loadSession } from "karst/sessions"
import { memoryStore } from "karst/stores"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

function payer(steps: string[], paid: number[] = []): CodeAgent {
  return createAgent({
    model: scriptedModel(steps),
    runtime: () => jsRuntime({ pay: fn((euros: number) => void paid.push(euros), { approve: true }) }),
  })
}

async function untilAsked(run: Run, times = 1): Promise<void> {
  let asked = 0
  for await (const event of run) if (event.type === "approval-requested" && ++asked === times) return
}

describe("closing a session while an approval is open", () => {
  test("refuses the call, tells the model why, and lets the run end", async () => {
    const paid: number[] = []
    const archive = memoryStore()
    const agent = payer([cell("await pay(500)"), "Nothing was paid."], paid)
    // A timer that is left behind would keep this process alive.
    const session = await agent.session({ id: "ada", archive, approver: "events", approvalTimeoutMs: 3_600_000 })
    const run = session.send("Pay")
    await untilAsked(run)
    await session.close()
    assert.deepEqual(run.pendingApprovals(), [])
    assert.partialDeepStrictEqual(await run, { status: "done", output: "Nothing was paid." })
    assert.deepEqual(paid, [])
    const { events } = (await loadSession(archive, "ada")).trajectory()
    assert.partialDeepStrictEqual(
      events.find(({ type }) => type === "approval-resolved"),
      { decision: "deny", reason: "The session was closed." },
    )
    const end = events.find((event) => event.type === "code-end")
    assert.match(end?.text ?? "", /pay was not approved: the session is being closed\. It was not called\./)
  })

  test("refuses at once what the run asks for afterwards", async () => {
    const session = await payer([cell("await pay(1)"), cell("await pay(2)"), "No."]).session({ approver: "events" })
    const run = session.send("Pay")
    await untilAsked(run)
    await session.close()
    const resolved = (await Array.fromAsync(run)).filter((event) => event.type === "approval-resolved")
    assert.deepEqual(
      resolved.map(({ decision, reason }) => [decision, reason]),
      Array(2).fill(["deny", "The session was closed."]),
    )
  })

  test("does not wait for an approver function that never answers", async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    let isOver = false
    const approver: Approver = (_call, signal) => {
      resolve()
      signal.addEventListener("abort", () => {
        isOver = true
      })
      return new Promise(() => {})
    }
    const agent = payer([cell("await pay(1)"), "No."])
    const session = await agent.session({ approver, approvalTimeoutMs: 3_600_000 })
    const run = session.send("Pay")
    await asked
    await session.close()
    assert.deepEqual([(await run).output, isOver], ["No.", true])
  })

  test("refuses the calls of sub-agents too", async () => {
    const sub = payer([cell("await pay(1)"), "Sub: no."])
    const session = await createAgent({
      model: scriptedModel([cell("(await sub.run('Pay')).output"), "Done."]),
      runtime: () => jsRuntime({ sub }),
    }).session({ approver: "events" })
    const run = session.send("Pay")
    await untilAsked(run)
    await session.close()
    assert.match(JSON.stringify((await run).messages), /Sub: no\./)
  })
})

describe("run.pendingApprovals()", () => {
  test("lists the calls that wait, by id and call, until each is answered", async () => {
    const agent = payer([cell("await Promise.allSettled([pay(1), pay(2)])"), "Done."])
    await using session = await agent.session({ approver: "events" })
    const run = session.send("Pay both")
    assert.deepEqual(run.pendingApprovals(), [])
    await untilAsked(run, 2)
    const [first, second] = session.running?.pendingApprovals() ?? []
    assert.deepEqual(
      [first?.call, second?.call],
      [
        { binding: "pay", args: "1" },
        { binding: "pay", args: "2" },
      ],
    )
    assert.ok(first && second)
    assert.match(run.pendingCall(first.id) ?? "", /pay\(1\)/)
    run.approve(first.id, "allow")
    run.approve(second.id, "deny")
    await run
    assert.deepEqual(run.pendingApprovals(), [])
    assert.throws(
      () => run.approve(first.id, "allow"),
      (error) => error instanceof AgentError && error.code === "unknown-approval",
    )
  })

  test("lists the calls of sub-agents, and none that a function answers", async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const { promise: answer, resolve: allow } = Promise.withResolvers<boolean>()
    const approver: Approver = () => {
      resolve()
      return answer
    }
    const own = payer([cell("await pay(1)"), "Paid."]).run("Pay", { approver })
    await asked
    assert.deepEqual(own.pendingApprovals(), [])
    allow(true)
    await own

    const sub = payer([cell("await pay(1)"), "Paid."])
    const boss = createAgent({
      model: scriptedModel([cell("(await sub.run('Pay')).output"), "Done."]),
      runtime: () => jsRuntime({ sub }),
    })
    const run = boss.run("Pay", { approver: "events" })
    await untilAsked(run)
    assert.deepEqual(
      run.pendingApprovals().map(({ kind, call }) => [kind, call.binding]),
      [["approval", "pay"]],
    )
    run.abort()
    await run.settled
    assert.deepEqual(run.pendingApprovals(), [])
  })
})

describe("session.lastRun", () => {
  test("is the run under way, then the ended run, and never a run that did not begin", async () => {
    await using session = await createAgent({ model: scriptedModel(["One.", "Two."]) }).session()
    assert.equal(session.lastRun, undefined)
    const first = session.send("1")
    assert.equal(session.lastRun, first)
    const second = session.send("2")
    const third = session.send("3")
    third.abort()
    await first
    await second
    await third.settled
    assert.equal(session.running, undefined)
    assert.equal(session.lastRun, second)
    const last = (await Array.fromAsync(second)).at(-1)
    assert.partialDeepStrictEqual(last, { type: "run-end", output: "Two." })
  })
})
