// Benchmark: the time and the accuracy of the type gate.
import type { AgentOptions, Bindings, Runtime } from "karst"
import {
  bad,
  corpusBindings,
  type GoodCell,
  good,
  needsTheObjectItself,
  withoutSync,
} from "../../test/runtime/type-gate/type-gate-corpus.ts"
import { requires } from "../../test/system.ts"
import type { Karst } from "../built.ts"
import { interleave, perUnit, stats } from "../measure.ts"
import { budget, type Report } from "../report.ts"

const cells = 20

/** What checking a cell adds to running it, and how well the gate judges the labelled corpus. */
export async function gate(karst: Karst): Promise<Report> {
  const why = requires("typescript")
  if (why !== undefined) return { rows: [], budgets: [], absent: [{ what: "type gate", why }] }
  const samples = await latencies(karst)
  const added = samples.checked.map((figure, round) => figure - (samples.plain[round] ?? NaN))
  const judged = [
    await judge("js", good, (bindings) => karst.jsRuntime(bindings)),
    await judge("process", goodElsewhere, (bindings) => karst.processRuntime(withoutSync(bindings))),
  ]
  return {
    rows: [{ what: "type gate, warm", unit: "ms", ...stats(added) }, ...judged.flatMap(({ rows }) => rows)],
    budgets: judged.flatMap(({ budgets }) => budgets),
  }
}

const goodElsewhere = good.filter(({ title }) => !needsTheObjectItself.has(title))

/** How well the gate of one runtime judges the corpus. */
async function judge(name: string, passing: readonly GoodCell[], make: Make): Promise<Report> {
  const goodBlocked = await countBlocked(passing, make)
  const badBlocked = await countBlocked(bad, make)
  const precision = badBlocked / (badBlocked + goodBlocked)
  return {
    rows: [
      {
        what: `${name}: type gate, precision over ${passing.length} good and ${bad.length} bad cells`,
        unit: "",
        ...stats([precision]),
      },
      {
        what: `${name}: type gate, recall: the share of bad cells blocked`,
        unit: "",
        ...stats([badBlocked / bad.length]),
      },
    ],
    budgets: [budget(`${name}: good cells blocked by the type gate`, 0, goodBlocked, "")],
  }
}

type Make = (bindings: Bindings) => Runtime

/** The same cells with and without a check, among the declarations of the corpus. */
async function latencies({ jsRuntime }: Karst): Promise<Record<"plain" | "checked", number[]>> {
  await using runtime = jsRuntime(corpusBindings())
  let number = 0
  const many = (typeGate: NonNullable<AgentOptions["typeGate"]>) =>
    perUnit(cells, async () => {
      for (let count = 0; count < cells; count++) {
        const name = `shown${number++ % 20}`
        const code = `const ${name} = [1, 2, ${number}].map((n) => n * 2)\n${name}.length`
        await runtime.execute(code, { typeGate })
      }
    })
  return await interleave({ plain: () => many("off"), checked: () => many("block") }, { rounds: 10 })
}

async function countBlocked(corpus: readonly GoodCell[], make: Make): Promise<number> {
  let blocked = 0
  for (const { before = [], code, bindings = corpusBindings } of corpus) {
    await using runtime = make(bindings())
    for (const earlier of before) await runtime.execute(earlier, { typeGate: "block" })
    const execution = await runtime.execute(code, { typeGate: "block", timeoutMs: 10_000 })
    if (!execution.ok && execution.error.kind === "type") blocked++
  }
  return blocked
}
