// Runs each function with each text in two sizes. Where the larger one takes much longer than its size explains, it is
// run with a text fifty times as large: where work grows with the square of the size, that never ends, and the test
// that watches this worker names the function.
import { parentPort, workerData } from "node:worker_threads"
import { cases, texts } from "./cases.ts"
import type { LinearWork } from "./watch.ts"

const { at, from }: LinearWork = workerData

for (const [number, { run }] of cases.entries()) {
  if (number < from) continue
  at[0] = number
  for (const [name, make] of Object.entries(texts)) {
    const timeOf = async (size: number) => {
      at[1] = (at[1] ?? 0) + 1
      const text = make(size)
      const before = process.threadCpuUsage()
      try {
        await run(text)
      } catch {
        // That it is refused is an answer as well.
      }
      const { user, system } = process.threadCpuUsage(before)
      return (user + system) / 1000
    }
    parentPort?.postMessage(name)
    const growsFast = async () => {
      const [small, large] = [await timeOf(4_000), await timeOf(16_000)]
      return large > 20 && large > 8 * small
    }
    // Measured twice, because the long text takes long and one measurement may have been disturbed.
    if ((await growsFast()) && (await growsFast())) await timeOf(800_000)
  }
}
