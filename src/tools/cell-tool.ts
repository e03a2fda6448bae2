import { AgentError } from "../core/errors.ts"
import { newId } from "../core/message.ts"
import { createRunField, parentForNewRun, type RunContext } from "../core/run-context.ts"
import { currentCall } from "../runtime/bindings/gated-call.ts"
import { type FunctionBinding, fn } from "../runtime/bindings.ts"
import type { StandardSchema } from "../runtime/runtime.ts"
import { memoryWorkspace } from "../workspaces/memory.ts"
import type { Tool, ToolContext, ToolDefinition } from "./tool.ts"
import { createToolState } from "./tool-state.ts"

/** What a run gives to tools that its cells call as functions. */
export interface CellToolEnvironment {
  /** The same that its tool calls work with. */
  context(): Promise<Pick<ToolContext, "workspace" | "state" | "messages">>
  /** Whether its policy lets it use the tool. */
  allows(tool: Tool): boolean
}

const cellToolEnvironments = createRunField<CellToolEnvironment>()

/** Says what the tools in the cells of a run work with. */
export function setCellToolContext(run: RunContext, ground: CellToolEnvironment): void {
  cellToolEnvironments.set(run, ground)
}

/** A tool as a function in a cell: the same validation, the same gate, the same context. `toValue` gives what the cell
 *  gets of a result, or throws. */
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
  const ground = run && cellToolEnvironments.get(run)
  if (ground && !ground.allows(tool)) {
    throw new AgentError(`The tool "${tool.name}" may not be used in this run.`, { code: "unknown-tool" })
  }
  const context = ground ? await ground.context() : emptyContext()
  return {
    ...context,
    call: call?.id ?? newId("call"),
    signal: call?.signal ?? new AbortController().signal,
    // A cell has its own way to tell how far it is.
    progress() {},
  }
}

// A tool without required input may be called with nothing.
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

// Outside of any run there are no files, and nothing is remembered.
function emptyContext(): Pick<ToolContext, "workspace" | "state"> {
  return { workspace: memoryWorkspace(), state: createToolState() }
}
