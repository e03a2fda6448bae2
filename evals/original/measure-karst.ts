// Measures Karst in the same way as measure.py measures CaveAgent.
import { createAgent, jsRuntime, messageText, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { median } from "../harness/figures.ts"

/** A finding by the name that measure.py gives it. */
export type Findings = Record<string, { value?: number | boolean; error?: string }>

const measurements: Record<string, () => Promise<number | boolean>> = {
  async cell_ms() {
    await using runtime = jsRuntime()
    return await milliseconds(50, () => runtime.execute("x = 1 + 1"))
  },
  async step_ms() {
    const steps = 20
    const run = () => {
      const model = scriptedModel([...Array.from({ length: steps }, () => cell("x = 1 + 1")), "Done."])
      return createAgent({ model, runtime: () => jsRuntime(), limits: { cycles: steps + 1 } }).run("Go.").settled
    }
    return (await milliseconds(5, run)) / steps
  },
  async isolated_start_ms() {
    return await timeOf(async () => {
      await using runtime = pythonRuntime()
      await runtime.execute("x = 1")
    })
  },
  async isolated_cell_ms() {
    await using runtime = pythonRuntime()
    return await milliseconds(20, () => runtime.execute("x = 1 + 1"))
  },
  async process_start_ms() {
    return await timeOf(async () => {
      await using runtime = processRuntime()
      await runtime.execute("x = 1")
    })
  },
  async process_cell_ms() {
    await using runtime = processRuntime()
    return await milliseconds(20, () => runtime.execute("x = 1 + 1"))
  },
  async runtimes_are_separate() {
    await using first = jsRuntime()
    await using second = jsRuntime()
    await first.execute("const secretOfFirst = 1")
    return printed(await second.execute("console.log(typeof secretOfFirst)")).includes("undefined")
  },
  async large_output_is_shown() {
    const model = scriptedModel([cell('console.log("begin " + "x".repeat(20000))'), "Done."])
    await createAgent({ model, runtime: () => jsRuntime(), maxOutputChars: 1000 }).run("Go.")
    const shown = model.requests[1]?.messages.at(-1)
    return shown !== undefined && messageText(shown).includes("begin x")
  },
  async time_out_stops_cell() {
    await using runtime = pythonRuntime()
    const model = scriptedModel([cell("import time\ntime.sleep(3)\nlate = 1", "python"), "Done."])
    await createAgent({ model, runtime, cellTimeoutMs: 1000 }).run("Go.")
    await new Promise((resolve) => setTimeout(resolve, 3000))
    return !printed(await runtime.execute("print('late' in globals())")).includes("True")
  },
  async chunks_do_not_matter() {
    const text = `Some \`text\`.\n${cell("const t = `\n\\`\\`\\`\n`")}\nMore.\n${cell("const y = 2")}\n`
    const found = new Set<string>()
    for (const chunkChars of [1, 2, 3, 7, text.length]) {
      const model = scriptedModel([text, "Done."], { chunkChars })
      await createAgent({ model, runtime: () => jsRuntime() }).run("Go.")
      found.add(JSON.stringify(model.requests.map(({ messages }) => messages.map(messageText))))
    }
    return found.size === 1
  },
}

export async function measureKarst(
  signal: AbortSignal,
  progress: (done: number, of: number) => void,
): Promise<Findings> {
  const findings: Findings = {}
  const all = Object.entries(measurements)
  for (const [index, [name, measure]] of all.entries()) {
    signal.throwIfAborted()
    findings[name] = await measure().then(
      (value) => ({ value }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
    )
    progress(index + 1, all.length)
  }
  return findings
}

function cell(code: string, tag = "ts"): string {
  return `\`\`\`${tag}\n${code}\n\`\`\``
}

function printed(execution: Awaited<ReturnType<Runtime["execute"]>>): string {
  return execution.output
}

async function milliseconds(count: number, work: () => Promise<unknown>): Promise<number> {
  await work()
  const samples: number[] = []
  for (let index = 0; index < count; index++) samples.push(await timeOf(work))
  return median(samples)
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
