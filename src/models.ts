// karst/models: language models and what wraps them.

export type { Price } from "./core/usage.ts"
export { type AiSdkOptions, aiSdk } from "./models/ai-sdk.ts"
export { type HandModelOptions, handModel } from "./models/hand-model.ts"
export type { FinishReason, Model, ModelPart, ModelRequest, ReasoningEffort, ToolSpec } from "./models/model.ts"
export type { ModelSource } from "./models/model-source.ts"
export {
  type RecordedCall,
  type RecordOptions,
  type ReplayOptions,
  recordModel,
  replayModel,
} from "./models/recording.ts"
export { type ResolveOptions, resolveModel } from "./models/resolve.ts"
export { type ModelRetry, type RetryOptions, withRetry } from "./models/retry.ts"
export { type EndpointChange, type RotateOptions, rotateModels } from "./models/rotate.ts"
export {
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedOptions,
  type ScriptedStep,
  scriptedModel,
} from "./models/scripted.ts"
export { type TimeoutOptions, withTimeouts } from "./models/timeouts.ts"
