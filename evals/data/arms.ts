// The ways of answering questions about a table: tool calls that return tables as text, code without persistence, and
// Karst. Each is an agent with the same instructions.
import {
  type Agent,
  type AgentOptions,
  createAgent,
  type JsonSchema,
  jsRuntime,
  type Runtime,
  tool,
  toolResult,
} from "karst"
import type { Model } from "karst/models"
import { pythonRuntime } from "karst/python"
import * as statistics from "./statistics.ts"
import type { DataTable } from "./tables.ts"

export const toolArms = ["json", "json-columns"] as const
export const codeArms = ["codeact-ts", "karst-ts", "codeact-py", "karst-py"] as const
export const arms = [...toolArms, ...codeArms] as const
export type Arm = (typeof arms)[number]

/** The kernels that all conversations of a run share, one for each arm in Python. A start takes seconds. */
export interface Kernels extends AsyncDisposable {
  /** Why there is no Python with pandas and scipy here; undefined if there is one. */
  problem(): Promise<string | undefined>
  /** The runtime of an arm, with nothing in it but what the arm starts with. */
  open(arm: "codeact-py" | "karst-py", table: DataTable): Promise<Runtime>
}

const instructions =
  "You answer questions about a table. Follow the constraints of each question, and give the answer in its format."

const nothingKept = "No variable is kept: each cell imports what it uses and reads the table again."

/** No result is cut: the tool calls return whole tables. */
const maxOutputChars = 4_000_000

export interface ArmSetup {
  kernels: Kernels
  /** Empties the runtime of `codeact` after each cell. The oracle uses no earlier variable and needs no emptying. */
  forgets?: boolean
  /** Ends the conversation when it is aborted. */
  signal?: AbortSignal
}

/** The agent of an arm for one conversation about one table. */
export async function openAgent(arm: Arm, table: DataTable, model: Model, setup: ArmSetup): Promise<Agent> {
  const { kernels, forgets = false } = setup
  const common = {
    model,
    instructions: arm.startsWith("codeact") ? `${instructions} ${nothingKept}` : instructions,
    maxOutputChars,
    limits: { cycles: 60 },
    now: () => clock,
  } satisfies AgentOptions
  if (arm === "json" || arm === "json-columns") {
    const read = arm === "json" ? readTableTool(table) : readColumnsTool(table)
    return createAgent({ ...common, tools: [read], toolPolicy: { deny: ["ask", "read_artifact"] } })
  }
  const runtime = await openRuntime(arm, table, kernels)
  return createAgent({ ...common, runtime: forgets && arm.startsWith("codeact") ? forgetful(runtime) : runtime })
}

async function openRuntime(arm: (typeof codeArms)[number], table: DataTable, kernels: Kernels): Promise<Runtime> {
  if (arm === "codeact-py" || arm === "karst-py") return kernels.open(arm, table)
  const stats = { ...statistics }
  if (arm === "karst-ts") return jsRuntime({ table: table.rows, stats })
  const readTable = async (_file: string): Promise<Record<string, string | number | boolean | null>[]> =>
    structuredClone(table.rows)
  return jsRuntime({ readTable, stats })
}

/** A runtime that keeps no variable from one cell to the next. */
function forgetful(runtime: Runtime): Runtime {
  return {
    ...runtime,
    async execute(code, options) {
      const execution = await runtime.execute(code, options)
      await runtime.reset()
      return execution
    },
  }
}

// Every run sees the same time, so that the figures of two runs are the same.
const clock = Date.UTC(2026, 0, 5, 12)

function readTableTool({ file, text }: DataTable) {
  return tool<JsonSchema>({
    name: "read_table",
    description: "Returns a table as CSV.",
    input: { type: "object", properties: { table: { type: "string" } }, required: ["table"] },
    run: (input) => toolResult({ text: input.table === file ? text : `There is one table: ${file}.` }),
  })
}

function readColumnsTool(table: DataTable) {
  const names = table.columns.map(({ name }) => name)
  return tool<JsonSchema>({
    name: "read_columns",
    description: `Returns columns of a table as CSV. The columns of ${table.file}: ${names.join(", ")}.`,
    input: {
      type: "object",
      properties: { table: { type: "string" }, columns: { type: "array", items: { type: "string" } } },
      required: ["table", "columns"],
    },
    run: ({ columns }) =>
      toolResult({ text: columnsText(table, Array.isArray(columns) ? columns.map(String) : names) }),
  })
}

/** Some columns of a table as CSV. */
export function columnsText({ rows }: DataTable, names: readonly string[]): string {
  const cell = (value: unknown) => {
    const text = value === null || value === undefined ? "" : String(value)
    // A line without any character would not be a row.
    const needsQuotes = /[",\n]/.test(text) || (text === "" && names.length === 1)
    return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text
  }
  return [names, ...rows.map((row) => names.map((name) => row[name]))]
    .map((line) => line.map(cell).join(","))
    .join("\n")
}

/** `folder` has the tables: the working folder of the cells. */
export function openKernels(folder: string): Kernels {
  const karstSetup = "import numpy as np\nimport pandas as pd\nfrom scipy import stats\ntable = pd.DataFrame()"
  const kernels = {
    "codeact-py": pythonRuntime({}, { cwd: folder }),
    "karst-py": pythonRuntime({}, { cwd: folder, setup: karstSetup }),
  }
  return {
    async problem() {
      const check = kernels["karst-py"].execute("len(table)")
      return check.then(
        (execution) => (execution.ok ? undefined : execution.error.message),
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      )
    },
    async open(arm, table) {
      const runtime = kernels[arm]
      const left = (await runtime.names()).filter(({ injected }) => !injected).map(({ name }) => name)
      if (left.length > 0) await run(runtime, `del ${left.join(", ")}`)
      if (arm === "karst-py") await run(runtime, `table = pd.read_csv(${JSON.stringify(table.file)})`)
      return runtime
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(kernels).map((runtime) => runtime.close()))
    },
  }
}

async function run(runtime: Runtime, code: string): Promise<void> {
  const execution = await runtime.execute(code)
  if (!execution.ok) throw new Error(`The kernel could not be prepared: ${execution.error.message}`)
}
