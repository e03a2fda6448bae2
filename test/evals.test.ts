import assert from "node:assert/strict"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, messageText } from "karst"
import { type EvalCase, type Scorer, suite } from "karst/evals"
import { scriptedModel } from "karst/models"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

/** A model that runs its prompt as code. */
const obedient = () =>
  scriptedModel(
    (request) => {
      const last = request.messages.at(-1)
      return last?.role === "user" ? cell(messageText(last).split("\n")[0] ?? "") : "Done."
    },
    { usage: { input: 10, output: 5, complete: true } },
  )

const lamps = () => createAgent({ model: obedient(), runtime: () => jsRuntime({ lamp: { level: 0 } }) })

const level: Scorer<number> = async ({ runtime, expected }) => {
  const lamp = (await runtime.retrieve("lamp")) as { level: number }
  return { pass: lamp.level === expected, reason: `level ${lamp.level}, expected ${expected}` }
}

const cases: EvalCase<number>[] = [
  { name: "dims", prompt: "lamp.level = 20", expected: 20 },
  { name: "forgets", prompt: "lamp.level = 1", expected: 2 },
  { name: "goes on", prompt: "lamp.level = 5", followUps: ["lamp.level += 5", "lamp.level += 5"], expected: 15 },
]

describe("suite", () => {
  test("judges the state each case left, each with objects of its own", async () => {
    const report = await suite(cases, { level }, { agent: lamps() })
    assert.deepEqual(
      report.cases.map(({ name, pass }) => ({ name, pass })),
      [
        { name: "dims", pass: true },
        { name: "forgets", pass: false },
        { name: "goes on", pass: true },
      ],
    )
    assert.equal(report.passed, 2)
    assert.equal(report.cases[1]?.verdicts.level?.reason, "level 1, expected 2")
    assert.equal(report.cases[2]?.cycles, 6)
    assert.deepEqual(report.usage, { input: 100, output: 50, complete: true })
  })

  test("runs no more cases at once than it may, and keeps their order", async () => {
    let running = 0
    let most = 0
    const busy: Scorer = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return true
    }
    const many = Array.from({ length: 12 }, (_, index) => ({ name: `case ${index}`, prompt: "lamp.level = 1" }))
    const seen: number[] = []
    const report = await suite(
      many,
      { busy },
      {
        agent: lamps(),
        maxParallel: 3,
        onProgress: ({ done, total }) => {
          assert.equal(total, 12)
          seen.push(done)
        },
      },
    )
    assert.ok(most <= 3, `${most} at once`)
    assert.deepEqual(
      seen,
      many.map((_, index) => index + 1),
    )
    assert.deepEqual(
      report.cases.map(({ name }) => name),
      many.map(({ name }) => name),
    )
  })

  test("goes on when who watches its progress throws", async () => {
    const onProgress = () => {
      throw new Error("no")
    }
    assert.equal((await suite(cases, { level }, { agent: lamps(), onProgress })).total, 3)
    assert.equal(
      (await suite(cases, { level }, { agent: lamps(), onProgress: () => Promise.reject(new Error("no")) })).total,
      3,
    )
  })

  test("gives the runs of a case its options, and scorers the outputs they declare", async () => {
    const options = { outputs: { answer: { type: "number" } }, limits: { cycles: 3 } }
    const report = await suite(
      [
        { name: "fills it", prompt: "const answer = 42", options },
        { name: "does not", prompt: "const other = 42", options },
      ],
      { filled: ({ result }) => result.objects?.answer === 42 },
      { agent: lamps() },
    )
    assert.deepEqual(
      report.cases.map(({ status, pass }) => [status, pass]),
      [
        ["done", true],
        ["stopped", false],
      ],
    )
  })

  test("counts trials of one case apart", async () => {
    const report = await suite(cases.slice(0, 1), { level }, { agent: lamps(), trials: 3 })
    assert.deepEqual(
      report.cases.map(({ trial }) => trial),
      [1, 2, 3],
    )
    assert.match(report.table(), /dims #3/)
  })

  test("records a run that fails, and a scorer that throws, as cases that did not pass", async () => {
    const broken = createAgent({ model: scriptedModel([new Error("no service")]) })
    const clumsy: Scorer<number> = () => {
      throw new Error("no lamp here")
    }
    const report = await suite(
      [{ name: "broken", prompt: "Go", agent: broken }, ...cases.slice(0, 1)],
      { clumsy },
      {
        agent: lamps(),
      },
    )
    const [first, second] = report.cases
    assert.equal(first?.status, "failed")
    assert.match(first?.verdicts.clumsy?.reason ?? "", /The run failed: no service/)
    assert.equal(second?.status, "done")
    assert.equal(second?.verdicts.clumsy?.reason, "clumsy threw no lamp here")
    assert.equal(report.passed, 0)
  })

  test("ends early when aborted, with the rest recorded as aborted", async () => {
    const controller = new AbortController()
    const report = await suite(
      cases,
      { level },
      {
        agent: lamps(),
        maxParallel: 1,
        signal: controller.signal,
        onProgress: () => controller.abort(),
      },
    )
    assert.deepEqual(
      report.cases.map(({ status }) => status),
      ["done", "aborted", "aborted"],
    )
  })

  test("writes a report as JSON and as a table", async () => {
    const report = await suite(cases, { level }, { agent: lamps() })
    const folder = await mkdtemp(join(tmpdir(), "karst-evals-"))
    try {
      const path = join(folder, "report.json")
      await report.save(path)
      const saved = JSON.parse(await readFile(path, "utf8"))
      assert.equal(saved.passed, 2)
      assert.deepEqual(saved.cases, report.cases)
    } finally {
      await rm(folder, { recursive: true })
    }
    const lines = report.table().split("\n")
    assert.match(lines[0] ?? "", /case +level +cycles +tokens +seconds/)
    assert.match(lines[2] ?? "", /^✗ {2}forgets +0\.00 +2 +30 /)
    assert.match(report.table(), /✗ forgets, level: level 1, expected 2\n\n2 of 3 passed, mean score 0\.67, 150 tokens/)
  })

  test("refuses an agent whose runs share a runtime, and options that cannot work", async () => {
    const shared = createAgent({ model: obedient(), runtime: jsRuntime() })
    await assert.rejects(suite(cases, { level }, { agent: shared }), /would see each other's objects/)
    await assert.rejects(suite(cases, { level }), /"dims" has no agent/)
    await assert.rejects(suite(cases, {}, { agent: lamps() }), /no scorers/)
    await assert.rejects(suite([], { level }, { agent: lamps() }), /no cases/)
    await assert.rejects(suite([...cases, ...cases], { level }, { agent: lamps() }), /two cases are named "dims"/)
    await assert.rejects(
      suite(cases, { level }, { agent: lamps(), maxParallel: 0 }),
      /`maxParallel` is not a whole number of 1 or more.*it is 0/,
    )
  })

  test("refuses a case with an unknown or wrong field, or without a name or a prompt", async () => {
    const run = (extra: object) => suite([{ name: "a", prompt: "x", ...extra }], { level }, { agent: lamps() })
    await assert.rejects(run({ followups: ["b"] }), /cases\[0\]: .*`followups` \(did you mean `followUps`\?\)/)
    await assert.rejects(run({ then: ["b"] }), /cases\[0\]: there is no option `then`/)
    await assert.rejects(run({ followUps: "b" }), /`followUps` is not a list/)
    await assert.rejects(run({ prompt: 1 }), /`prompt` is not a prompt: it is 1/)
    await assert.rejects(run({ name: undefined }), /cases\[0\] lacks a name or a prompt/)
  })
})
