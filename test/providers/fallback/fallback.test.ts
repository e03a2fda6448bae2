// test lane: clis
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import {
  AbortError,
  type AgentEvent,
  ConfigError,
  createAgent,
  jsRuntime,
  ModelError,
  messageText,
  ProviderError,
  type RunResult,
  tool,
  variable,
} from "karst"
import { scriptedModel } from "karst/models"
import { type CliOptions, claude, codex, fallback } from "karst/providers"
import { loadSession } from "karst/sessions"
import * as z from "zod"
import { eventsOfType, fakeCliMachine, waitUntil } from "../cli-machines.ts"

const changes = ({ trajectory }: RunResult) => eventsOfType(trajectory.events, "provider-changed")

describe("a fallback", () => {
  test("lets the first that is installed do the work, and says which that is", async () => {
    await using place = await fakeCliMachine()
    const agent = fallback(claude(place.options), codex(place.options))
    assert.equal(agent.provider, "claude")
    const first = await agent.run("say hello")
    assert.deepEqual([first.output, changes(first)], ["hello 1", []])
    await place.uninstall("claude")
    assert.equal(agent.provider, "codex")
    const second = await agent.run("say hello")
    assert.deepEqual([second.output, changes(second)], ["hello 1", []])
    assert.equal((await place.heard("codex")).length, 1)
  })

  test("tells one run, whoever does the work: one start, one end, its own numbers", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "think tool Read break 500")
    const events: AgentEvent[] = []
    const agent = fallback(claude(place.options), codex(place.options), { onEvent: (event) => events.push(event) })
    const run = agent.run("say hello", { metadata: { task: 7 } })
    const result = await run
    assert.deepEqual([result.id, result.status, result.output], [run.id, "done", "hello 1"])
    assert.deepEqual(new Set(events.map((event) => event.run)), new Set([run.id]))
    assert.ok(events.every((event) => event.parent === undefined))
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index),
    )
    assert.deepEqual([events[0]?.type, events.at(-1)?.type], ["run-start", "run-end"])
    assert.equal(eventsOfType(events, "run-start").length + eventsOfType(events, "run-end").length, 2)
    assert.equal(result.usage.input, 15, "what the first one used counts as well")
    assert.deepEqual(result.trajectory.metadata, { task: 7 })
    assert.deepEqual(result.trajectory.runs.length, 1)
  })

  test("moves on where the first prompt fails, and tells from whom to whom and why", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "fail 500")
    const result = await fallback(claude(place.options), codex(place.options)).run("say hello")
    assert.equal(result.output, "hello 1")
    const [change] = changes(result)
    assert.deepEqual([change?.from, change?.to], ["claude", "codex"])
    assert.match(change?.reason ?? "", /API Error: 500/)
    assert.deepEqual(await place.heard("codex"), [["say hello"]], "who has done nothing hands nothing over")
  })

  test("moves on at a limit and does not wait for it", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "limit")
    const agents = [claude(place.options), codex(place.options)] as const
    const result = await fallback(...agents, { autoWait: true }).run("say hello")
    assert.equal(result.output, "hello 1")
    assert.match(changes(result)[0]?.reason ?? "", /hit your limit/)
    assert.deepEqual(eventsOfType(result.trajectory.events, "limit-waiting"), [])
  })

  test("tells the next one what was done before it, where something was", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "tool Write break 500")
    const result = await fallback(claude(place.options), codex(place.options)).run("say hello")
    const [[heard = ""] = []] = await place.heard("codex")
    assert.match(heard, /^You take over the work of another agent \(claude\)/)
    assert.match(heard, /Write \{"number":1\}/)
    assert.match(heard, /say hello$/)
    const [steered] = eventsOfType(result.trajectory.events, "prompt-steered")
    assert.ok(steered && heard.startsWith(messageText(steered.message).slice(0, 100)))
  })

  test("fails with the last error and all attempts in its details", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "fail 500")
    await place.tell("codex", "exit 3")
    const agent = fallback(claude(place.options), codex(place.options))
    const { status, error, trajectory } = await agent.run("say hello").settled
    assert.equal(status, "failed")
    assert.ok(error?.cause instanceof ProviderError)
    assert.equal(error.cause.code, "exit")
    const attempts = JSON.stringify(error.cause.details?.attempts)
    assert.match(attempts, /"provider":"claude","code":"server-error".*"provider":"codex","code":"exit"/)
    assert.match(error.message, /Before it failed: claude \(server-error\)/)
    assert.equal(eventsOfType(trajectory.events, "provider-changed").length, 1)
    await place.uninstall("claude")
    await place.uninstall("codex")
    assert.equal((await agent.run("say x").settled).error?.code, "not-installed")
  })

  test("does not swallow what the caller got wrong, nor an abort", async () => {
    await using place = await fakeCliMachine()
    const agent = fallback(claude(place.options), codex(place.options))
    const gone = agent.with({ cwd: join(place.cwd, "none") })
    await assert.rejects(Promise.resolve(gone.run("say x")), ConfigError)
    assert.deepEqual(changes(await gone.run("say x").settled), [])
    await assert.rejects(Promise.resolve(agent.run("say x", { unheardOf: 1 } as CliOptions)), /no option `unheardOf`/)
    await assert.rejects(gone.session(), ConfigError)
    const run = agent.run("hang")
    for await (const event of run) if (event.type === "raw-received") break
    run.abort("enough")
    await assert.rejects(Promise.resolve(run), AbortError)
    assert.equal((await run.settled).detail, "enough")
    assert.deepEqual(await place.heard("codex"), [])
    assert.deepEqual(await place.processes(), [])
    assert.throws(() => fallback({} as never), ConfigError)
    assert.throws(() => fallback(claude(), { unheardOf: 1 } as never), /no option `unheardOf`/)
  })

  test("goes on from its own result with who gave it", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "fail 500")
    const agent = fallback(claude(place.options), codex(place.options))
    const first = await agent.run("say one")
    await place.tell("claude", "")
    const second = await agent.run("say two", { from: first })
    assert.equal(second.output, "two 2")
    assert.deepEqual(
      (await place.heard("codex")).map((thread) => thread.length),
      [2],
    )
    const other = await claude(place.options).run("say x")
    assert.throws(() => agent.run("say two", { from: other }), ConfigError)
  })

  test("may begin with an agent of ours, whose model fails", async () => {
    await using place = await fakeCliMachine()
    const down = new ModelError("The service is down.", { code: "server-error" })
    const own = createAgent({ name: "own", model: scriptedModel([down]) })
    const result = await fallback(own, claude(place.options)).run("say hello")
    assert.deepEqual([result.output, changes(result)[0]?.from], ["hello 1", "own"])
    const broken = createAgent({ name: "own", model: scriptedModel([new TypeError("a bug")]) })
    const { status, error } = await fallback(broken, claude(place.options)).run("say hello").settled
    assert.equal(status, "failed", "a bug is not tried elsewhere")
    assert.match(error?.message ?? "", /a bug/)
  })

  test("may end with an agent of ours", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "limit")
    const own = createAgent({ name: "own", model: scriptedModel(["mine"]) })
    const result = await fallback(claude(place.options), own).run("say hello")
    assert.deepEqual([result.output, changes(result)[0]?.to], ["mine", "own"])
  })

  test("is a sub-agent like any other: one child, no level of nesting, and what it uses counts once", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "tool Read break 500")
    const coder = fallback(claude(place.options), codex(place.options), { name: "coder" })
    const model = scriptedModel(["```ts\nawait coder.run('say hello')\n```", "Done."])
    const boss = createAgent({ model, runtime: jsRuntime({ coder }), limits: { depth: 2 } })
    const { trajectory, usage, status, id } = await boss.run("Have it coded")
    assert.equal(status, "done")
    const children = eventsOfType(trajectory.events, "run-start").filter(({ parent }) => parent !== undefined)
    assert.deepEqual(
      children.map(({ agent, parent }) => [agent, parent]),
      [["coder", id]],
    )
    const end = eventsOfType(trajectory.events, "run-end").find(({ run }) => run === children[0]?.run)
    assert.equal(end?.usage.input, 15)
    assert.equal(usage.costUsd, 0.01)
  })

  test("asks its own readers for approval, whichever candidate does the work", async () => {
    await using place = await fakeCliMachine()
    await place.tell("codex", "fail 500")
    const wipe = tool({
      name: "wipe",
      description: "",
      input: z.object({ prompt: z.string() }),
      approve: true,
      run: () => "gone",
    })
    const agent = fallback(codex(place.options), claude({ ...place.options, tools: [wipe] }))
    const asked: string[] = []
    const run = agent.run("ask wipe all say done", { approver: "events" })
    for await (const event of run) {
      if (event.type !== "approval-requested") continue
      asked.push(event.call.binding)
      run.approve(event.id, "allow")
    }
    const result = await run
    assert.deepEqual([asked, eventsOfType(result.trajectory.events, "tool-end")[0]?.text], [["wipe"], "gone"])
    const unwatched = await agent.run("ask wipe all say done")
    assert.equal(
      eventsOfType(unwatched.trajectory.events, "tool-end")[0]?.ok,
      false,
      "without an approver it is refused",
    )
  })

  test("keeps the objects of a factory when it moves on", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "tool Read break 500")
    let made = 0
    const runtime = () => {
      made++
      return jsRuntime({ note: variable("") })
    }
    await using run = fallback(claude({ ...place.options, runtime }), codex({ ...place.options, runtime })).run("say x")
    await run
    assert.equal(made, 1)
    assert.equal(await run.runtime?.retrieve("note"), "")
  })
})

