// The agents, declarations and results whose tokens `bench -- prompt` counts.
import { classType, createAgent, fn, jsRuntime, type Runtime, skill, variable } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime, safePythonRules } from "karst/python"
import { safeRules } from "karst/rules"
import * as z from "zod"

export type RuntimeKind = "js" | "process" | "process, os" | "python"

/** Opens a runtime of each kind, with rules or without. */
export const runtimes: Record<RuntimeKind, (bindings: Record<string, unknown>, withRules?: boolean) => Runtime> = {
  js: (bindings, withRules) => jsRuntime(bindings, withRules ? { rules: safeRules() } : {}),
  process: (bindings, withRules) => processRuntime(bindings, withRules ? { rules: safeRules() } : {}),
  "process, os": (bindings, withRules) =>
    processRuntime(bindings, { isolation: "os", ...(withRules ? { rules: safeRules() } : {}) }),
  python: (bindings, withRules) => pythonRuntime(bindings, withRules ? { rules: safePythonRules() } : {}),
}

/** The options of an agent that add text to the system prompt. Python has neither transactions nor a type gate. */
export function allPromptOptions(kind: RuntimeKind) {
  return {
    cellTimeoutMs: 30_000,
    ...(kind === "python" ? {} : { transaction: true, typeGate: "block" as const }),
    skills: [skill({ name: "reports", description: "Writes a report.", instructions: "Write it." })],
  }
}

class Light {
  level = 0
  readonly room: string
  constructor(room: string) {
    this.room = room
  }
  /** Sets the brightness, from 0 to 100. */
  dim(to: number): void {
    this.level = to
  }
  get isOn(): boolean {
    return this.level > 0
  }
}

class Home {
  lights = [new Light("kitchen"), new Light("hall")]
  name = "home"
  light(room: string): Light | undefined {
    return this.lights.find((light) => light.room === room)
  }
}

const orders = Array.from({ length: 200 }, (_, id) => ({
  id,
  customer: `customer ${id % 17}`,
  lines: [{ sku: `A-${id}`, amount: id / 7 }],
  paid: id % 3 === 0,
}))

const shopInput = z.object({ sku: z.string().describe("The article"), amount: z.number().int().default(1) })

const helper = createAgent({ model: scriptedModel([]), name: "helper", description: "Summarises texts." })

export interface Sample {
  what: string
  kind: RuntimeKind
  bindings?: Record<string, unknown>
  /** For a result: the cell. */
  code?: string
}

export const declarations: Sample[] = [
  { what: "a class instance", kind: "js", bindings: { light: new Light("kitchen") } },
  { what: "an object of objects", kind: "js", bindings: { home: new Home() } },
  { what: "200 records", kind: "js", bindings: { orders } },
  { what: "a function", kind: "js", bindings: { search: async (query: string, limit = 10) => [query, limit] } },
  {
    what: "a function with a signature",
    kind: "js",
    bindings: {
      search: fn(async () => [], {
        signature: "(query: string, limit?: number) => Promise<string[]>",
        description: "Searches.",
      }),
    },
  },
  {
    what: "a function with a schema",
    kind: "js",
    bindings: { order: fn(async () => "done", { input: shopInput, description: "Orders an article." }) },
  },
  { what: "a class", kind: "js", bindings: { Light: classType(Light) } },
  { what: "a settings object", kind: "js", bindings: { settings: variable({ port: 80, hosts: ["a"] }, "Settings.") } },
  { what: "an agent", kind: "js", bindings: { helper } },
  { what: "an object of another process", kind: "process", bindings: { home: new Home() } },
  { what: "host objects in Python", kind: "python", bindings: { home: new Home() } },
  { what: "records and a function in Python", kind: "python", bindings: { orders, search: (query: string) => query } },
]

export const results: Sample[] = [
  { what: "a number", kind: "js", code: "21 * 2" },
  {
    what: "a new constant and function",
    kind: "js",
    code: "const total = 3\nfunction twice(n: number) { return n * 2 }",
  },
  { what: "a promise that is not awaited", kind: "js", code: "const r = Promise.resolve(1)" },
  { what: "nothing to show", kind: "js", code: "[1].forEach(() => {})" },
  { what: "200 records", kind: "js", bindings: { orders }, code: "orders" },
  {
    what: "an object with one long list",
    kind: "js",
    code: "({ id: 7, samples: Array.from({ length: 2000 }, (_, i) => i / 7), unit: 'mm', owner: { name: 'Ada' } })",
  },
  { what: "a long printed text", kind: "js", code: "console.log('line of a log file\\n'.repeat(1000))" },
  {
    what: "an error of a host function",
    kind: "js",
    bindings: {
      load: () => {
        throw new Error("no such order: 7")
      },
    },
    code: "const order = await load(7)",
  },
  { what: "an object of another process", kind: "process", bindings: { home: new Home() }, code: "home" },
  {
    what: "a Python dict with one long list",
    kind: "python",
    code: "{'id': 7, 'samples': [i / 7 for i in range(2000)], 'unit': 'mm'}",
  },
  { what: "new names in Python", kind: "python", code: "total = 3\ndef twice(n): return n * 2" },
  { what: "an error in Python", kind: "python", code: "rows = [1, 2]\nrows[7]" },
]
