// Runs the tests: `npm test [-- <part of a file name>…] [--name=<pattern>…] [--lane=<name>]`. Ends with node's own summary. Those that
// take long run with KARST_REQUIRE_ALL=1, or by name.
import { globSync } from "node:fs"
import { dirname } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { type EventData, run } from "node:test"
import { spec, type TestEvent } from "node:test/reporters"
import { parseArgs } from "node:util"
import { installClis } from "./clis.ts"

interface Lane {
  name: string
  /** Whether a test file belongs here; the first lane that says yes has it. */
  has(file: string): boolean
  /** Ends the lane when something in it hangs; far above what it takes. */
  deadlineMinutes: number
  /** Gets what it needs, where everything must run. */
  prepare?(): void
  /** Settings without which it cannot run. A lane that needs some runs only when it is asked for by name. */
  needs?: string[]
}

// What starts kernels, child processes, sandboxes or commands.
const realRuntimes =
  /^test\/(runtime\/(conformance|handles|isolation|process|python|type-gate)\b|(agent|skills|memory|tools)\/[\w-]*(process|python|runtimes|shell))/
// What starts servers and kills processes in the middle of their work.
const durable = /^test\/(stores|engine|sessions|workspace\/s3)/
// What drives coding CLIs, real ones and small programs in their place, and servers of tools.
const clis = /^test\/(providers|mcp)\//
// Thorough and long: they run when everything must (KARST_REQUIRE_ALL=1), or when they are named.
const long = /\/(attacks|mutants|corpus|crash-matrix|linear|soak|real-acp)[\w-]*\.test\.ts$|^test\/package\.test\.ts$/
const lanes: Lane[] = [
  {
    name: "live",
    has: (file) => file.startsWith("test/live/"),
    deadlineMinutes: 10,
    needs: ["KARST_LIVE=1", "KARST_LIVE_MODEL=<provider/model>"],
  },
  {
    name: "unit",
    has: (file) => ![realRuntimes, clis, durable].some((pattern) => pattern.test(file)),
    deadlineMinutes: 15,
  },
  { name: "runtimes", has: (file) => realRuntimes.test(file), deadlineMinutes: 20 },
  { name: "clis", has: (file) => clis.test(file), deadlineMinutes: 20, prepare: installClis },
  { name: "durable", has: () => true, deadlineMinutes: 20 },
]

// With KARST_REQUIRE_ALL=1 a skipped test is a failed one, unless its reason starts with one of these.
const exempt = ["evaluation data", "CaveAgent", "pyarrow", "live models", "by design"]
const requireAll = process.env.KARST_REQUIRE_ALL === "1"

process.chdir(dirname(import.meta.dirname))
const { values, positionals } = parseArgs({
  options: { lane: { type: "string" }, name: { type: "string", multiple: true } },
  allowPositionals: true,
})
const stop = new AbortController()
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort(new Error(signal)))

const totals = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0, duration_ms: 0 }
await pipeline(Readable.from(allLanes()), new spec(), process.stdout, { end: false })
if (totals.fail + totals.cancelled > 0) process.exitCode = 1
if (totals.tests === 0) {
  console.error(`No test ran: no file fits ${positionals.join(" ") || "this lane"}.`)
  process.exitCode = 1
}

async function* allLanes(): AsyncGenerator<TestEvent> {
  for (const lane of chosenLanes()) {
    const files = filesOf(lane)
    if (files.length === 0) continue
    if (requireAll) lane.prepare?.()
    yield* events(lane, files)
  }
  for (const [name, count] of Object.entries(totals)) {
    const data: EventData.TestDiagnostic = { nesting: 0, message: `${name} ${count}`, level: "info" }
    yield { type: "test:diagnostic", data }
  }
}

function chosenLanes(): Lane[] {
  if (values.lane === undefined) return lanes.filter((lane) => !lane.needs)
  const lane = lanes.find(({ name }) => name === values.lane)
  if (!lane) return refuse(`Unknown lane "${values.lane}". There are: ${lanes.map(({ name }) => name).join(", ")}.`)
  const missing = lane.needs?.filter((setting) => !isSet(setting)) ?? []
  if (missing.length > 0)
    return refuse(`The ${lane.name} tests run only with ${missing.join(" and ")} in the environment.`)
  return [lane]
}

function filesOf(lane: Lane): string[] {
  return globSync("test/**/*.test.ts")
    .filter((file) => lanes.find(({ has }) => has(file)) === lane)
    .filter((file) => (positionals.length === 0 ? requireAll || !long.test(file) : named(file)))
    .sort()
}

function named(file: string): boolean {
  return positionals.some((part) => file.includes(part))
}

async function* events(lane: Lane, files: string[]): AsyncGenerator<TestEvent> {
  const stream = run({
    files,
    concurrency: 2,
    // A test that hangs is named; what it leaves open then holds its file until the lane's deadline.
    timeout: 60_000,
    execArgv: process.execArgv,
    signal: AbortSignal.any([stop.signal, AbortSignal.timeout(lane.deadlineMinutes * 60_000)]),
    ...(values.name && { testNamePatterns: values.name }),
  })
  for await (const event of stream as AsyncIterable<TestEvent>) {
    // What a lane says of itself as a whole has no file; it is summed here and said once, after the last lane.
    if (event.type === "test:diagnostic" && event.data.file === undefined) continue
    if (event.type === "test:summary" && event.data.file === undefined) {
      add(event.data)
      continue
    }
    yield judged(event)
  }
}

function add({ counts, duration_ms }: EventData.TestSummary): void {
  const { tests, suites, passed, cancelled, skipped, todo } = counts
  totals.tests += tests
  totals.suites += suites
  totals.pass += passed
  totals.fail += tests - passed - cancelled - skipped - todo
  totals.cancelled += cancelled
  totals.skipped += skipped
  totals.todo += todo
  totals.duration_ms += duration_ms
}

function judged(event: TestEvent): TestEvent {
  if (!requireAll || event.type !== "test:pass" || event.data.skip === undefined) return event
  const { skip, ...data } = event.data
  const reason = String(skip)
  if (exempt.some((name) => reason.startsWith(name))) return event
  totals.fail++
  if (data.details.type !== "suite") totals.skipped--
  const cause = new Error(`Skipped (${reason}), and KARST_REQUIRE_ALL=1 requires it.`)
  // Where this script judged it tells nobody anything.
  cause.stack = cause.message
  const error = Object.assign(new Error(cause.message), { code: "ERR_TEST_FAILURE", cause })
  const failed: EventData.TestFail = { ...data, details: { duration_ms: data.details.duration_ms, error } }
  return { type: "test:fail", data: failed }
}

function isSet(setting: string): boolean {
  const [name = "", value = ""] = setting.split("=")
  const found = process.env[name]
  return value.startsWith("<") ? Boolean(found) : found === value
}

function refuse(message: string): never {
  console.error(message)
  process.exit(2)
}
