// The suite `handoff`: eight agents pass a typed object along a chain, in five ways.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { deserialize, serialize } from "node:v8"
import { type Bindings, codec, createAgent, jsRuntime, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import type { Cell, Check, Suite, TaskRecord } from "./harness/suite.ts"

const agents = 8

export const handoff: Suite = {
  name: "handoff",
  about:
    `${agents} agents pass one object along a chain; the first makes it, and each runs a cell that tests every property ` +
    "before it passes the object on. The score is what the last agent finds intact. By reference: all agents run in one " +
    "process. By handle: each agent has a process of its own; data crosses as a copy that keeps its types, and the " +
    "class instance stays in the host, where its methods are called. By clone: `structuredClone`. By file: each agent " +
    "stores a snapshot of its variables, and the next one restores it; a codec stores the class instance. By JSON text: `JSON.stringify` and `JSON.parse`, " +
    "with the bigint written as text, because JSON has none.",
  async run({ progress, signal }) {
    const folder = await mkdtemp(join(tmpdir(), "karst-handoff-"))
    try {
      const results: WayResult[] = []
      for (const [index, way] of ways(folder).entries()) {
        signal.throwIfAborted()
        results.push(await passAlong(way))
        progress(index + 1, 5, way.name)
      }
      return { checks: checks(results), sections: [table(results)], tasks: results.map(record) }
    } finally {
      await rm(folder, { recursive: true })
    }
  },
}

export class Account {
  readonly owner: string
  readonly amounts: number[]
  constructor(owner: string, amounts: number[]) {
    this.owner = owner
    this.amounts = amounts
  }
  total(): number {
    return this.amounts.reduce((sum, amount) => sum + amount, 0)
  }
}

const accountCodec = codec(Account, {
  encode: ({ owner, amounts }) => ({ owner, amounts }),
  decode: ({ owner, amounts }) => new Account(owner, amounts),
})

export function makeBox() {
  return {
    date: new Date(Date.UTC(2026, 0, 5)),
    map: new Map([
      ["a", 1],
      ["b", 2],
    ]),
    samples: new Float64Array([1, 2.5]),
    account: new Account("Ada", [10, 20]),
    nested: { a: { b: [1, { c: "deep" }] } },
    nan: NaN,
    minusZero: -0,
    big: 12345678901234567890n,
  }
}

/** A test of each property, as code. */
const properties: Record<string, string> = {
  Date: `box.date instanceof Date && box.date.getTime() === ${Date.UTC(2026, 0, 5)}`,
  Map: 'box.map instanceof Map && box.map.size === 2 && box.map.get("b") === 2',
  "typed array": "box.samples instanceof Float64Array && box.samples.length === 2 && box.samples[1] === 2.5",
  "class instance": "(await box.account.total()) === 30",
  "nested records": 'box.nested.a.b[1].c === "deep"',
  NaN: "Number.isNaN(box.nan)",
  "-0": "Object.is(box.minusZero, -0)",
  bigint: "box.big === 12345678901234567890n",
}

/** One way to pass the object on. */
interface Way {
  name: string
  /** Opens the runtime of the next agent, with what the one before has passed; the first gets nothing. */
  open(passed: unknown): Promise<Runtime>
  /** How a cell gets `box`; the first agent makes it. */
  receive: string
  /** How a cell prepares what is passed on. */
  send: string
  /** What the next agent gets. */
  take(runtime: Runtime): Promise<unknown>
}

function ways(folder: string): Way[] {
  const start: Bindings = { makeBox: async () => makeBox() }
  const injected = (passed: unknown, name: string): Bindings => (passed === undefined ? start : { [name]: passed })
  const inOneProcess = async (passed: unknown) => jsRuntime(injected(passed, "given"))
  const value = (runtime: Runtime) => runtime.retrieve("passed")
  const file = join(folder, "snapshot")
  return [
    { name: "by reference", open: inOneProcess, receive: "const box = given", send: "const passed = box", take: value },
    {
      name: "by handle",
      open: async (passed) => processRuntime(injected(passed, "given")),
      receive: "const box = given",
      send: "const passed = box",
      take: value,
    },
    {
      name: "by clone",
      open: inOneProcess,
      receive: "const box = given",
      send: "const passed = structuredClone(box)",
      take: value,
    },
    {
      name: "by file",
      async open(passed) {
        const runtime = jsRuntime(start, { codecs: { account: accountCodec } })
        if (passed !== undefined) await runtime.restore?.(deserialize(await readFile(file)))
        return runtime
      },
      receive: "",
      send: "",
      async take(runtime) {
        await writeFile(file, serialize(await runtime.snapshot?.()))
        return file
      },
    },
    {
      name: "by JSON text",
      open: inOneProcess,
      receive: "const box = JSON.parse(given)",
      send: 'const passed = JSON.stringify(box, (_, value) => (typeof value === "bigint" ? String(value) : value))',
      take: value,
    },
  ]
}

interface WayResult {
  way: string
  /** Whether each agent ran its cell. */
  ran: boolean
  /** The properties that the last agent found intact. */
  intact: string[]
  /** Why an agent stopped the chain. */
  problem?: string
}

async function passAlong({ name, open, receive, send, take }: Way): Promise<WayResult> {
  let passed: unknown
  let seen: Record<string, unknown> = {}
  for (let number = 1; number <= agents; number++) {
    const runtime = await open(passed)
    try {
      const code = [number === 1 ? "const box = await makeBox()" : receive, probeCode, send].filter(Boolean).join("\n")
      const agent = createAgent({ model: scriptedModel([`\`\`\`ts\n${code}\n\`\`\``, "Passed on."]), runtime })
      const { status, error } = await agent.run("Test the object and pass it on.").settled
      if (status !== "done") throw new Error(error?.message ?? status)
      seen = Object.fromEntries(Object.entries((await runtime.retrieve("seen")) ?? {}))
      passed = await take(runtime)
    } catch (error) {
      return {
        way: name,
        ran: false,
        intact: [],
        problem: `agent ${number}: ${error instanceof Error ? error.message : error}`,
      }
    } finally {
      await runtime.close()
    }
  }
  return { way: name, ran: true, intact: Object.keys(properties).filter((property) => seen[property] === true) }
}

const probeCode = [
  "const holds = async (test) => { try { return await test() } catch { return false } }",
  "const seen = {",
  ...Object.entries(properties).map(([name, test]) => `  ${JSON.stringify(name)}: await holds(async () => ${test}),`),
  "}",
].join("\n")

function checks(results: readonly WayResult[]): Check[] {
  const failures = results.flatMap(({ way, problem }) => (problem === undefined ? [] : [`${way}: ${problem}`]))
  const all = Object.keys(properties).length
  const kept = results.filter(({ way, intact }) => whole.includes(way) && intact.length === all)
  return [
    {
      what: `chains in which all ${agents} agents ran`,
      passed: results.length - failures.length,
      of: results.length,
      ...(failures.length > 0 && { failures }),
    },
    { what: `ways of Karst that keep every property (${whole.join(", ")})`, passed: kept.length, of: whole.length },
  ]
}

const whole = ["by reference", "by handle", "by file"]

function table(results: readonly WayResult[]) {
  const names = Object.keys(properties)
  const rows = results.map(({ way, intact }): Cell[] => [
    way,
    intact.length,
    names.length,
    ...names.map((name) => (intact.includes(name) ? "yes" : "no")),
  ])
  const number = (name: string) => ({ name, format: "number" as const })
  return {
    title: `What the last of ${agents} agents finds intact`,
    text: "The class instance is intact if its method returns the right sum.",
    table: { columns: [{ name: "way" }, number("intact"), number("of"), ...names.map((name) => ({ name }))], rows },
  }
}

function record({ way, ran, intact, problem }: WayResult): TaskRecord {
  return { task: "chain", style: way, verified: ran, intact: intact.join(", "), problem }
}
