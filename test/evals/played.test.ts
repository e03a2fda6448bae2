// test lane: runtimes, long
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { data } from "../../evals/data.ts"
import { runSuites } from "../../evals/harness/run-suites.ts"
import type { Suite, SuiteSetup } from "../../evals/harness/suite.ts"
import { estimateRun, estimateText } from "../../evals/played/estimate.ts"
import { playAll } from "../../evals/played/play-all.ts"
import { playedReport } from "../../evals/played/report.ts"
import { playRetail } from "../../evals/retail/play-model.ts"
import { stateHash } from "../../evals/retail/state-hash.ts"
import { openStore } from "../../evals/retail/store.ts"
import type { RetailTask } from "../../evals/retail/tasks.ts"
import { requires } from "../system.ts"

describe("a model played by hand", () => {
  let folder: string
  const stop = new AbortController()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-played-"))
  })

  after(async () => {
    stop.abort()
    await rm(folder, { recursive: true })
  })

  /** Writes one and the same answer to each request. */
  async function answerAll(dir: string, answer: string): Promise<void> {
    await mkdir(dir, { recursive: true })
    while (!stop.signal.aborted) {
      for (const name of await readdir(dir)) {
        const file = join(dir, name.replace("-request", "-answer"))
        if (name.endsWith("-request.md") && !existsSync(file)) await writeFile(file, answer)
      }
      await sleep(20)
    }
  }

  function setup(dir: string): SuiteSetup {
    return { data: folder, mode: { type: "hand", dir }, progress: () => {}, signal: stop.signal }
  }

  test("answers table questions in every arm, scored by the answers", {
    skip: requires("python", "pandas"),
  }, async () => {
    await mkdir(join(folder, "dabench/tables"), { recursive: true })
    const question = { id: 1, constraints: "", file_name: "w.csv", level: "easy", format: "@mean_rain[m]" }
    const answers = [["mean_rain", "2"]]
    const questions = [{ ...question, question: "What is the mean rain?", answers }]
    await writeFile(join(folder, "dabench/questions.json"), JSON.stringify(questions))
    await writeFile(join(folder, "dabench/tables/w.csv"), "Rain\n1\n3\n")
    const dir = join(folder, "data")
    void answerAll(dir, "@mean_rain[2.0]")
    const { tasks, sections, claims } = await data.run(setup(dir))
    assert.deepEqual(
      tasks.map(({ verified, modelCalls }) => [verified, modelCalls]),
      Array.from({ length: 6 }, () => [true, 1]),
    )
    assert.deepEqual(sections[0]?.table?.rows[0]?.slice(0, 5), ["json", 1, 1, 1, 1])
    assert.equal(claims, undefined)
  })

  test("plays store tasks as tools and as code, scored by the end state", async () => {
    const database = JSON.stringify({ products: {}, users: {}, orders: {} })
    const task = (id: string, endHash: string, turns: number): RetailTask => ({
      id,
      actions: [],
      endHash,
      conversation: { id, turns: Array.from({ length: turns }, () => ({ user: "Hello.", calls: [], answer: "" })) },
    })
    const same = stateHash(openStore(database))
    const tasks = [task("kept", same, 2), task("missed", "another", 2), task("reads", same, 1)]
    const dir = join(folder, "retail")
    void answerAll(dir, "Done.")
    await mkdir(dir, { recursive: true })
    await writeFile(join(dir, "about.md"), "The same hand played both styles.\n")
    const retail = { database, baseHash: same, policy: "Help.", functions: [], tasks, skipped: [] }
    const report = await playRetail(retail, { type: "hand", dir }, setup(dir))
    assert.deepEqual(
      report.tasks.map(({ task: id, style, verified, scored, modelCalls }) => [
        id,
        style,
        verified,
        scored,
        modelCalls,
      ]),
      [
        ["kept", "tools", true, true, 2],
        ["kept", "code", true, true, 2],
        ["missed", "tools", false, true, 2],
        ["missed", "code", false, true, 2],
        ["reads", "tools", true, false, 1],
        ["reads", "code", true, false, 1],
      ],
    )
    assert.deepEqual(report.sections[0]?.table?.rows[0]?.slice(0, 5), ["tools", 3, 2, 1, 0.5])
    assert.ok(report.checks.every(({ passed, of }) => passed === of))
    assert.match(report.sections[0]?.text ?? "", /\n\nThe same hand played both styles\.$/)
  })
})

