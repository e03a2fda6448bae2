// The main module: agents, runtimes, bindings, tools, skills, guardrails, errors and the types they share. It loads no
// optional package before it is used.

export type { Approver, ApproverOption } from "./actions/approval.ts"
export type { AfterCall, BeforeCall, CallContext, CallOutcome, HookContext, Hooks } from "./actions/hooks.ts"
export type {
  AfterCycle,
  AfterModel,
  AfterRun,
  BeforeModel,
  BeforeRun,
  CycleEnding,
  ModelAnswer,
  ModelTurn,
  RunEnding,
  RunHooks,
  RunStart,
  Stop,
} from "./actions/run-hooks.ts"
export type { ToolPolicy } from "./actions/tool-policy.ts"
export type { AgentOptions, NoToolPolicy } from "./agent/agent-config.ts"
export {
  type CodeAgent,
  type CodeRunOptions,
  type CodeSession,
  type CodeSessionOptions,
  createAgent,
} from "./agent/create-agent.ts"
export {
  type Guarded,
  type Guardrail,
  guardInput,
  guardOutput,
  type OutputCheck,
  type ValidateOptions,
  validateOutput,
} from "./agent/guardrails.ts"
export type { AgentResult, ObjectsOf, OutputOptions, Outputs, ResultWith } from "./agent/outputs.ts"
export { defaultSections, type PromptContext, type PromptSections } from "./agent/prompt/system-prompt.ts"
export type { Verify } from "./agent/run/verify.ts"
export type {
  Agent,
  AgentOverrides,
  Completion,
  Decision,
  Limits,
  LiveObjects,
  QueuedRun,
  Run,
  RunOptions,
  RunResult,
  Session,
  SessionOptions,
  Todo,
} from "./core/agent.ts"
export type { AgentSpec } from "./core/agent-spec.ts"
export {
  AbortError,
  AgentError,
  ConfigError,
  ConflictError,
  type ErrorData,
  MissingPeerError,
  ModelError,
  type ModelErrorCode,
  ProviderError,
  type ProviderErrorCode,
  UnsupportedError,
} from "./core/errors.ts"
export {
  type ActionError,
  type ActionErrorKind,
  type AgentEvent,
  type CallPreview,
  type EventOf,
  type EventType,
  isDelta,
  type Metadata,
  type NameChanges,
  type Pending,
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
  type PromptPart,
  type ReasoningPart,
  type ResultMessage,
  type SummaryPart,
  type SummarySections,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  type UserMessage,
} from "./core/message.ts"
export { outsideRuns } from "./core/run-context.ts"
export { addUsage, type Price, totalTokens, type Usage } from "./core/usage.ts"
export type { Judgement, Verdict } from "./core/verdict.ts"
export type { Compacted, CompactHooks, FullConversation, MemoryOptions } from "./memory.ts"
export type { AgentReply, CellAgent, CellRunOptions, CellTask } from "./runtime/bindings/cell-agent.ts"
export { currentCall } from "./runtime/bindings/gated-call.ts"
export {
  type Bindings,
  type CallOptions,
  type ClassTypeOptions,
  classType,
  type FunctionOptions,
  fn,
  type MethodGuard,
  type SchemaLike,
  type UnknownPolicy,
  type VariableOptions,
  variable,
} from "./runtime/bindings.ts"
export type { CellEnv } from "./runtime/js/ambient/cell-env.ts"
export { type JsRuntimeOptions, jsRuntime } from "./runtime/js.ts"
export type {
  ApprovalCondition,
  CallGate,
  CellExecuted,
  CellExecution,
  CellNotExecuted,
  CellOptions,
  CellOutput,
  PauseSignal,
  Runtime,
  RuntimeCall,
  RuntimeLoss,
  RuntimeMakeCall,
  RuntimeName,
  RuntimeSnapshot,
  RuntimeSource,
  StandardSchema,
  TypedRuntime,
  TypeGateMode,
} from "./runtime/runtime.ts"
export { type Codec, type CodecMethods, type Codecs, codec } from "./runtime/snapshot/codec.ts"
export {
  type LoadedSkills,
  loadSkills,
  type Skill,
  type SkillBindings,
  type SkillFile,
  type SkillOptions,
  type SkillPath,
  type SkillProblem,
  type SkillSource,
  skill,
} from "./skills.ts"
export {
  type Directive,
  type InputOf,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolOptions,
  type ToolResult,
  type ToolState,
  tool,
  toolFailure,
  toolResult,
} from "./tools/tool.ts"
