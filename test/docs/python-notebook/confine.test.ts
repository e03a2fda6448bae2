// test lane: runtimes, long
// The snippet of docs/python-notebook.md about confinement, run as it is shown there.
import assert from "node:assert/strict"
import { test } from "node:test"
// #region program
import { createAgent } from "karst"
import { pythonRuntime, safePythonRules, table } from "karst/python"
// #endregion
import { scriptedModel } from "../../../src/models.ts"
import { listen } from "../../server/loopback.ts"
import { requires } from "../../system.ts"

const cell = (code: string) => `\`\`\`python\n${code}\n\`\`\``
const needs = { skip: requires("python", "pandas", "bwrap") }

test(
  "docs/python-notebook.md shows a kernel with rules, without the user's files and without a network",
  needs,
  async () => {
    const records = [{ amount: 40 }, { amount: 2 }]
    const requests: unknown[] = []
    await using server = await listen((request, response) => {
      requests.push(request.url)
      response.end("a,b\n1,2\n")
    })
    const model = scriptedModel([
      cell("import subprocess"),
      cell(`import pandas\npandas.read_csv(${JSON.stringify(import.meta.filename)})`),
      cell(`pandas.read_csv(${JSON.stringify(server.url)})`),
      cell("int(sales.amount.sum())"),
      "It is 42.",
    ])
    // #region program
    const agent = createAgent({
      model,
      runtime: () =>
        pythonRuntime(
          { sales: table(records) },
          { isolation: "os", rules: safePythonRules(), limits: { memoryBytes: 2 * 2 ** 30 } },
        ),
      cellTimeoutMs: 60_000,
    })
    // #endregion
    const { trajectory } = await agent.run("Add up the sales")
    const ends = trajectory.events.filter((event) => event.type === "code-end")
    assert.deepEqual(
      ends.map(({ ok, error }) => (ok ? "ok" : error?.kind)),
      ["security", "throw", "throw", "ok"],
    )
    assert.match(ends[1]?.text ?? "", /FileNotFoundError/)
    assert.deepEqual(requests, [])
    assert.match(ends.at(-1)?.text ?? "", /42/)
  },
)
