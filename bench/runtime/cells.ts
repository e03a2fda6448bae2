// Benchmark: starting a runtime, a round trip, and calls of host functions from a cell.
import type { Runtime } from "karst"
import { caveAgent, ipykernel } from "../anchors.ts"
import { interleave, median, perUnit, ratio, repeat, stats } from "../measure.ts"
import type { Row } from "../report.ts"
import { bareNode, bareStart, bareTrips } from "./bare.ts"
import { execute, type Subject } from "./subjects.ts"

const calls = 500

/** Start, round trip, and calls of the host from a cell. Beside them a bare process of Node's, in the same moments. */
export async function cells(subject: Subject): Promise<Row[]> {
  const { name, code } = subject
  const starts = await interleave({ own: () => startTime(subject), bare: bareStart }, { rounds: subject.starts })
  await using runtime = subject.open({ add: (a: number, b: number) => a + b, lamp: new Lamp() })
  await using bare = bareNode()
  const trips = await interleave(
    { own: () => cellTime(runtime, subject), bare: () => bareTrips(bare, subject.cells) },
    { rounds: 20, warmups: 5 },
  )
  const hostCalls = await repeat(5, () => perUnit(calls, () => execute(runtime, code.hostCalls(calls))))
  const methodCalls = await repeat(5, () => perUnit(calls, () => execute(runtime, code.methodCalls(calls))))
  const row = (what: string, samples: number[], ratios: Record<string, number> = {}): Row => ({
    what: `${name}: ${what}`,
    unit: "ms",
    ...stats(samples),
    ratios,
  })
  const rows = [row("host call", hostCalls), row("method call of a live object", methodCalls)]
  const cellMedian = median(trips.own)
  if (name === "js") {
    const ratios = { "CaveAgent's 0.36 ms": cellMedian / caveAgent.cellMs.from }
    return [row("start to first result", starts.own), row("round trip of a cell", trips.own, ratios), ...rows]
  }
  return [
    row("start to first result", starts.own, {
      "CaveAgent's 1,060 ms": median(starts.own) / caveAgent.kernelStartMs.from,
      "a bare Node": ratio(starts.own, starts.bare),
    }),
    row("round trip of a cell", trips.own, {
      "CaveAgent's 7 ms": cellMedian / caveAgent.kernelCellMs.from,
      ...(name === "python"
        ? { "ipykernel's 7 ms": cellMedian / ipykernel.cellMs.from }
        : { "a bare Node": ratio(trips.own, trips.bare) }),
    }),
    ...rows,
  ]
}

async function startTime(subject: Subject): Promise<number> {
  const begun = performance.now()
  await using runtime = subject.open()
  await execute(runtime, "1 + 1")
  return performance.now() - begun
}

function cellTime(runtime: Runtime, { code, cells }: Subject): Promise<number> {
  return perUnit(cells, async () => {
    for (let count = 0; count < cells; count++) await execute(runtime, code.trip(number++))
  })
}

let number = 0

class Lamp {
  level = 100
  dim(to: number): number {
    this.level = to
    return this.level
  }
}
