// The suite `recall`: how much of a long conversation is within reach after it was shortened. The measurement is that
// of `npm run bench -- recall`.
import { recall as measure } from "../bench/recall.ts"
import type { Suite } from "./harness/suite.ts"

export const recall: Suite = {
  name: "recall",
  about:
    "Recorded conversations of gpt-4o with the tools of an airline are cut in the middle and shortened to 400 tokens. The " +
    "values asked for are the literal arguments of the calls that come later and that had been said before the cut. A " +
    "value is within reach if the shortened text has it, or a variable that this text names. A fixed rule stands in " +
    "for the model that writes the summary.",
  needs: ["tau1-airline-trajectories"],
  async run({ data, progress }) {
    const { rows, budgets, absent = [] } = await measure(data)
    for (const { why } of absent) throw new Error(`evaluation data: ${why}`)
    progress(1, 1, "conversations")
    return {
      checks: [
        {
          what: budgets.map(({ what, limit }) => `${what}: at most ${limit}`).join("; "),
          passed: budgets.filter(({ holds }) => holds).length,
          of: budgets.length,
        },
      ],
      sections: [
        {
          title: "What is within reach",
          text: "Shares are from 0 to 1, over the four trials; tokens are over the conversations.",
          table: {
            columns: [{ name: "figure" }, { name: "median" }, { name: "lowest" }, { name: "highest" }],
            rows: rows.map(({ what, median, min, max }) => [
              what,
              ...[median, min, max].map((value) => figure(what, value)),
            ]),
          },
        },
      ],
      tasks: rows.map(({ what, median }) => ({ task: what, style: "oracle", verified: true, median })),
    }
  },
}

function figure(what: string, value: number): string {
  return what.endsWith("within reach") ? value.toFixed(3) : value.toFixed(0)
}
