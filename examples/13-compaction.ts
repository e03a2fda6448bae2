// Memory: a conversation that outgrows the model's window is made shorter, step by step, and goes on.
// Old results stay in variables, older messages as a summary and word for word: the model can read everything back.
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"

const readings = Array.from({ length: 12 }, (_, month) =>
  Array.from({ length: 60 }, (_, day) => ({ month: month + 1, day, mm: (month * 7 + day * 13) % 40 })),
)
const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`
const model =
  process.env.MODEL ??
  scriptedModel(
    [
      ...readings.map((_, month) => cell(`JSON.stringify(readings[${month}].filter(({ mm }) => mm > 20))`)),
      // The first result is long gone from the conversation, and still there.
      cell("JSON.parse(_output_1.match(/\\[.*\\]/)[0])[0]"),
      "The first wet day was day 2 of month 1; I looked it up in what had been put aside.",
    ],
    { contextWindow: 3000 },
  )

// Summaries may come from a smaller model. This one would say what a real one finds out.
const summariser = scriptedModel(
  () => `<analysis>The months are worked through one by one.</analysis>
<summary>
## Goals
- find the wet days of each month
## Decisions
- a day is wet above 20 mm
## Facts
- the first wet day of month 1 was day 2, with 26 mm
## Open work
- the other months
</summary>`,
)

const agent = createAgent({
  model,
  runtime: jsRuntime({ readings }),
  memory: { keepResults: 3, ...(process.env.MODEL ? {} : { model: summariser }) },
  limits: { cycles: 20 },
  hooks: {
    onCompact({ tier, replaced, messages }) {
      const what = ["cleared old results", "summarised older messages", "took out older messages"][tier - 1]
      console.log(`… ${what}: ${size(replaced)} → ${size(messages)} characters`)
    },
  },
})

const { output, messages } = await agent.run("Which days were wet, month by month? Which was the first?")
const [summary] = messages.flatMap(({ parts }) => parts.filter((part) => part.type === "summary"))
console.log(`\nThe conversation now begins:\n${summary?.text}\n\n${output}`)

function size(list: readonly object[]): string {
  return JSON.stringify(list).length.toLocaleString("en")
}
