// Benchmark: the time of one small cell through `execute`.
import { jsRuntime, type Runtime } from "karst"
import { safeRules } from "karst/rules"
import { caveAgent } from "./anchors.ts"
import { interleave, perUnit, ratio, stats } from "./measure.ts"
import { budget, type Report } from "./report.ts"

const cells = 100

/** The time of one cell through `execute`: parse, rules, compile, run, capture. */
export async function cell(): Promise<Report> {
  let number = 0
  const orders = Array.from({ length: 200 }, (_, id) => ({ id, customer: `c${id % 17}`, total: (id * 37) % 101 }))
  await using runtime = jsRuntime({ orders }, { rules: safeRules() })
  const many = (code: (number: number) => string) =>
    perUnit(cells, async () => {
      for (let count = 0; count < cells; count++) await execute(runtime, code(number++))
    })
  const samples = await interleave(
    {
      small: () => many(smallCell),
      long: () => many(longCell),
      loop: () => perUnit(1, () => execute(runtime, loopCell)),
      plain: () => perUnit(1, freshPlainLoop(number++)),
    },
    { rounds: 40, warmups: 10 },
  )
  const small = stats(samples.small)
  const long = stats(samples.long)
  const loopRatio = ratio(samples.loop, samples.plain)
  const toCave = (median: number) => median / caveAgent.cellMs.from
  return {
    rows: [
      { what: "a small cell", unit: "ms", ...small, ratios: { "CaveAgent's 0.36 ms": toCave(small.median) } },
      { what: "a cell of 30 lines", unit: "ms", ...long, ratios: { "CaveAgent's 0.36 ms": toCave(long.median) } },
      {
        what: "a cell that loops 1e6 times",
        unit: "ms",
        ...stats(samples.loop),
        ratios: { "without guards": loopRatio },
      },
      { what: "the same loop freshly compiled without guards", unit: "ms", ...stats(samples.plain) },
    ],
    budgets: [
      budget("small cell against CaveAgent's cell", 1 / 3, toCave(small.median), "×"),
      budget("loop in a cell against the same loop without guards", 1.5, loopRatio, "×"),
    ],
  }
}

async function execute(runtime: Runtime, code: string): Promise<void> {
  const execution = await runtime.execute(code)
  if (!execution.ok) throw new Error(execution.error.message)
}

function smallCell(number: number): string {
  return `const largest: number = Math.max(...orders.map((order) => order.total))\nlargest + ${number}`
}

function longCell(number: number): string {
  return `interface Summary { customer: string; count: number; total: number }

class Ledger {
  #byCustomer = new Map<string, Summary>()

  add(customer: string, total: number): void {
    const known = this.#byCustomer.get(customer)
    if (known) {
      known.count += 1
      known.total += total
    } else {
      this.#byCustomer.set(customer, { customer, count: 1, total })
    }
  }

  top(count: number): Summary[] {
    return [...this.#byCustomer.values()].sort((a, b) => b.total - a.total).slice(0, count)
  }
}

const ledger = new Ledger()
for (const { customer, total } of orders) {
  if (total % 7 === ${number % 7}) continue
  ledger.add(customer, total)
}
const [best, ...others] = ledger.top(5)
const report = [best, ...others].map(({ customer, total }, rank) => \`\${rank + 1}. \${customer}: \${total}\`)
console.log(report.join("\\n"))
report.length as number`
}

const loopCell = "let sum = 0\nfor (let index = 0; index < 1e6; index++) sum += index % 7\nsum"

/** The code that the compiler makes of the loop, without guards. Compiled anew for each round, as a cell is; a function
 *  that is reused would be optimized already. */
function freshPlainLoop(number: number): () => Promise<number> {
  const loop = "scope.sum = 0; for (let index = 0; index < 1e6; index++) { scope.sum += index % 7 } return scope.sum"
  const compile = new Function(`return async (scope) => { "use strict"; ${loop} } // ${number}`)
  return compile().bind(undefined, {})
}
