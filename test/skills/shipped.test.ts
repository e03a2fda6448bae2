import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, loadSkills, messageText } from "karst"
import { scriptedModel } from "karst/models"
import { pythonRuntime } from "karst/python"
import { requires } from "../system.ts"

const folder = new URL("../../skills/", import.meta.url)
const rows = [
  { city: "Oslo", amount: 10, rate: 1 },
  { city: "Lima", amount: 12, rate: 2 },
  { city: "Oslo", amount: 11, rate: null },
  { city: "Oslo", amount: 13, rate: 4 },
  { city: "Lima", amount: 500, rate: 100 },
  { city: "Lima", amount: undefined, rate: 3 },
]

describe("the skills we ship", () => {
  test("follow the standard without a remark", async () => {
    const { skills, problems } = await loadSkills([folder])
    assert.deepEqual(
      skills.map(({ name }) => name),
      ["data-analysis"],
    )
    assert.deepEqual(problems, [])
  })

  test("data-analysis profiles, finds outliers, groups and correlates", async () => {
    const runtime = jsRuntime({ rows, results: {} })
    const code = `await activateSkill("data-analysis")
      results = {
        profile: await profile(rows), odd: await outliers(rows, "amount"),
        groups: await groupBy(rows, "city", "amount"), together: await correlation(rows, "amount", "rate"),
        wrong: await groupBy(rows, "town", "amount").catch((error) => error.message),
      }`
    const model = scriptedModel([`\`\`\`ts\n${code}\n\`\`\``, "Done."])
    const { messages } = await createAgent({ model, runtime, skills: [folder] }).run("Go")
    const { profile, odd, groups, together, wrong } = (await runtime.retrieve("results")) as Record<string, unknown>
    assert.deepEqual(profile, [
      { column: "city", types: ["string"], missing: 0, distinct: 2 },
      {
        column: "amount",
        types: ["number"],
        missing: 1,
        distinct: 5,
        min: 10,
        q1: 11,
        median: 12,
        q3: 13,
        max: 500,
        mean: 109.2,
      },
      {
        column: "rate",
        types: ["number"],
        missing: 1,
        distinct: 5,
        min: 1,
        q1: 2,
        median: 3,
        q3: 4,
        max: 100,
        mean: 22,
      },
    ])
    assert.deepEqual(odd, [rows[4]])
    assert.deepEqual(groups, [
      { city: "Lima", count: 2, sum: 512, mean: 256, median: 256 },
      { city: "Oslo", count: 3, sum: 34, mean: 34 / 3, median: 11 },
    ])
    assert.ok(Number(together) > 0.99)
    assert.match(String(wrong), /There is no column "town"\. There is city, amount, rate\./)
    const told = messages.map(messageText).join("\n")
    assert.match(
      told,
      /declare function groupBy\(rows: Row\[\], key: string, column: string\): Promise<GroupSummary\[\]>/,
    )
    assert.match(told, /- references\/choosing\.md/)
  })

  test("data-analysis compares dates by their time, and gives their range", async () => {
    const day = (text: string) => new Date(`2026-03-${text}`)
    const visits = ["01", "02", "01", "02"].map((text, at) => ({ day: day(text), count: at }))
    const runtime = jsRuntime({ visits, results: {} })
    const code = `await activateSkill("data-analysis")
      results = { profile: await profile(visits), groups: await groupBy(visits, "day", "count") }`
    await createAgent({
      model: scriptedModel([`\`\`\`ts\n${code}\n\`\`\``, "Done."]),
      runtime,
      skills: [folder],
    }).run("Go")
    const { profile, groups } = (await runtime.retrieve("results")) as Record<string, unknown[]>
    assert.deepEqual(profile?.[0], {
      column: "day",
      types: ["date"],
      missing: 0,
      distinct: 2,
      min: day("01"),
      max: day("02"),
    })
    assert.deepEqual(groups, [
      { day: day("02"), count: 2, sum: 4, mean: 2, median: 2 },
      { day: day("01"), count: 2, sum: 2, mean: 1, median: 1 },
    ])
  })

  test("data-analysis does the same in Python", { skip: requires("python", "pandas") }, async () => {
    await using runtime = pythonRuntime({ rows, results: {} })
    const code = `activate_skill("data-analysis")
import pandas as pd
table = profile(rows)
visits = profile({"day": pd.to_datetime(["2026-03-01", "2026-03-02"]), "note": ["", "x"]})
results = {
    "days": [str(visits.loc["day", "min"])[:10], str(visits.loc["day", "max"])[:10], int(visits.loc["note", "missing"])],
    "missing": {column: int(count) for column, count in table["missing"].items()},
    "odd": len(outliers(rows, "amount")),
    "groups": list(group_by(rows, "city", "amount").index),
    "together": correlation(rows, "amount", "rate"),
}`
    const model = scriptedModel([`\`\`\`python\n${code}\n\`\`\``, "Done."])
    const { messages } = await createAgent({ model, runtime, skills: [folder] }).run("Go")
    const results = (await runtime.retrieve("results")) as Record<string, unknown>
    assert.deepEqual(results.missing, { city: 0, amount: 1, rate: 1 })
    assert.deepEqual(results.days, ["2026-03-01", "2026-03-02", 1])
    assert.equal(results.odd, 1)
    assert.deepEqual(results.groups, ["Lima", "Oslo"])
    assert.ok(Number(results.together) > 0.99)
    assert.match(messages.map(messageText).join("\n"), /def group_by\(rows, key: str, column: str\)/)
  })
})
