// A program that starts a CLI in its terminal as its argument says, and prints the result. See terminal-machine.ts.
import { fn, jsRuntime } from "karst"
import { claude, codex } from "karst/providers"
import type { Task } from "./terminal-machine.ts"

const task: Task = JSON.parse(Buffer.from(process.argv[2] ?? "", "base64url").toString())
const { provider = "claude", prompt, options, live, when } = task
const controller = new AbortController()
let total = 0
const counter = { add: (count: number) => (total += count) }
const wipe = fn(() => (total = -1), { description: "Forgets the count", signature: "() => number", approve: true })
const runtime = live ? jsRuntime({ counter, wipe }) : undefined

if (when) {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = (chunk: Uint8Array | string, ...rest: unknown[]) => {
    if (Buffer.from(chunk).includes(when.shown)) setImmediate(happen)
    return Reflect.apply(write, undefined, [chunk, ...rest])
  }
}

function happen(): void {
  if (when?.does === "throw") throw new Error("thrown elsewhere")
  if (when?.does === "exit") process.exit(7)
  if (when?.does === "abort") controller.abort()
}

try {
  const agent = { claude, codex }[provider]({ runtime })
  const result = await agent.interactive(prompt, { ...options, signal: controller.signal })
  const { output, ...rest } = result
  process.stdout.write(`RESULT ${JSON.stringify({ ...rest, output: output.length })} raw ${process.stdin.isRaw}\n`)
  process.stdout.write(`total ${total}\n`)
} catch (error) {
  process.stdout.write(`THREW ${error}\n`)
}
await runtime?.close()