const record = {
  ...{ task: "t", style: "code", verified: true, scored: true, modelCalls: 1, prompt: 1, fixed: 1, cached: 0 },
  ...{ completion: 1, total: 2, peakContext: 2, cost: 2, costWithCache: 2 },
}

describe("the report of played conversations", () => {
  const played = (style: string, total: number) => ({ ...record, style, total })
  const records = [played("codeact-ts", 200), played("karst-ts", 100), played("karst-py", 10)]
  const texts = {
    score: "Scored by the end state.",
    comparisons: [
      ["karst-ts", "codeact-ts"],
      ["karst-py", "codeact-py"],
    ] as const,
  }

  test("compares a style only with the one it stands against, if both were played", () => {
    const { sections } = playedReport(records, { type: "live", model: "a/b" }, texts)
    assert.deepEqual(
      sections.map(({ title }) => title),
      ["Played conversations", "Compared"],
    )
    assert.deepEqual(
      sections[1]?.table?.rows.map((row) => [row[0], row[1], row[5]]),
      [["karst-ts", "codeact-ts", -0.5]],
    )
  })

  test("does not score a conversation that an error ended, and fails its check", () => {
    const broken = {
      ...played("karst-ts", 1),
      task: "b",
      verified: false,
      scored: false,
      failed: true,
      problem: "none",
    }
    const other = { ...played("codeact-ts", 900), task: "b" }
    const { checks, sections } = playedReport([...records, broken, other], { type: "live", model: "a/b" }, texts)
    assert.deepEqual([checks[0]?.passed, checks[0]?.of, checks[0]?.failures], [4, 5, ["b, karst-ts: none"]])
    assert.deepEqual(sections[0]?.table?.rows[1]?.slice(0, 5), ["karst-ts", 2, 1, 1, 1])
    assert.equal(sections[1]?.table?.rows[0]?.[5], -0.5, "the task is not compared in any style")
  })

  test("lists each conversation of a person, and has a success rate only for a model", () => {
    const hand = playedReport(records, { type: "hand", dir: "" }, texts)
    assert.equal(hand.sections.at(-1)?.table?.rows.length, 3)
    assert.doesNotMatch(JSON.stringify(hand), /success|accura/)
    const live = playedReport(records, { type: "live", model: "a/b" }, texts)
    assert.match(JSON.stringify(live), /success rate/)
  })
})

