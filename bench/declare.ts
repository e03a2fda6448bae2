import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { repeat, stats } from "./measure.ts"
import { budget, type Report } from "./report.ts"

/** What it takes of the processor to read the types of functions from their files: the first time in a process, for
 *  each further function, and again; and how much slower `await` is afterwards. */
export async function declare(): Promise<Report> {
  const samples: Figures[] = []
  await repeat(5, () => samples.push(measure()))
  const of = (key: keyof Figures) => stats(samples.slice(1).map((figures) => figures[key]))
  const [firstUse, perFunction, again, awaits] = [of("firstUse"), of("perFunction"), of("again"), of("awaits")]
  return {
    rows: [
      { what: "describe(), first use of files", unit: "ms", ...firstUse },
      { what: "describe(), each further function", unit: "ms", ...perFunction },
      { what: "describe(), the same function again", unit: "ms", ...again },
      { what: "await after describe(), against before", unit: "×", ...awaits },
    ],
    budgets: [
      budget("describe(), first use of files", 250, firstUse.median, "ms"),
      budget("describe(), each further function", 2, perFunction.median, "ms"),
      budget("await after describe()", 1.5, awaits.median, "×"),
    ],
  }
}

interface Figures {
  firstUse: number
  perFunction: number
  again: number
  awaits: number
}

function measure(): Figures {
  const script = join(import.meta.dirname, "declare", "describe.ts")
  return JSON.parse(execFileSync(process.execPath, ["--no-warnings", script], { encoding: "utf8" }))
}
