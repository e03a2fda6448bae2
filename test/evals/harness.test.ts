import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { createAgent, tool } from "karst"
import { scriptedModel } from "karst/models"
import { chapters } from "../../evals/harness/chapters.ts"
import { change, median, worstTenth } from "../../evals/harness/figures.ts"
import { type RunSetup, runSuites, writePages } from "../../evals/harness/run-suites.ts"
import { readReports, storedName } from "../../evals/harness/stored-reports.ts"
import type { Suite, SuiteReport } from "../../evals/harness/suite.ts"
import { cellText, markdownTable, terminalTable } from "../../evals/harness/tables.ts"
import { terminalReport } from "../../evals/harness/terminal.ts"
import { countTokens, measureModel, rates, requestPieces } from "../../evals/harness/tokens.ts"
import { wrapText } from "../../evals/harness/wrap-text.ts"
import { suites } from "../../evals/suites.ts"
import { root } from "../../scripts/tools.ts"

describe("the evaluation harness", () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-evals-"))
  })

  after(() => rm(folder, { recursive: true }))

  function setup(overrides: Partial<RunSetup> = {}): RunSetup & { said: string[] } {
    const said: string[] = []
    return {
      said,
      data: folder,
      mode: { type: "oracle" },
      results: join(folder, "results"),
      signal: new AbortController().signal,
      say: (line) => said.push(line),
      progress: (suite, done, total) => said.push(`${suite} ${done}/${total}`),
      ...overrides,
    }
  }

  test("skips a suite by name, with the reason, if its data is absent", async () => {
    const used = setup()
    const { reports, skipped } = await runSuites([suite("shop", { needs: ["shop-data"] })], used)
    assert.deepEqual(reports, [])
    assert.equal(skipped[0]?.what, "shop")
    assert.match(skipped[0]?.why ?? "", /^evaluation data: shop-data is not in the data folder; name one with --data/)
    assert.match(used.said[0] ?? "", /^shop: skipped/)
  })

  test("skips a suite that has no live mode when a live model is asked for", async () => {
    const { skipped } = await runSuites([suite("shop")], setup({ mode: { type: "live", model: "a/b" } }))
    assert.deepEqual(skipped, [{ what: "shop", why: "it has no mode --live" }])
  })

  test("stores the report and the record of each task, and a sample apart from the whole", async () => {
    const used = setup({ results: join(folder, "stored") })
    await runSuites([suite("shop")], used)
    await runSuites([suite("shop")], { ...used, maxTasks: 1 })
    const records = await readFile(join(used.results, "shop.tasks.jsonl"), "utf8")
    assert.deepEqual(JSON.parse(records), { task: "t1", style: "json-seq", verified: true, total: 10 })
    const [stored] = await readReports([suite("shop")], used.results)
    assert.equal(stored?.maxTasks, undefined)
    assert.ok(existsSync(join(used.results, "shop.sample.json")))
    assert.ok(used.said.includes("shop 1/1"))
  })

  test("a suite that fails does not stop the others, and its reason is told", async () => {
    const broken = suite("bank", {
      async run() {
        throw new Error("policy.json is not JSON")
      },
    })
    const used = setup({ results: join(folder, "broken") })
    const { reports, failed, interrupted } = await runSuites([broken, suite("shop")], used)
    assert.deepEqual(failed, [{ what: "bank", why: "policy.json is not JSON" }])
    assert.deepEqual([reports.map((report) => report.suite), interrupted], [["shop"], false])
    assert.equal(used.said[0], "bank: failed, policy.json is not JSON")
  })

  test("an interrupted run keeps the reports of the suites before, and says that it was interrupted", async () => {
    const stop = new AbortController()
    const stopped = suite("bank", {
      async run({ signal }) {
        stop.abort()
        signal.throwIfAborted()
        throw new Error("The run was not interrupted.")
      },
    })
    const used = setup({ results: join(folder, "interrupted"), signal: stop.signal })
    const { reports, failed, interrupted } = await runSuites([suite("shop"), stopped, suite("zoo")], used)
    assert.deepEqual([reports.map((report) => report.suite), failed, interrupted], [["shop"], [], true])
  })

  test("shows a sample that a person played, until there is a report of all tasks", async () => {
    const played = suite("shop", { modes: ["hand"] })
    const used = setup({ results: join(folder, "played"), mode: { type: "hand", dir: "/somewhere" } })
    await runSuites([played], { ...used, maxTasks: 2 })
    const [sample, ...more] = await readReports([played], used.results)
    assert.deepEqual([sample?.mode, sample?.maxTasks, more], [{ type: "hand" }, 2, []])
    await runSuites([played], used)
    assert.deepEqual(
      (await readReports([played], used.results)).map(({ maxTasks }) => maxTasks),
      [undefined],
    )
  })

  test("a sample never stands beside the figures of the paper", async () => {
    const live = suite("shop", { modes: ["hand"] }, { claims: { retailSuccess: 0.25 } })
    const used = setup({ results: join(folder, "claims"), mode: { type: "hand", dir: "" } })
    await runSuites([live], { ...used, maxTasks: 1 })
    const row = async () => chapters(await readReports([live], used.results))[1]?.sections[0]?.table?.rows[4]?.[2]
    assert.equal(await row(), undefined)
    await runSuites([live], used)
    assert.equal(await row(), 0.25)
  })

  test("the results of one model never replace those of another", () => {
    const names = ["openai/gpt-5.2", "a/b:c"].map((model) => storedName("retail", { type: "live", model }, 3))
    assert.deepEqual(names, ["retail.live.openai-gpt-5.2.sample", "retail.live.a-b-c.sample"])
  })

  test("writes the page of the documentation only after all suites were run", async () => {
    const all = [suite("shop"), suite("bank")]
    const used = setup({ results: join(folder, "pages") })
    const paths = { root: folder, html: "report.html", page: "evidence.md" }
    await runSuites([suite("shop")], used)
    const lines = await writePages(all, await readReports(all, used.results), paths)
    assert.match(lines.join("\n"), /no results of bank yet/)
    assert.ok(!existsSync(join(folder, paths.page)))
    await runSuites([suite("bank")], used)
    await writePages(all, await readReports(all, used.results), paths)
    const page = await readFile(join(folder, paths.page), "utf8")
    assert.match(page, /## shop\n[\s\S]*\| json-seq \| 10 \|[\s\S]*## bank/)
    assert.ok(page.split("\n").every((line) => line.startsWith("|") || line.length <= 120))
    const html = await readFile(join(folder, paths.html), "utf8")
    assert.match(html, /<svg [\s\S]*<rect [\s\S]*<polyline/)
    assert.doesNotMatch(html, /<script|src=|href="http/)
  })

  test("shows a failed check with what failed", async () => {
    const failing = suite("shop", {}, { checks: [{ what: "end states", passed: 1, of: 2, failures: ["task t2"] }] })
    const { reports } = await runSuites([failing], setup({ results: join(folder, "failed") }))
    assert.match(reports.map(terminalReport).join(), /FAILED end states: task t2/)
  })

  test("counts the requests that an agent really sends", async () => {
    const scripted = scriptedModel([[{ type: "tool-call", id: "1", name: "look", input: { at: "x" } }], "It is red."])
    const model = measureModel(scripted)
    const input = { type: "object", properties: { at: { type: "string" } } }
    const look = tool({ name: "look", description: "Looks.", input, run: () => "red" })
    await createAgent({ model, tools: [look], now: () => 0 }).run("What colour is x?")
    const pieces = scripted.requests.map(requestPieces)
    const size = (texts: readonly string[]) => texts.reduce((sum, text) => sum + countTokens(text) + 4, 0)
    const completion = countTokens('{"name":"look","arguments":{"at":"x"}}') + countTokens("It is red.")
    const [first = [], second = []] = pieces
    const measured = model.measured()
    assert.equal(measured.modelCalls, 2)
    assert.equal(measured.fixed, size(first.slice(0, 2)), "the tools and the system prompt")
    assert.equal(measured.prompt, size(first) + size(second))
    assert.equal(measured.cached, size(first), "the second request begins with the first")
    assert.equal(measured.completion, completion)
    assert.equal(measured.peakContext, size(second) + countTokens("It is red."))
    const saved = size(first) * (rates.input - rates.cachedInput)
    assert.equal(Math.round(measured.cost - measured.costWithCache), Math.round(saved))
    assert.match(second.join("\n"), /Looks\.[\s\S]*What colour is x\?[\s\S]*"arguments":\{"at":"x"\}[\s\S]*red/)
  })
})

