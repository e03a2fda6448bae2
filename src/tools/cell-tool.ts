// Lets cells call tools as functions, with the same validation, call gate and context as tool calls.
import { AgentError } from "../core/errors.ts"
import { newId } from "../core/message.ts"
import { createRunField, parentForNewRun, type RunContext } from "../core/run-context.ts"
import { currentCall } from "../runtime/bindings/gated-call.ts"
import { type FunctionBinding, fn } from "../runtime/bindings.ts"
import type { StandardSchema } from "../runtime/runtime.ts"
import { memoryWorkspace } from "../workspaces/memory.ts"
import type { Tool, ToolContext, ToolDefinition } from "./tool.ts"
import { createToolState } from "./tool-state.ts"

/** What a run provides to tools that its cells call. */
export interface CellToolEnvironment {
  /** The context that the run's tool calls get. */
  context(): Promise<Pick<ToolContext, "workspace" | "state" | "messages">>
  /** Returns true if the run's policy allows the tool. */
  allows(tool: Tool): boolean
}

const cellToolEnvironments = createRunField<CellToolEnvironment>()

/** Sets what tools get when cells of a run call them. */
export function setCellToolContext(run: RunContext, environment: CellToolEnvironment): void {
  cellToolEnvironments.set(run, environment)
}

/** Makes a function binding of a tool. `toValue` converts the tool's result to what the cell gets, or throws. */
export function cellFunction(
  tool: Tool,
  output: ToolDefinition["output"],
  toValue: (given: unknown) => unknown,
): FunctionBinding {
  const { description, options } = tool
  const { approve, maxCalls, timeoutMs, idempotent, unknown, sideEffect = true } = options
  const journal = options.journal ?? (sideEffect ? undefined : false)
  const call = async (input: unknown) => toValue(await tool.run(input, await createToolContext(tool)))
  const callOptions = { approve, maxCalls, timeoutMs, idempotent, unknown, journal }
  return fn(call, { description, input: inputSchemaOf(tool), output, ...callOptions })
}

async function createToolContext(tool: Tool): Promise<ToolContext> {
  const call = currentCall()
  const run = parentForNewRun()?.parent
  const environment = run && cellToolEnvironments.get(run)
  if (environment && !environment.allows(tool)) {
    throw new AgentError(`The tool "${tool.name}" may not be used in this run.`, { code: "unknown-tool" })
  }
  const context = environment ? await environment.context() : emptyContext()
  return {
    ...context,
    call: call?.id ?? newId("call"),
    signal: call?.signal ?? new AbortController().signal,
    // The output of a cell shows its progress.
    progress() {},
  }
}

// A tool without required input can be called without an argument.
function inputSchemaOf(tool: Tool): StandardSchema {
  const shown = () => tool.input
  return {
    "~standard": {
      version: 1,
      vendor: "karst",
      async validate(value) {
        const validation = await tool.accept(value ?? {})
        return validation.ok ? { value: validation.value } : { issues: [{ message: validation.message }] }
      },
      jsonSchema: { input: shown, output: shown },
    },
  }
}

// Outside of a run there are no files and no lasting state.
function emptyContext(): Pick<ToolContext, "workspace" | "state"> {
  return { workspace: memoryWorkspace(), state: createToolState() }
}
