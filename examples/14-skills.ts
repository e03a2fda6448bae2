// A skill from a folder and one made in code: the model sees one line of each, and activates what the task needs.
// Instructions, functions and files come with the activation; what a skill puts in is an object like any other.
import { createAgent, jsRuntime, skill, variable } from "karst"
import { scriptedModel } from "karst/models"
import * as z from "zod"

const analysis = new URL("skills/data-analysis", import.meta.resolve("karst/package.json"))

const reporting = skill({
  name: "reporting",
  description: "The house style of reports. Use when a result is to be published.",
  instructions: "Put one sentence per finding into `report.lines`. Read references/tone.md before you write.",
  bindings: () => ({ report: variable({ title: "", lines: [] as string[] }, "The report of this session") }),
  files: { "references/tone.md": "Short sentences. Numbers before adjectives." },
})

const runtime = jsRuntime({
  orders: variable(
    [
      { city: "Oslo", amount: 120 },
      { city: "Lima", amount: 80 },
      { city: "Oslo", amount: 60 },
      { city: "Accra", amount: 2000 },
      { city: "Lima", amount: 95 },
      { city: "Oslo", amount: 110 },
    ],
    "Orders of this week",
  ),
})

const model =
  process.env.MODEL ??
  scriptedModel([
    '```ts\nawait activateSkill("data-analysis")\n```\n',
    '```ts\nconst odd = await outliers(orders, "amount")\nconst typical = orders.filter((order) => !odd.includes(order))\nconst byCity = await groupBy(typical, "city", "amount")\n;({ odd, byCity })\n```\n',
    '```ts\nawait activateSkill("reporting")\nconst tone = await readSkillFile("reporting", "references/tone.md")\ntone\n```\n',
    "```ts\nreport.title = 'Orders'\nreport.lines.push(`${byCity[0].city} leads with ${byCity[0].sum}.`, `Left out: ${odd.length} order of ${odd[0].amount}.`)\n```\n",
    "Oslo leads; one order from Accra is far beyond the others and was left out. The report is ready.",
  ])

const agent = createAgent({ model, runtime, skills: [analysis, reporting] })
const { output, trajectory } = await agent.run("Which city orders the most? Publish it.")

const activated = trajectory.events.flatMap((event) => (event.type === "skill-activated" ? event.name : []))
console.log("told from the start:", trajectory.system.match(/^- data-analysis: .{60}/m)?.[0])
console.log("activated:", activated)
console.log(output)
console.log(await runtime.retrieve("report", z.object({ title: z.string(), lines: z.array(z.string()) })))
