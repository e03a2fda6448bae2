// Runs the tests: `npm test [-- <part of a file name>…] [--name=<pattern>…] [--lane=<name>] [--times]`, ending with
// Node's summary. A test file outside the unit lane names its lane in its first line: `// test lane: runtimes`. Files
// marked long (`// test lane: runtimes, long`) run with KARST_REQUIRE_ALL=1 or by name; otherwise they are listed as
// skipped.
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { type EventData, run } from "node:test"
import { spec, type TestEvent } from "node:test/reporters"
import { parseArgs } from "node:util"
import { installClis } from "./clis.ts"

interface Lane {
  name: string
  /** The lane is ended after this time, which is far above what it takes. */
  deadlineMinutes: number
  /** Installs what the lane needs; called with KARST_REQUIRE_ALL=1. */
  prepare?(): void
  /** Required environment settings. A lane that has some runs only if it is named by --lane. */
  needs?: string[]
}

const lanes: Lane[] = [
  { name: "live", deadlineMinutes: 10, needs: ["KARST_LIVE=1", "KARST_LIVE_MODEL=<provider/model>"] },
  { name: "unit", deadlineMinutes: 25 },
  // Kernels, child processes, sandboxes, shell commands.
  { name: "runtimes", deadlineMinutes: 20 },
  // Coding CLIs, the real ones and small programs in their place, and MCP servers.
  { name: "clis", deadlineMinutes: 20, prepare: installClis },
  // Databases, servers, and processes that are killed while they work.
  { name: "durable", deadlineMinutes: 20 },
  // The packed package as a newcomer uses it: other versions of Node and TypeScript, terminals, browsers.
  { name: "newcomer", deadlineMinutes: 20 },
]

interface TestFile {
  path: string
  lane: string
  long: boolean
}

// With KARST_REQUIRE_ALL=1 a skipped test is a failed one, unless its reason starts with one of these.
const exempt = ["evaluation data", "CaveAgent", "Chromium", "pyarrow", "live models", "by design"]
const requireAll = process.env.KARST_REQUIRE_ALL === "1"

process.chdir(dirname(import.meta.dirname))
// Every test file is a process of its own, and many start further ones: stripped and compiled modules are shared.
process.env.NODE_COMPILE_CACHE ??= resolve("node_modules/.cache/karst-tests")
// What the test files of one run share, such as the packed package.
const sharedFolder = mkdtempSync(join(tmpdir(), "karst-tests-"))
process.env.KARST_TEST_FOLDER = sharedFolder
process.on("exit", () => rmSync(sharedFolder, { recursive: true, force: true }))
const { values, positionals } = parseArgs({
  options: { lane: { type: "string" }, name: { type: "string", multiple: true }, times: { type: "boolean" } },
  allowPositionals: true,
})
const stop = new AbortController()
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort(new Error(signal)))

const testFiles = globSync("test/**/*.test.ts").sort().map(readTestFile)
const durations = new Map<string, number>()
const totals = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0, duration_ms: 0 }
await pipeline(Readable.from(allLanes()), new spec(), process.stdout, { end: false })
if (totals.fail + totals.cancelled > 0) process.exitCode = 1
if (totals.tests === 0) {
  console.error(`No test ran: no file matches ${positionals.join(" ") || "this lane"}.`)
  process.exitCode = 1
}

async function* allLanes(): AsyncGenerator<TestEvent> {
  for (const lane of chosenLanes()) {
    const files = testFiles.filter((file) => file.lane === lane.name && isNamed(file.path))
    const leftOut = files.filter((file) => file.long && !requireAll && positionals.length === 0)
    for (const file of leftOut) yield skipped(file)
    const rest = files.filter((file) => !leftOut.includes(file)).map(({ path }) => path)
    if (rest.length === 0) continue
    if (requireAll) lane.prepare?.()
    yield* events(lane, rest)
  }
  if (values.times) {
    const slowest = [...durations].sort(([, a], [, b]) => b - a)
    for (const [path, ms] of slowest) yield diagnostic(`${(ms / 1000).toFixed(1).padStart(6)} s ${path}`)
  }
  for (const [name, count] of Object.entries(totals)) yield diagnostic(`${name} ${count}`)
}

function diagnostic(message: string): TestEvent {
  return { type: "test:diagnostic", data: { nesting: 0, message, level: "info" } }
}

/** Reports a long file that this run leaves out. */
function skipped({ path }: TestFile): TestEvent {
  totals.tests++
  totals.skipped++
  const skip = "takes long; runs with KARST_REQUIRE_ALL=1, or by name"
  const details = { duration_ms: 0, type: "test" as const }
  const data = { name: path, nesting: 0, testNumber: 0, testId: 0, parentId: 0, tags: [], details, skip }
  return { type: "test:pass", data }
}

function readTestFile(path: string): TestFile {
  const [, lane = "unit", long] = /^\/\/ test lane: (\w+)(, long)?\n/.exec(readFileSync(path, "utf8")) ?? []
  if (!lanes.some(({ name }) => name === lane)) refuse(`${path} names the unknown test lane "${lane}".`)
  return { path, lane, long: long !== undefined }
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

function isNamed(path: string): boolean {
  return positionals.length === 0 || positionals.some((part) => path.includes(part))
}

async function* events(lane: Lane, files: string[]): AsyncGenerator<TestEvent> {
  const stream = run({
    files,
    concurrency: 2,
    // A test that hangs is reported by name. What it leaves open holds its file until the lane's deadline.
    timeout: 60_000,
    execArgv: process.execArgv,
    signal: AbortSignal.any([stop.signal, AbortSignal.timeout(lane.deadlineMinutes * 60_000)]),
    ...(values.name && { testNamePatterns: values.name }),
  })
  for await (const event of stream as AsyncIterable<TestEvent>) {
    // Diagnostics without a file are the lane's own totals. They are added up and printed once, after the last lane.
    if (event.type === "test:diagnostic" && event.data.file === undefined) continue
    if (event.type === "test:summary" && event.data.file === undefined) {
      add(event.data)
      continue
    }
    if (event.type === "test:summary" && event.data.file !== undefined)
      durations.set(relative(".", event.data.file), event.data.duration_ms)
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
  // The stack of this script would not help the reader.
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
