// Serves a runtime as the tools `describe`, `run`, `inspect` and `wait`.
import type { CallToolResult } from "@modelcontextprotocol/server"
import { rejectOnAbort } from "../../core/abort.ts"
import { errorData } from "../../core/errors.ts"
import type { Json, JsonSchema } from "../../core/json.ts"
import { resultWithin } from "../../core/time-limit.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { validateArguments } from "../../runtime/schema/tool-arguments.ts"
import type { McpCall, ServeOptions } from "../mcp-types.ts"
import { toContent } from "../result-content.ts"
import type { CallHost } from "./call-host.ts"
import { type ClientCellCall, type ClientCells, createClientCells } from "./client-cells.ts"

export function createRuntimeTools(runtime: Runtime, options: ServeOptions) {
  const cells = createClientCells(runtime, options)
  const { answerTimeoutMs = 40_000 } = options
  const listed = runtimeToolList(runtime.language)
  const handlers: Record<string, Handler> = {
    describe: ({ input }, _host, { signal }) => answerInTime(runtime.describe(namesIn(input)), signal, answerTimeoutMs),
    run: ({ id, input }, host, cellCall) => cells.run(id, textIn(input, "code"), host, cellCall),
    inspect: (call, host, cellCall) => inspect(runtime, cells, call, host, cellCall, answerTimeoutMs),
    async wait({ input }, _host, cellCall) {
      const cell = textIn(input, "cell")
      return (
        (await cells.wait(cell, cellCall)) ??
        failure(`There is no cell "${cell}" to wait for: its result was given, or it never ran.`)
      )
    },
  }
  return {
    listed,
    /** Returns undefined if the tool is not one of these. */
    call(call: McpCall, host: CallHost, cellCall: ClientCellCall): Promise<CallToolResult> | undefined {
      const tool = listed.find(({ name }) => name === call.tool)
      const handler = handlers[call.tool]
      if (!tool || !handler) return undefined
      return withCheckedInput(tool.inputSchema, call, (input) => handler({ ...call, input }, host, cellCall))
    },
    /** General instructions for clients; `instructions()` adds the current declarations. */
    usage: usageText,
    instructions: async (): Promise<string> => instructions(runtime.language, await runtime.describe()),
    close: cells.close,
  }
}

async function withCheckedInput(
  schema: JsonSchema,
  { input }: McpCall,
  work: (input: Json) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const validation = await validateArguments<Json>(schema, schema, input)
  return validation.ok ? work(validation.value) : failure(`Invalid input: ${validation.message}`)
}

/** A tool as clients see it. */
export interface ListedTool {
  name: string
  description: string
  inputSchema: JsonSchema & { type: "object" }
  annotations?: { readOnlyHint: boolean }
}

type Handler = (call: McpCall, host: CallHost, cellCall: ClientCellCall) => Promise<CallToolResult>

async function inspect(
  runtime: Runtime,
  cells: ClientCells,
  { id, input }: McpCall,
  host: CallHost,
  cellCall: ClientCellCall,
  withinMs: number,
): Promise<CallToolResult> {
  const name = textIn(input, "name")
  if (name === "") return answerInTime(describeNames(runtime), cellCall.signal, withinMs)
  if (!valuePath.test(name)) {
    return failure(`"${name}" is not the name of a value. Give one such as users or users[0].email; use run for code.`)
  }
  return cells.run(id, name, host, cellCall)
}

const valuePath =
  /^[\p{ID_Start}_$][\p{ID_Continue}$]*(?:\.[\p{ID_Start}_$][\p{ID_Continue}$]*|\[\d+\]|\["[^"\\\n]*"\])*$/u

async function describeNames(runtime: Runtime): Promise<string> {
  const names = await runtime.names()
  const lines = names.map(({ name, kind, type, size, injected }) => {
    const about = [kind, ...(size === undefined ? [] : [`size ${size}`]), ...(injected ? [] : ["made by a cell"])]
    return `${name}: ${type} (${about.join(", ")})`
  })
  return lines.join("\n") || "There is nothing in the runtime yet."
}

/** Answers a question to the runtime, which may be busy with a cell. */
async function answerInTime(work: Promise<string>, signal: AbortSignal, withinMs: number): Promise<CallToolResult> {
  try {
    const text = await rejectOnAbort(resultWithin(work, withinMs), signal)
    return text === undefined
      ? failure("The runtime is busy with another cell. Try again.")
      : { content: toContent(text || "There is nothing in the runtime yet.") }
  } catch (error) {
    return failure(errorData(error).message)
  }
}

function failure(text: string): CallToolResult {
  return { content: toContent(text), isError: true }
}

function textIn(input: unknown, name: string): string {
  const value: unknown = typeof input === "object" && input !== null ? Reflect.get(input, name) : undefined
  return typeof value === "string" ? value : ""
}

function namesIn(input: unknown): string[] | undefined {
  const names: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "names") : undefined
  return Array.isArray(names) ? names.map(String) : undefined
}

function runtimeToolList(language: Runtime["language"]): ListedTool[] {
  const title = language === "python" ? "Python" : "TypeScript"
  const text = (description: string) => ({ type: "string", description })
  const readOnlyHint = true
  return [
    {
      name: "describe",
      description: `Declarations of the live objects in the ${title} session that run works on: names, types and docs. Look here before you write code.`,
      inputSchema: {
        type: "object",
        properties: { names: { type: "array", items: { type: "string" }, description: "Only these. Default: all." } },
        additionalProperties: false,
      },
      annotations: { readOnlyHint },
    },
    {
      name: "run",
      description: `Runs ${title} in a live session, like a cell of a notebook: names stay from cell to cell, the objects that describe shows are there by name, and changes to them are real. Gives what the code printed and the value of its last expression.${language === "python" ? "" : " Top-level await works; functions that are declared to return a Promise must be awaited."} A cell that takes long answers { status, cell }: then call wait.`,
      inputSchema: {
        type: "object",
        properties: { code: text(`${title}, one cell.`) },
        required: ["code"],
        additionalProperties: false,
      },
    },
    {
      name: "inspect",
      description: "Shows a value of the session, such as users or users[0].email; without a name, what there is.",
      inputSchema: { type: "object", properties: { name: text("Default: all names.") }, additionalProperties: false },
      annotations: { readOnlyHint },
    },
    {
      name: "wait",
      description: "Waits for a cell that was still running, or waited for approval, and gives its result.",
      inputSchema: {
        type: "object",
        properties: { cell: text("As run gave it.") },
        required: ["cell"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint },
    },
  ]
}

// Clients cut long instructions; `describe` returns everything.
const shownChars = 8000

const usageText =
  "Live objects of the user, in a session that stays. Work on them with the tool run; describe and inspect show what is there."

function instructions(language: Runtime["language"], declarations: string): string {
  const tag = language === "python" ? "python" : "ts"
  if (declarations === "") return usageText
  if (declarations.length > shownChars) return `${usageText} There is more than fits here: call describe first.`
  return `${usageText} In the session:\n\n\`\`\`${tag}\n${declarations}\n\`\`\``
}
