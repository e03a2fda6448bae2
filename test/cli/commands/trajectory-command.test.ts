// test lane: unit, long
import assert from "node:assert/strict"
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { selectSteps } from "../../../src/cli/trajectory/select-steps.ts"
import type { AgentEvent } from "../../../src/core/event.ts"
import type { Trajectory } from "../../../src/core/trajectory.ts"
import type { ModelPart } from "../../../src/models/model.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { karst } from "../karst.ts"

const hostile = `<script>document.title = "owned"</script><img src=x onerror="document.title='owned'">`
const usage = { input: 1000, output: 20, cacheRead: 400, costUsd: 0.002, complete: true }
const delegate: ModelPart[] = [
  {
    type: "tool-call",
    id: "d",
    name: "delegate",
    input: { tasks: [{ agent: "helper", prompt: "Count the pears" }] },
  },
]

describe("karst trajectory show", () => {
  let folder: string
  let id: string
  let file: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-trajectory-"))
    const helper = createAgent({
      name: "helper",
      model: scriptedModel(["```ts\n3 * 4\n```", "12 pears."], { usage }),
    })
    const lead = createAgent({
      name: "lead",
      agents: { helper },
      model: scriptedModel(
        [
          `I look.\n\n\`\`\`ts\nconst price = await priceOf("apple")\nprice * 2 // ${hostile}\n\`\`\``,
          "```ts\nmissing.name\n```",
          delegate,
          `Two apples cost **6**. ${hostile}`,
          "A second answer.",
        ],
        { usage },
      ),
      runtime: () => jsRuntime({ priceOf: fn(async (_item: string) => 3) }),
    })
    const session = await lead.session({ archive: folder })
    await session.send("What do two apples cost?")
    await session.send(`And ${hostile}?`)
    await session.close()
    id = session.id
    file = join(folder, "trajectory.json")
    await session.save(file)
  })
  after(() => rm(folder, { recursive: true }))

  const show = (...args: string[]) => karst(["trajectory", "show", ...args, "--store", folder])

  test("of a session that has sent nothing yet shows its id, and no time and no usage", async () => {
    const session = await createAgent({ model: scriptedModel([]) }).session({ archive: join(folder, "unsent") })
    await session.close()
    const saved = join(folder, "unsent.json")
    await session.save(saved)
    const { stdout, code } = await karst(["trajectory", "show", saved])
    assert.equal(code, 0)
    assert.match(stdout, /^session +s_\w+\nruns +0\nturns +0\nsteps +0\n\s*$/)
  })

  test("begins with the model, tokens, cost and counts, and lists every step with its address", async () => {
    const { code, stdout, stderr } = await show("last")
    assert.equal(code, 0, stderr)
    const [head = "", list = ""] = stdout.split("\n\n")
    assert.match(head, new RegExp(`^session +${id}\nagent +lead\nmodel +\\S+`))
    assert.match(head, /\nruns +2, the last one done\nturns +5\nsteps +10, 3 of them of sub-agents\n/)
    assert.match(head, /\ntokens +7,000 in \(2,800 cached\), 140 out\ncost +\$0\.0140\nduration /)
    assert.match(head, /\ncells +3 \(1 failed\)\ntools +delegate 1\ncalls +priceOf 1$/)
    assert.deepEqual(
      list
        .trim()
        .split("\n")
        .map((line) => /^\[([\d/]+)\] +(\w+)/.exec(line)?.slice(1).join(" ")),
      ["1 user", "2 agent", "3 agent", "4 agent", "4/1 user", "4/2 agent", "4/3 agent", "5 agent", "6 user", "7 agent"],
    )
    assert.match(list, /^\[2\] +agent +I look\. · 1 cell$/m)
    assert.match(list, /^\[3\] +agent +missing\.name · 1 cell, 1 failed$/m)
    assert.match(list, /^\[4\/3\] +agent +12 pears\.$/m)
  })

  test("reads a copy of a session's folder, as tests keep it", async () => {
    const copy = join(folder, "copy")
    await cp(join(folder, "sessions", id), copy, { recursive: true })
    const { code, stdout, stderr } = await show(copy)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /\nruns +2, the last one done\n/)
  })

  test("--tools also lists cells and tool calls with their results", async () => {
    const { stdout } = await show(id, "--tools")
    assert.match(stdout, /^ +✓ const price = .*\(\+ 1 line\) · 1 call · .* · 6 \(new: price: number\)$/m)
    assert.match(stdout, /^ +✗ missing\.name · .*missing is not defined/m)
    assert.match(stdout, /^ +✓ delegate /m)
  })

  test("--steps shows single steps, ranges and steps of sub-agents in full", async () => {
    const { code, stdout, stderr } = await show(id, "--steps", "1-2,4/2")
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^\[1\] user · .*\n {2}What do two apples cost\?\n/)
    assert.match(stdout, /\n\[2\] lead · [\s\S]*│ const price = await priceOf\("apple"\)[\s\S]*└ 6\n/)
    assert.match(stdout, /\n\[4\/2\] helper · [\s\S]*│ 3 \* 4\n {2}└ 12\n/)
    assert.doesNotMatch(stdout, /\[3\]|12 pears/)
  })

  test("--steps that names no step is refused", () => {
    for (const selector of ["", " ", ","]) assert.throws(() => selectSteps([], selector), /--steps: "" is no step/)
  })

  test("--steps refuses steps that do not exist and ranges over several runs", async () => {
    for (const [steps, message] of [
      ["99", /there is no step 99\. There are 1 to 7/],
      ["4/1-5/1", /different runs/],
      ["x", /"x" is no step\. Write 7, 7-10/],
      ["5-2", /5-2 has no steps/],
    ] as const) {
      const { code, stderr } = await show(id, "--steps", steps)
      assert.equal(code, 2)
      assert.match(stderr, message)
    }
  })

  test("reads files that session.save wrote, the lines of run --json, and the folder of a session", async () => {
    const saved = await show(file)
    assert.match(saved.stdout, /^\[7\] +agent +A second answer\.$/m)
    const { events }: Trajectory = JSON.parse(await readFile(file, "utf8"))
    const lines = join(folder, "events.jsonl")
    await writeFile(lines, events.map((event) => `${JSON.stringify(event)}\n`).join(""))
    assert.match((await show(lines)).stdout, /^\[7\] +agent +A second answer\.$/m)
    assert.match((await show(join(folder, "sessions", id))).stdout, /^\[7\] +agent +A second answer\.$/m)
  })

  test("--help shows how to read steps, and what files there are", async () => {
    const { code, stdout } = await karst(["trajectory", "show", "--help"])
    assert.equal(code, 0)
    assert.match(stdout, /^karst trajectory show <file \| id \| last> \[options\]/)
    assert.match(stdout, /--steps 7-10,12\/3[\s\S]*--tools[\s\S]*--html/)
  })

  test("says how long a text is that a line does not show whole", async () => {
    const agent = createAgent({ model: scriptedModel(["word ".repeat(300).trim()]) })
    const long = await agent.session()
    await long.send("Short?")
    const path = join(folder, "long.json")
    await long.save(path)
    await long.close()
    const { stdout } = await show(path)
    assert.match(stdout, /^\[1\] +user +Short\?$/m)
    assert.match(stdout, /^\[2\] +agent +word word .*… · 1,499 characters$/m)
  })

  test("lists several ranges and steps of sub-agents in the order in which they are named", async () => {
    const { stdout } = await show(id, "--steps", "7, 4/1-4/3,1-2,4/2-3")
    const shown = [...stdout.matchAll(/^\[([\d/]+)\]/gm)].map(([, address]) => address)
    assert.deepEqual(shown, ["7", "4/1", "4/2", "4/3", "1", "2", "4/2", "4/3"])
  })

  test("reads a trajectory of caw, with its sub-agents", async () => {
    const lookUp = [{ input: "Look it up", output: [{ type: "text", text: "It is 42." }], usage: {}, duration_ms: 5 }]
    const base = { agent: "claude_code", model: "opus", created_at: "2026-03-01T10:00:00+00:00" }
    const child = { ...base, session_id: "child-1", turns: lookUp }
    const call = { type: "tool_use", id: "t", name: "expert", arguments: { prompt: "x" }, output: "42" }
    const output = [
      { ...call, subagent_trajectory: child },
      { type: "text", text: "So it is 42." },
    ]
    const turns = [{ input: "What is it?", output, usage: {}, duration_ms: 5 }]
    const path = join(folder, "caw.traj.json")
    await writeFile(path, JSON.stringify({ ...base, session_id: "0b1c", turns }))
    const { code, stdout, stderr } = await show(path)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^agent +claude_code\nmodel +opus$/m)
    assert.match(stdout, /^\[1\] +user +What is it\?$/m)
    assert.match(stdout, /^\[\d+\/\d+\] +agent +It is 42\.$/m)
  })

  test("names what is wrong with a file", async () => {
    const broken = join(folder, "broken.jsonl")
    await writeFile(broken, '{"type":"run-start"\n')
    assert.match((await show(broken)).stderr, /Line 1 of .* is no JSON/)
    assert.match((await show(join(folder, "nothing.json"))).stderr, /There is no file .*nothing\.json/)
    assert.match((await show("s_nothing")).stderr, /no session "s_nothing".*karst sessions list/)
    const record: Trajectory = JSON.parse(await readFile(file, "utf8"))
    const events = record.events.map(({ type, ...event }) => ({ ...event, type, call: "not a call", input: undefined }))
    const damaged = join(folder, "damaged.json")
    await writeFile(damaged, JSON.stringify({ ...record, events }))
    assert.match((await show(damaged)).stderr, /no trajectory of version 1/)
    const wrong = join(folder, "package.json")
    await writeFile(wrong, "{}")
    const { code, stderr } = await show(wrong)
    assert.equal(code, 2)
    assert.match(stderr, /no trajectory of version 1/)
  })

  test("shows times that no calendar has as unknown", async () => {
    const record: Trajectory = JSON.parse(await readFile(file, "utf8"))
    const events = record.events.map((event) => ({ ...event, at: 1e300 }))
    const timeless = join(folder, "timeless.json")
    await writeFile(timeless, JSON.stringify({ ...record, events }))
    const { code, stdout } = await show(timeless, "--html", join(folder, "timeless.html"))
    assert.deepEqual([code, stdout], [0, ""])
    assert.match((await show(timeless)).stdout, /^begun +unknown$/m)
  })

  test("--json prints the counts and the steps", async () => {
    const { turns, list } = JSON.parse((await show(id, "--json")).stdout)
    assert.equal(turns, 5)
    assert.equal(list[3].children[2].text, "12 pears.")
    assert.deepEqual([list[2].actions[0].ok, list[2].actions[0].source], [false, "missing.name\n"])
  })

  test("--html writes one page without scripts, which shows untrusted text as text", async () => {
    const page = join(folder, "page.html")
    const { code, stdout, stderr } = await show(id, "--html", page)
    assert.equal(code, 0, stderr)
    assert.equal(stdout, "")
    const text = await readFile(page, "utf8")
    assert.doesNotMatch(text, /<script|onerror="/)
    assert.match(text, /&lt;script&gt;document\.title/)
    assert.match(text, /default-src &#39;none&#39;; style-src &#39;sha256-/)
    assert.match(text, /<section class="step agent" id="step-4-3">/)
    assert.match(text, /<i class="magenta">const<\/i>/)
    assert.doesNotMatch(text, /(?:src|href)="(?!#|data:image\/)/)
  })

  test("--html shows images of the trajectory and folds long output, and loads no image from elsewhere", async () => {
    const record: Trajectory = JSON.parse(await readFile(file, "utf8"))
    const events = record.events.map((event): AgentEvent => {
      if (event.type !== "code-end" || !event.ok) return event
      const images = [
        { type: "image" as const, mediaType: "image/png", data: "iVBORw0KGgo=" },
        { type: "image" as const, mediaType: "image/png", data: "https://example.com/track.png" },
        { type: "image" as const, mediaType: 'image/png" onload="x', data: "iVBORw0KGgo=" },
      ]
      return { ...event, text: `<output>\n${"a long line of output\n".repeat(400)}</output>\n`, images }
    })
    const source = join(folder, "images.json")
    await writeFile(source, JSON.stringify({ ...record, events }))
    const page = join(folder, "images.html")
    assert.equal((await show(source, "--html", page)).code, 0)
    const text = await readFile(page, "utf8")
    assert.match(text, /<img alt="image" src="data:image\/png;base64,iVBORw0KGgo=">/)
    assert.match(text, /<p class="note">image image\/png https:\/\/example\.com\/track\.png<\/p>/)
    assert.doesNotMatch(text, /onload="/)
    assert.match(text, /<details class="fold">[\s\S]*more characters/)
  })
})
