// The main module: agents, runtimes, bindings, tools, skills, guardrails, errors and the types they share. It loads no
// optional package before it is used.

export type { Approver } from "./actions/approval.ts"
export type { CallContext, HookContext, Hooks } from "./actions/hooks.ts"
export type { ToolPolicy } from "./actions/tool-policy.ts"
export type { AgentOptions } from "./agent/agent-config.ts"
export {
  type CodeAgent,
  type CodeRun,
  type CodeRunOptions,
  type CodeSession,
  type CodeSessionOptions,
  createAgent,
} from "./agent/create-agent.ts"
export { type Guardrail, guardInput, guardOutput, type ValidateOptions, validateOutput } from "./agent/guardrails.ts"
export type { AgentResult, Outputs, ResultWith } from "./agent/outputs.ts"
export { defaultSections, type PromptContext, type PromptSections } from "./agent/prompt/system-prompt.ts"
export type {
  Agent,
  Completion,
  Decision,
  ForkOptions,
  Limits,
  LiveObjects,
  Run,
  RunOptions,
  RunResult,
  Session,
  SessionBudget,
  SessionOptions,
} from "./core/agent.ts"
export type { AgentSpec } from "./core/agent-spec.ts"
export type { CsvRow } from "./core/data-files/csv.ts"
export { readRows } from "./core/data-files/read-data-file.ts"
export {
  AbortError,
  AgentError,
  ConfigError,
  ConflictError,
  type ErrorData,
  MissingPackageError,
  ModelError,
  type ModelErrorCode,
  ProviderError,
  type ProviderErrorCode,
  UnsupportedError,
} from "./core/errors.ts"
export {
  type ActionError,
  type AgentEvent,
  type EventOf,
  type EventType,
  isDelta,
  type Metadata,
  type Pending,
  type PendingApproval,
  type Status,
  type StopReason,
} from "./core/event.ts"
export type { Json, JsonSchema } from "./core/json.ts"
export {
  type AssistantMessage,
  type CodePart,
  type CodeResultPart,
  fenced,
  type ImagePart,
  type Message,
  messageText,
  type Prompt,
  type ReasoningPart,
  type ResultMessage,
  type SummaryPart,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  type UserMessage,
} from "./core/message.ts"
export type { PromptLanguage } from "./core/prompt-texts.ts"
export { outsideRuns } from "./core/run-context.ts"
export { addUsage, totalTokens, type Usage } from "./core/usage.ts"
export type { Verdict } from "./core/verdict.ts"
export type { MemoryOptions } from "./memory.ts"
export type { ModelSource } from "./models/model-source.ts"
export type { CellAgent } from "./runtime/bindings/cell-agent.ts"
export { currentCall } from "./runtime/bindings/gated-call.ts"
export {
  type Bindings,
  type CallOptions,
  type ClassTypeOptions,
  classType,
  type FunctionBinding,
  type FunctionOptions,
  fn,
  type SchemaLike,
  type TypeBinding,
  type VariableBinding,
  type VariableOptions,
  variable,
} from "./runtime/bindings.ts"
export { type JsRuntimeOptions, jsRuntime } from "./runtime/js.ts"
export type {
  CallGate,
  CellExecution,
  CellOptions,
  Runtime,
  RuntimeCall,
  RuntimeLoss,
  RuntimeName,
  RuntimeSnapshot,
  StandardSchema,
} from "./runtime/runtime.ts"
export { type Codec, type Codecs, codec } from "./runtime/snapshot/codec.ts"
export type {
  RuntimeContext,
  RuntimeFactory,
  RuntimeOf,
  RuntimeSource,
  TypedRuntime,
  ValuesOf,
} from "./runtime/typed-runtime.ts"
export { type LoadedSkills, loadSkills, type Skill, type SkillOptions, type SkillSource, skill } from "./skills.ts"
export {
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolOptions,
  type ToolResult,
  tool,
  toolFailure,
  toolResult,
} from "./tools/tool.ts"
