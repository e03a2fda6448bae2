// Reads the multi-turn tasks of BFCL, the documentation of their functions, and the recorded results.
import type { Json, JsonSchema } from "karst"
import { errorText, filesLike, mustHaveTasks, readJson } from "../harness/data.ts"
import type { Skipped } from "../harness/suite.ts"
import type { ReplayCall, ReplayTask, ReplayTurn } from "../replay/task.ts"
import { firstSentence, type TrimmedSchema, trimSchema } from "../replay/trim-schema.ts"
import { parsePythonCall } from "./python-call.ts"

export interface BfclTask {
  conversation: ReplayTask
  /** The functions of the services that the task has, without those that it excludes. */
  functions: BfclFunction[]
}

export interface BfclFunction {
  name: string
  description: string
  input: TrimmedSchema
  output: JsonSchema
}

interface TaskData {
  id: string
  question: { role: string; content: string }[][]
  involved_classes: string[]
  excluded_function?: string[]
}

interface RecordedData {
  id: string
  turns: { call: string; result: string }[][]
}

interface FunctionData {
  name: string
  description: string
  parameters: Json
  response?: Json
}

export interface BfclData {
  tasks: BfclTask[]
  /** The tasks with a call that cannot be read. */
  skipped: Skipped[]
}

/** Reads each `<name>.json` that has a `<name>.recorded_results.json`. */
export async function readBfcl(folder: string): Promise<BfclData> {
  const documents = await readJson<Record<string, FunctionData[]>>(folder, "func_doc.json")
  const tasks: BfclTask[] = []
  const skipped: Skipped[] = []
  for (const file of filesLike(folder, "*.recorded_results.json")) {
    const recorded = await readJson<RecordedData[]>(folder, file)
    const data = await readJson<TaskData[]>(folder, file.replace(".recorded_results", ""))
    for (const { id, turns } of recorded) {
      try {
        const task = data.find((each) => each.id === id)
        if (!task) throw new Error(`${file.replace(".recorded_results", "")} does not have it`)
        tasks.push(toTask(task, turns, documents))
      } catch (error) {
        skipped.push({ what: id, why: errorText(error) })
      }
    }
    const known = new Set(recorded.map(({ id }) => id))
    const others = data.filter(({ id }) => !known.has(id))
    skipped.push(...others.map(({ id }) => ({ what: id, why: `${file} has no results of it` })))
  }
  mustHaveTasks(tasks, folder, "<name>.json with <name>.recorded_results.json")
  return { tasks, skipped }
}

function toTask(data: TaskData, recorded: RecordedData["turns"], documents: Record<string, FunctionData[]>): BfclTask {
  const { id, question, involved_classes, excluded_function = [] } = data
  const functions = involved_classes
    .flatMap((service) => documents[documentNames[service] ?? service] ?? [])
    .filter(({ name }) => !excluded_function.includes(name))
    .map(toFunction)
  const turns = question.map((messages, index): ReplayTurn => {
    const calls = (recorded[index] ?? []).map(({ call, result }) => toCall(call, result, functions))
    for (const call of calls) widenTypes(call, functions)
    const last = calls.at(-1)?.result ?? ""
    return { user: messages.map(({ content }) => content).join("\n"), calls, answer: `Done. ${last.slice(0, 300)}` }
  })
  return { conversation: { id, turns }, functions }
}

const documentNames: Record<string, string> = {
  GorillaFileSystem: "gorilla_file_system",
  MathAPI: "math_api",
  MessageAPI: "message_api",
  TicketAPI: "ticket_api",
  TradingBot: "trading_bot",
  TravelAPI: "travel_booking",
  TwitterAPI: "posting_api",
  VehicleControlAPI: "vehicle_control",
}

function toFunction({ name, description, parameters, response }: FunctionData): BfclFunction {
  const own = description.replace(/^.*?Tool description: /s, "")
  return { name, description: firstSentence(own), input: trimSchema(parameters), output: trimSchema(response ?? {}) }
}

/** Some recorded calls have arguments of another type than the documentation says. The services accept them, so the
 *  declaration of that parameter loses its type, in all styles. */
function widenTypes({ name, input }: ReplayCall, functions: readonly BfclFunction[]): void {
  const parameters = functions.find((each) => each.name === name)?.input.properties ?? {}
  for (const [key, value] of Object.entries(input)) {
    const type = parameters[key]?.type
    if (typeof type === "string" && !hasType(value, type)) parameters[key] = {}
  }
}

function hasType(value: Json, type: string): boolean {
  if (type === "array") return Array.isArray(value)
  if (type === "integer") return Number.isInteger(value)
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value)
  return typeof value === type
}

/** A recorded call. Positional arguments get the names of the documentation. */
function toCall(text: string, recorded: string, functions: readonly BfclFunction[]): ReplayCall {
  const { name, positional, named } = parsePythonCall(text)
  const names = Object.keys(functions.find((each) => each.name === name)?.input.properties ?? {})
  const input = {
    ...Object.fromEntries(positional.map((value, index) => [names[index] ?? `argument${index}`, value])),
    ...named,
  }
  // All styles show a result in the same way: as JSON without spaces.
  return { name, input, result: JSON.stringify(JSON.parse(recorded)), fails: false, writes: !reads(name) }
}

/** Whether a function only looks something up or computes. All others are taken to change something. */
export function reads(name: string): boolean {
  return readingPrefix.test(name) || readingFunctions.has(name)
}

const readingPrefix =
  /^(?:get|list|find|display|check|estimate|view|search|compute|verify|retrieve|filter)(?=_|[A-Z]|$)/

const readingFunctions = new Set([
  ...["ls", "cat", "grep", "du", "wc", "tail", "diff", "pwd", "sort", "gallon_to_liter", "liter_to_gallon"],
  ...["absolute_value", "add", "divide", "imperial_si_conversion", "logarithm", "max_value", "mean", "min_value"],
  ...["multiply", "percentage", "power", "round_number", "si_unit_conversion", "square_root", "standard_deviation"],
  ...["subtract", "sum_values", "ticket_get_login_status", "trading_get_login_status", "posting_get_login_status"],
  ...["travel_get_login_status", "message_get_login_status"],
])