describe("an interrupted run of a model", () => {
  test("goes on where it stopped, and stores nothing twice", async () => {
    const results = await mkdtemp(join(tmpdir(), "karst-unfinished-"))
    const played: string[] = []
    let stop = new AbortController()
    const shop: Suite = {
      name: "shop",
      about: "",
      modes: ["hand"],
      async run(setup) {
        const conversations = ["t0", "t1", "t2"].map((task) => ({
          task,
          style: "code",
          async play() {
            played.push(task)
            if (played.length === 3) stop.abort()
            setup.signal.throwIfAborted()
            return { ...record, task, failed: played.length === 1 }
          },
        }))
        return playedReport(
          await playAll(conversations, setup),
          { type: "hand", dir: "" },
          { score: "", comparisons: [] },
        )
      },
    }
    const said: string[] = []
    const run = () =>
      runSuites([shop], {
        data: "",
        mode: { type: "hand", dir: "" },
        results,
        signal: stop.signal,
        say: (line) => said.push(line),
        progress: () => {},
      })
    assert.deepEqual(await run().then(({ reports, interrupted }) => [reports, interrupted]), [[], true])
    assert.match(said.at(-1) ?? "", /^shop: interrupted\. The conversations that had ended are kept/)
    stop = new AbortController()
    const { reports } = await run()
    assert.deepEqual(played, ["t0", "t1", "t2", "t0", "t2"], "an error ended t0, and t1 had ended")
    assert.equal(reports[0]?.report.sections[0]?.table?.rows[0]?.[1], 3, "n")
    assert.match(said.join("\n"), /goes on after 1 conversations that were played before\. Remove .*unfinished\.jsonl/)
    assert.deepEqual(await readdir(results), ["shop.hand.json", "shop.hand.tasks.jsonl"])
    await rm(results, { recursive: true })
  })

  test("ends while a person is asked", async () => {
    const dir = await mkdtemp(join(tmpdir(), "karst-waiting-"))
    const stop = new AbortController()
    const database = JSON.stringify({ products: {}, users: {}, orders: {} })
    const turns = [{ user: "Hello.", calls: [], answer: "" }]
    const task = { id: "t", actions: [], endHash: "", conversation: { id: "t", turns } }
    const retail = { database, baseHash: "", policy: "", functions: [], tasks: [task], skipped: [] }
    const kept: unknown[] = []
    const run = playRetail(
      retail,
      { type: "hand", dir },
      {
        data: "",
        mode: { type: "hand", dir },
        progress: () => {},
        signal: stop.signal,
        async keep(each) {
          kept.push(each)
        },
      },
    )
    while (!existsSync(join(dir, "0001-request.md"))) await sleep(20)
    stop.abort(new Error("Interrupted."))
    await assert.rejects(run, /Interrupted/)
    assert.deepEqual(kept, [])
    await rm(dir, { recursive: true })
  })
})

describe("a run with a real model", () => {
  const records = [
    { task: "1", style: "a", verified: true, prompt: 1000, completion: 100 },
    { task: "1", style: "b", verified: true, prompt: 3000, completion: 300 },
    { task: "2", style: "b", verified: true, prompt: 9000, completion: 900, oracleOnly: true },
  ]

  test("is estimated from the tokens of the oracle", () => {
    const estimate = estimateRun(records, ["x", "y"], { input: 1, output: 10 })
    assert.deepEqual(estimate, { conversations: 2, prompt: 12_000, completion: 1_200, cost: 0.024 })
    const one = estimateRun(records, ["b"])
    assert.deepEqual([one.conversations, one.prompt], [1, 9_000], "a style that the oracle has, too")
    assert.match(estimateText("x/y", estimate), /^2 conversations with x\/y: .* 12,000 prompt .* about \$0\.02/)
    assert.match(estimateText("x/y", estimateRun(records, ["x", "y"])), /the price of this model is not known/)
  })

  test("is not started before its cost was confirmed", async () => {
    const played: string[] = []
    const suite: Suite = {
      name: "shop",
      about: "",
      modes: ["live"],
      playedStyles: ["a", "b"],
      async run({ mode }) {
        played.push(mode.type)
        return { checks: [], sections: [], tasks: records }
      },
    }
    const asked: string[] = []
    process.env.OPENAI_API_KEY ??= "none"
    const { reports, skipped } = await runSuites([suite], {
      data: "",
      mode: { type: "live", model: "openai/gpt-5.2" },
      results: "",
      signal: new AbortController().signal,
      say: () => {},
      progress: () => {},
      async confirm(text) {
        asked.push(text)
        return false
      },
    })
    assert.deepEqual([reports, skipped], [[], [{ what: "shop", why: "the cost was not confirmed" }]])
    assert.deepEqual(played, ["oracle"])
    assert.match(asked[0] ?? "", /^2 conversations with openai\/gpt-5\.2: .* about \$\d/)
  })
})
