// A question to the user: the run waits, with the question and its options as data, and uses no resources meanwhile.
// The answer is the next prompt of the session, or of a run that continues from the result.
import { createAgent, tool } from "karst"
import { scriptedModel } from "karst/models"
import * as z from "zod"

const sent: string[] = []
const sendReport = tool({
  name: "send_report",
  description: "Sends the report of one month.",
  input: z.object({ month: z.enum(["May", "June"]) }),
  run: ({ month }) => `Sent: ${sent.push(month)}`,
})

const model =
  process.env.MODEL ??
  scriptedModel([
    [
      {
        type: "tool-call",
        id: "1",
        name: "ask",
        input: { question: "Which month?", options: ["May", "June"], custom: false },
      },
      { type: "tool-call", id: "2", name: "send_report", input: { month: "May" } },
    ],
    [{ type: "tool-call", id: "3", name: "send_report", input: { month: "June" } }],
    "The report of June is out.",
  ])

await using session = await createAgent({ model, tools: [sendReport] }).session()

const asked = await session.send("Send the report")
console.log(asked.status, asked.completion)
if (asked.pending?.kind === "question") console.log(asked.pending.question, asked.pending.options)
// The call after the question was not made: nothing goes out before the answer.
console.log("sent before the answer:", sent)

const answered = await session.send("June")
console.log(answered.status, answered.output)
console.log("sent:", sent)