describe("a session with a fallback", () => {
  test("stays with the first that answered, and its handle names that one", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "fail 500")
    const agent = fallback(claude(place.options), codex(place.options))
    await using session = await agent.session()
    assert.equal((await session.send("say one")).output, "one 1")
    await place.tell("claude", "")
    await place.tell("codex", "fail 500")
    const failed = await session.send("say two").settled
    assert.deepEqual([failed.status, changes(failed)], ["failed", []])
    await place.tell("codex", "")
    assert.equal((await session.send("say three")).output, "three 3")
    await using again = await agent.session({ resume: session.handle })
    assert.equal((await again.send("say four")).output, "four 4")
    await assert.rejects(fallback(claude(place.options)).session({ resume: session.handle }), /is one with codex/)
  })

  test("is archived whole, with whom it was with and why that changed, and resumed there", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "limit")
    const archive = join(place.folder, "archive")
    const agent = fallback(claude(place.options), codex(place.options))
    const session = await agent.session({ archive })
    await session.send("say one")
    const { handle, id } = session
    await session.close()
    const stored = await loadSession(archive, id)
    assert.equal(eventsOfType(stored.trajectory().events, "provider-changed")[0]?.to, "codex")
    for (const resume of [handle, id]) {
      await using again = await agent.session({ resume, archive })
      const { output } = await again.send("say more")
      assert.match(output, /^more \d$/)
      assert.ok(again.trajectory().runs.length > 1)
    }
    await using alone = await codex(place.options).session({ resume: id, archive })
    assert.match((await alone.send("say last")).output, /^last 4$/)
  })

  test("with an id of the caller is created at first and resumed later", async () => {
    await using place = await fakeCliMachine()
    const archive = join(place.folder, "archive")
    const agent = fallback(claude(place.options), codex(place.options))
    for (const runs of [1, 2]) {
      await using session = await agent.session({ id: "user-42", archive })
      assert.match((await session.send("say more")).output, new RegExp(`^more ${runs}$`))
      assert.equal(session.trajectory().runs.length, runs)
    }
  })

  test("goes on with the next one after that, told what happened, if it is asked to", async () => {
    await using place = await fakeCliMachine()
    const file = join(place.folder, "record.json")
    const agent = fallback(claude(place.options), codex(place.options), { failover: true, trajectoryPath: file })
    const session = await agent.session()
    await session.send("tool Write say one")
    await place.tell("claude", "limit")
    const moved = await session.send("say two")
    assert.equal(moved.output, "two 1")
    assert.deepEqual([changes(moved)[0]?.from, changes(moved)[0]?.to], ["claude", "codex"])
    const [[heard = ""] = []] = await place.heard("codex")
    assert.match(heard, /Asked so far.*\n- tool Write say one\n/)
    assert.match(heard, /Done so far.*\n- Write/)
    assert.match(heard, /Said last:\n- one 1/)
    assert.equal(heard.match(/say two/g)?.length, 1)
    assert.equal((await session.send("say three")).output, "three 2", "it stays there")
    await place.tell("claude", "")
    await place.tell("codex", "exit 9")
    assert.equal((await session.send("say four")).output.split(" ")[0], "four", "and may come back")
    const record = await session.close()
    assert.equal(record.runs.length, 4)
    assert.equal(eventsOfType(record.events, "provider-changed").length, 2)
    assert.deepEqual(JSON.parse(await readFile(file, "utf8")).runs.length, 4)
  })

  test("keeps the objects of its runtime and what it was opened with, and forks", async () => {
    await using place = await fakeCliMachine()
    const archive = join(place.folder, "archive")
    const runtime = () => jsRuntime({ notes: variable<string[]>([]) })
    const options = { ...place.options, runtime }
    const agent = fallback(claude(options), codex(options))
    const session = await agent.session({ archive, model: "opus-7" })
    await session.runtime?.update({ notes: ["one"] })
    await session.send("say one")
    const fork = await session.fork?.()
    assert.ok(fork)
    assert.equal((await fork.send("say other")).output, "other 2")
    assert.deepEqual(await fork.runtime?.retrieve("notes"), ["one"])
    assert.equal((await session.send("say two")).output, "two 2", "it knows nothing of the other")
    await fork.close()
    await session.close()
    await using again = await agent.session({ resume: session.handle })
    assert.deepEqual(await again.runtime?.retrieve("notes"), ["one"])
    await again.send("say three")
    assert.match((await place.starts("claude")).at(-1) ?? "", /--model opus-7/)
    assert.equal(again.trajectory().runs.length, 3)
  })

  test("a fork that has sent nothing yet can be closed and resumed, and has its own conversation then", async () => {
    await using place = await fakeCliMachine()
    const archive = join(place.folder, "archive")
    const runtime = () => jsRuntime({ notes: variable<string[]>([]) })
    const agent = fallback(claude({ ...place.options, runtime }), codex(place.options))
    const session = await agent.session({ archive })
    await session.runtime?.update({ notes: ["one"] })
    await session.send("say one")
    const fork = await session.fork?.()
    assert.ok(fork)
    await fork.close()
    await session.close()
    for (const resume of [fork.id, fork.handle]) {
      await using resumed = await agent.session({ archive, resume })
      assert.deepEqual(await resumed.runtime?.retrieve("notes"), ["one"])
      assert.equal(resumed.messages().length, 2)
    }
    await using resumed = await agent.session({ archive, id: fork.id })
    assert.equal((await resumed.send("say other")).output, "other 2", "it goes on with the conversation")
    await using again = await agent.session({ archive, resume: session.id })
    assert.equal((await again.send("say two")).output, "two 2", "the original has nothing of its fork")
  })

  test("a fork without an archive that has sent nothing yet has no handle", async () => {
    await using place = await fakeCliMachine()
    await using session = await fallback(claude(place.options)).session()
    await session.send("say one")
    await using fork = await session.fork?.()
    assert.throws(() => fork?.handle, /handle/)
  })

  test("passes on the record as text if the agent that had the conversation cannot resume it", async () => {
    await using place = await fakeCliMachine()
    const archive = join(place.folder, "archive")
    await place.tell("claude", "fail 500")
    const model = scriptedModel(({ messages }) => `heard ${messages.length}`)
    const agent = fallback(claude(place.options), createAgent({ name: "own", model }))
    const session = await agent.session({ archive, id: "user-42" })
    assert.equal((await session.send("Remember 7.")).output, "heard 1")
    await session.close()
    await place.tell("claude", "")
    await using resumed = await agent.session({ archive, id: "user-42" })
    assert.equal((await resumed.send("say hello")).status, "done")
    await resumed.send("say more")
    const handedOver = (await place.heard("claude")).flat().filter((prompt) => /You take over/.test(prompt))
    assert.equal(handedOver.length, 1)
    assert.match(handedOver[0] ?? "", /another agent \(own\)[\s\S]*Remember 7\.[\s\S]*heard 1[\s\S]*say hello/)
  })

  test("passes on what is said to it meanwhile", async () => {
    await using place = await fakeCliMachine()
    await using session = await fallback(codex(place.options)).session()
    const run = session.send("say one")
    run.steer("and this")
    await run
    await session.send("say two")
    assert.deepEqual((await place.heard("codex")).flat(), ["say one", "say two\nand this"])
  })

  test("sends one after the other, and ends what it opened", async () => {
    await using place = await fakeCliMachine()
    const agent = fallback(claude(place.options), codex(place.options))
    const session = await agent.session()
    const runs = [session.send("say a"), session.send("say b")]
    assert.deepEqual(await Promise.all(runs.map(async (run) => (await run).output)), ["a 1", "b 2"])
    const hanging = session.send("hang")
    for await (const event of hanging) if (event.type === "raw-received") break
    await session[Symbol.asyncDispose]()
    assert.equal((await hanging.settled).status, "aborted")
    await waitUntil("nothing is left", async () => (await place.processes()).length === 0)
  })
})
