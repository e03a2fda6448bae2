// The front door. Names are listed one by one, and nothing here reaches an optional package before it is used.

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
export { type RunRecord, type Trajectory, trajectory } from "./core/trajectory.ts"
export { addUsage, type Price, totalTokens, type Usage } from "./core/usage.ts"
export type { Judgement, Verdict } from "./core/verdict.ts"
export type { Backend, BackendOptions, Job, StartOptions } from "./engine/backends/backend.ts"
export { type BullmqBackendOptions, bullmqBackend, type RedisConnection } from "./engine/backends/bullmq.ts"
export { inlineBackend } from "./engine/backends/inline.ts"
export { type WorkerBackendOptions, workerBackend } from "./engine/backends/worker.ts"
export type { RunStatus } from "./engine/checkpoint.ts"
export { createEngine, type Engine, type EngineOptions } from "./engine/engine.ts"
export type { ListFilter, RunInfo } from "./engine/run-info.ts"
export type { RetryPolicy } from "./engine/run-retries.ts"
export type { SessionQueue } from "./engine/session-queue.ts"
export type { SubmitOptions } from "./engine/submit.ts"
export type { WatchOptions } from "./engine/watch-run.ts"
export type { Compacted, CompactHooks, FullConversation, MemoryOptions } from "./memory.ts"
export { type AiSdkOptions, aiSdk } from "./models/ai-sdk.ts"
export type { FinishReason, Model, ModelPart, ModelRequest, ToolSpec } from "./models/model.ts"
export type { ModelSource } from "./models/model-source.ts"
export {
  type RecordedCall,
  type RecordOptions,
  type ReplayOptions,
  recordModel as record,
  replayModel as replay,
} from "./models/recording.ts"
export { type ResolveOptions, resolveModel as resolve } from "./models/resolve.ts"
export { type ModelRetry as Retry, type RetryOptions, withRetry as retry } from "./models/retry.ts"
export { type EndpointChange, type RotateOptions, rotateModels as rotate } from "./models/rotate.ts"
export {
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedOptions,
  type ScriptedStep,
  scriptedModel as scripted,
} from "./models/scripted.ts"
export { type TimeoutOptions, withTimeouts as timeouts } from "./models/timeouts.ts"
export type { AgentReply, CellAgent, CellRunOptions, CellTask } from "./runtime/bindings/cell-agent.ts"
export { currentCall } from "./runtime/bindings/gated-call.ts"
export type { UnknownPolicy } from "./runtime/bindings.ts"
export {
  type Bindings,
  type CallOptions,
  type ClassTypeOptions as TypeOptions,
  classType as type,
  type FunctionOptions,
  fn,
  type MethodGuard,
  type SchemaLike,
  type VariableOptions,
  variable,
} from "./runtime/bindings.ts"
export type { CellEnv } from "./runtime/js/ambient/cell-env.ts"
export { type JsRuntimeOptions, jsRuntime } from "./runtime/js.ts"
export {
  attributeRule,
  type FunctionRuleOptions,
  functionRule,
  importRule,
  type Rule,
  type RuleContext,
  type RuleData,
  type RuleNames as Names,
  type RuleOptions,
  type RuleViolation as Violation,
  regexRule,
} from "./runtime/rules/rules.ts"
export { safeRules } from "./runtime/rules/safe-rules.ts"
export type {
  ApprovalCondition as AskFirst,
  CallGate,
  CellExecuted as Executed,
  CellExecution as Execution,
  CellNotExecuted as NotExecuted,
  CellOptions as ExecuteOptions,
  CellOutput as OutputChunk,
  PauseSignal as Pauses,
  Runtime,
  RuntimeCall as Call,
  RuntimeLoss as Lost,
  RuntimeMakeCall as MakeCall,
  RuntimeName as Name,
  RuntimeSnapshot as Snapshot,
  RuntimeSource,
  StandardSchema,
  TypedRuntime,
  TypeGateMode,
} from "./runtime/runtime.ts"
export { type Codec, type CodecMethods, type Codecs, codec } from "./runtime/snapshot/codec.ts"
export { type Atif, type AtifStep, toAtif } from "./sessions/atif.ts"
export { loadSession } from "./sessions/load-session.ts"
export type { SessionOf } from "./sessions/session.ts"
export {
  type ArchiveOptions,
  type ArchiveSource,
  deleteSession,
  listSessions,
  type SessionInfo,
} from "./sessions/session-archive.ts"
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
export { memoryStore } from "./stores/memory-store.ts"
export { type RedisClient, type RedisStoreOptions, redisStore } from "./stores/redis-store.ts"
export { type SqliteStoreOptions, sqliteStore } from "./stores/sqlite-store.ts"
export type {
  Store,
  StoreAppend as Append,
  StoreChange as Change,
  StoreDelete as Delete,
  StoreEntry as Entry,
  StoreGuard as Guard,
  StorePut as Put,
} from "./stores/store.ts"

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
export { localWorkspace } from "./workspaces/local.ts"
export { memoryWorkspace } from "./workspaces/memory.ts"
export { overlayWorkspace as overlay } from "./workspaces/overlay.ts"
export { readOnlyWorkspace as readOnly } from "./workspaces/read-only.ts"
export type { S3Credentials, S3Options } from "./workspaces/s3/s3-options.ts"
export { s3Workspace } from "./workspaces/s3.ts"
export { scopedWorkspace as scoped } from "./workspaces/scoped.ts"
export type { FileData, FileInfo, Workspace } from "./workspaces/workspace.ts"
