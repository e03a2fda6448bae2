import { caveAgent, ipykernel } from "../anchors.ts"
import { median, perUnit, repeat, stats } from "../measure.ts"
import type { Row } from "../report.ts"
import { execute, type Subject } from "./subjects.ts"

const calls = 500

/** Start, round trip, and calls of the host from a cell. */
export async function cells(subject: Subject): Promise<Row[]> {
  const { name, code } = subject
  const starts = await repeat(subject.starts, () => startTime(subject))
  await using runtime = subject.open({ add: (a: number, b: number) => a + b, lamp: new Lamp() })
  let number = 0
  const trips = await repeat(10, () =>
    perUnit(subject.cells, async () => {
      for (let count = 0; count < subject.cells; count++) await execute(runtime, code.small(number++))
    }),
  )
  const hostCalls = await repeat(5, () => perUnit(calls, () => execute(runtime, code.hostCalls(calls))))
  const methodCalls = await repeat(5, () => perUnit(calls, () => execute(runtime, code.methodCalls(calls))))
  const anchors = name === "js" ? inProcess(trips) : kernel(starts, trips)
  return [
    { what: `${name}: start to first result`, unit: "ms", ...stats(starts), ratios: anchors.start },
    { what: `${name}: round trip of a cell`, unit: "ms", ...stats(trips), ratios: anchors.cell },
    { what: `${name}: host call`, unit: "ms", ...stats(hostCalls) },
    { what: `${name}: method call of a live object`, unit: "ms", ...stats(methodCalls) },
  ]
}

async function startTime(subject: Subject): Promise<number> {
  const begun = performance.now()
  await using runtime = subject.open()
  await execute(runtime, "1 + 1")
  return performance.now() - begun
}

function inProcess(trips: number[]) {
  return { start: {}, cell: { "CaveAgent's 0.36 ms": median(trips) / caveAgent.cellMs.from } }
}

function kernel(starts: number[], trips: number[]) {
  return {
    start: { "CaveAgent's 1,060 ms": median(starts) / caveAgent.kernelStartMs.from },
    cell: {
      "CaveAgent's 7 ms": median(trips) / caveAgent.kernelCellMs.from,
      "ipykernel's 7 ms": median(trips) / ipykernel.cellMs.from,
    },
  }
}

class Lamp {
  level = 100
  dim(to: number): number {
    this.level = to
    return this.level
  }
}