describe("npm run evals", () => {
  function run(...args: string[]) {
    return runWith({}, ...args)
  }

  function runWith(settings: NodeJS.ProcessEnv, ...args: string[]) {
    const main = join(root, "evals/main.ts")
    const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
    const env = { ...process.env, CI: undefined, KARST_EVAL_DATA: join(tmpdir(), "karst-no-such-data"), ...settings }
    return spawnSync(process.execPath, [...flags, main, ...args], { encoding: "utf8", env })
  }

  test("names the suites if one is unknown", () => {
    const { status, stderr } = run("shop")
    assert.equal(status, 2)
    assert.match(stderr, /Unknown suite: shop\. There are: retail, bfcl/)
  })

  test("says what is missing and fails nothing if there is no data", () => {
    const { status, stdout, stderr } = run("retail", "bfcl", "--json")
    assert.equal(status, 0, stderr)
    assert.match(stderr, /retail: skipped, evaluation data: tau2-retail is not in the data folder/)
    assert.deepEqual(
      JSON.parse(stdout).skipped.map(({ what }: { what: string }) => what),
      ["retail", "bfcl"],
    )
  })

  test("says in one line which option is unknown, and which styles a suite has", () => {
    const unknown = run("retail", "--tsks", "3")
    assert.equal(unknown.status, 2)
    assert.match(unknown.stderr, /^Unknown option '--tsks'/)
    assert.doesNotMatch(unknown.stderr, /\n +at /)
    const style = run("retail", "--hand", join(tmpdir(), "karst-hand"), "--styles", "code,poems")
    assert.equal(style.status, 2)
    assert.equal(style.stderr.trim(), "retail has no style poems. It has: tools, code.")
    assert.match(run("retail", "--styles", "code").stderr, /^--styles is for --live and --hand/)
  })

  test("needs a model for a live run", () => {
    const { status, stderr } = run("retail", "--live")
    assert.equal(status, 2)
    assert.match(stderr, /--live needs --model/)
  })

  test("refuses a live run in CI, because it costs money", () => {
    const { status, stderr } = runWith({ CI: "true" }, "retail", "--live", "--model", "openai/gpt-5.2")
    assert.equal(status, 2)
    assert.match(stderr, /--live costs money and is not for CI/)
  })

  test("claims nothing for an oracle or a person that only a model can show", async () => {
    const texts = [...chapters([]).map(({ text }) => text), ...suites.map(({ about }) => about)]
    const page = await readFile(join(root, "docs/evidence.md"), "utf8")
    const readme = await readFile(join(root, "README.md"), "utf8")
    const chaptersWithoutModel = page.split(/^## /m).filter((chapter) => !/^\w+, played by (?!hand)/.test(chapter))
    const evidence = readme.split(/^## /m).filter((chapter) => chapter.startsWith("Evidence"))
    for (const text of [...texts, ...chaptersWithoutModel, ...evidence]) {
      assert.doesNotMatch(text, /success rate|accura/i)
    }
  })

  test("shows parallel tool calls wherever it compares with single ones", async () => {
    const page = await readFile(join(root, "docs/evidence.md"), "utf8")
    const compared = page.split(/^###? /m).filter((section) => /\| json-seq|json-seq \|/.test(section))
    assert.ok(compared.length > 0)
    for (const section of compared) assert.match(section, /json-par/, section.slice(0, 60))
  })
})

describe("figures and tables of evaluations", () => {
  test("the median of an even number of values is between the two in the middle", () => {
    assert.equal(median([4, 1, 3, 2]), 2.5)
    assert.equal(median([3, 1, 2]), 2)
  })

  test("the worst tenth is the mean of the highest tenth, at least of one value", () => {
    assert.equal(worstTenth([1, 9, 2]), 9)
    assert.equal(worstTenth([...Array(20).keys()]), 18.5)
  })

  test("a change is shown with its sign", () => {
    assert.equal(cellText(change(72, 100), { name: "", format: "change" }), "−28.0 %")
    assert.equal(cellText(change(136.3, 100), { name: "", format: "change" }), "+36.3 %")
    assert.equal(cellText(undefined, { name: "", format: "change" }), "")
  })

  test("numbers are aligned to the right, on the terminal and in Markdown", () => {
    const table = { columns: [{ name: "style" }, { name: "tokens", format: "number" as const }], rows: [["a|b", 1234]] }
    assert.equal(terminalTable(table), "style  tokens\na|b     1,234")
    assert.equal(markdownTable(table), "| style | tokens |\n|---|---:|\n| a\\|b | 1,234 |")
  })

  test("text is wrapped between words, with the indent of lists", () => {
    assert.equal(wrapText("- one two three", 9), "- one two\n  three")
    assert.equal(wrapText("    code stays as it is", 9), "    code stays as it is")
  })
})

function suite(name: string, more: Partial<Suite> = {}, report: Partial<SuiteReport> = {}): Suite {
  const series = [{ name: "json-seq", values: [10] }]
  return {
    name,
    about: "A little suite.",
    async run({ progress }) {
      progress(1, 1, "t1")
      return {
        checks: [{ what: "end states", passed: 1, of: 1 }],
        sections: [
          {
            title: "Tokens",
            table: { columns: [{ name: "style" }, { name: "total", format: "number" }], rows: [["json-seq", 10]] },
            plot: { type: "bars", title: "Tokens", unit: "tokens", groups: ["all"], series },
          },
          {
            title: "By length",
            plot: {
              type: "lines",
              title: "Tokens by length",
              unit: "tokens",
              xTitle: "calls",
              series: [
                {
                  name: "json-seq",
                  points: [
                    [1, 2],
                    [2, 4],
                  ],
                },
              ],
            },
          },
        ],
        tasks: [{ task: "t1", style: "json-seq", verified: true, total: 10 }],
        ...report,
      }
    },
    ...more,
  }
}
