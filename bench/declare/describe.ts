// Describes functions of a file in a fresh process and prints what it took of the processor, in milliseconds, as JSON.
import { jsRuntime } from "../../src/runtime/js.ts"

const functions = Array.from({ length: 101 }, (_, index) => (text: string, times?: number) => `${text}${times}${index}`)
const [first, ...others] = functions.map((call, index) => ({ [`f${index}`]: call }))

// The first description of a process also loads the runtime.
await using empty = jsRuntime({ count: 1 })
await empty.describe()

const awaitsBefore = await awaits()
const firstUse = await describe({ ...first })
const nextHundred = await describe(Object.assign({}, ...others))
const again = await describe({ ...first })
const awaitsAfter = await awaits()
console.log(JSON.stringify({ firstUse, perFunction: nextHundred / 100, again, awaits: awaitsAfter / awaitsBefore }))

async function describe(bindings: object): Promise<number> {
  await using runtime = jsRuntime({ ...bindings })
  const start = processorTime()
  const text = await runtime.describe()
  const taken = processorTime() - start
  if (!text.includes("times?: number")) throw new Error(`The types of the file are missing: ${text}`)
  return taken
}

async function awaits(): Promise<number> {
  const figures: number[] = []
  for (let round = 0; round < 5; round++) {
    const start = processorTime()
    for (let count = 0; count < 200_000; count++) await undefined
    figures.push(processorTime() - start)
  }
  return Math.min(...figures)
}

function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
