// The programs of docs/skills.md, each run as it is shown there. skills-in-python.test.ts runs the Python module.
import assert from "node:assert/strict"
import { cp, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"

// #region agent
import { createAgent } from "karst"
// #endregion

// #region load
import { loadSkills } from "karst"
// #endregion

// #region in-code
import { skill } from "karst"
// #endregion

import { jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { retrieveAny } from "../retrieve-any.ts"
import { workIn } from "./surroundings.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``
const shown = join(import.meta.dirname, "skills")

function reportingSkill() {
  // #region in-code
  const reporting = skill({
    name: "reporting",
    description: "The house style of reports. Use when a result is to be published.",
    instructions: "Put one sentence per finding into `report.lines`.",
    bindings: () => ({ report: { lines: [] } }), // created for each runtime
    files: { "references/tone.md": "Short sentences." },
  })
  // #endregion
  return reporting
}

describe("the skills of an agent", () => {
  test("come from folders and from code, and are loaded when the model needs them", async (t) => {
    await cp(shown, join(await workIn(t), "skills"), { recursive: true })
    const model = scriptedModel([
      cell('await activateSkill("data-analysis")'),
      cell('await activateSkill("guests")\nconsole.log(await greet({ name: "Ada" }), limits.guests)'),
      cell(
        'await activateSkill("reporting")\nreport.lines.push(await readSkillFile("reporting", "references/tone.md"))',
      ),
      "Done.",
    ])
    const runtime = jsRuntime()
    const reporting = reportingSkill()
    // #region agent
    const agent = createAgent({ model, runtime, skills: ["./skills", reporting] })
    // #endregion
    const { trajectory } = await agent.run("Greet Ada")
    assert.match(
      trajectory.system,
      /- data-analysis: What it does.*\n- guests: .*\n- statistics: .*\n- reporting: The house style/,
    )
    assert.doesNotMatch(trajectory.system, /Instructions\.|Call `greet`|report\.lines|Hello/)
    const told = trajectory.messages.map((message) => JSON.stringify(message))
    assert.ok(told.some((text) => text.includes("Instructions.")))
    assert.ok(told.some((text) => text.includes("Hello Ada 12")))
    assert.ok(
      told.some((text) => /interface Guest.*name: string.*Greets somebody.*greet\(guest: Guest\)/.test(text)),
      "the model sees the types and comments of the source",
    )
    assert.deepEqual(await retrieveAny(runtime, "report"), { lines: ["Short sentences."] })
    assert.match(await runtime.describe(), /greet/)
    assert.deepEqual(
      trajectory.events.flatMap((event) => (event.type === "skill-activated" ? event.name : [])),
      ["data-analysis", "guests", "reporting"],
    )
  })

  test("with bindings made by a function are made anew for each runtime", async () => {
    const reporting = reportingSkill()
    for (const count of [1, 2]) {
      const runtime = jsRuntime()
      const model = scriptedModel([cell(`await activateSkill("reporting")\nreport.lines.push(${count})`), "Done."])
      await createAgent({ model, runtime, skills: [reporting] }).run("Report")
      assert.deepEqual(await retrieveAny(runtime, "report"), { lines: [count] })
    }
  })

  test("that are valid can be used although others are not", async (t) => {
    const folder = await workIn(t)
    await cp(shown, join(folder, "skills"), { recursive: true })
    await mkdir("skills/broken")
    await writeFile("skills/broken/SKILL.md", "No front matter.")
    const model = scriptedModel(["Done."])
    await assert.rejects(Promise.resolve(createAgent({ model, skills: ["./skills"] }).run("Hi")), /broken/)
    // #region load
    const { skills, problems } = await loadSkills(["./skills"]) // problems: { path, severity, message }
    const agent = createAgent({ model, skills })
    // #endregion
    assert.deepEqual(
      problems.map(({ path, severity, message }) => [path.replace(folder, ""), severity, typeof message]),
      [["/skills/broken/SKILL.md", "error", "string"]],
    )
    assert.match((await agent.run("Hi")).trajectory.system, /- guests: /)
  })
})
