// The part of the AI SDK provider specification (V3 and V4) that Karst uses, written out so that our types need no AI
// SDK package.
import type { Json, JsonSchema } from "../core/json.ts"

/** An AI SDK language model. Any `openai("…")`, `anthropic("…")` and so on fits. */
export interface AiSdkModel {
  /** `"v4"` or `"v3"`. Models of other versions are refused. */
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: AiSdkCall): PromiseLike<AiSdkResult>
}

export interface AiSdkResult {
  stream: { getReader(): AiSdkReader }
  response?: { headers?: Record<string, string> | undefined } | undefined
}

/** Loosely typed, because V3 and V4 differ in how a prompt contains files. We send a `PromptMessage[]`. */
export interface AiSdkCall {
  prompt: unknown[]
  tools?: unknown[]
  toolChoice?: unknown
  maxOutputTokens?: number
  temperature?: number
  reasoning?: string
  providerOptions?: object
  abortSignal?: AbortSignal
}

export interface AiSdkReader {
  read(): Promise<{ done: boolean; value?: unknown }>
  cancel(reason?: unknown): Promise<void>
}

export type ProviderOptions = { [provider: string]: { [key: string]: Json } }

/** Data of a provider about a part, which it requires back with the part. */
interface WithOptions {
  providerOptions?: ProviderOptions
}

export type PromptMessage = WithOptions &
  (
    | { role: "system"; content: string }
    | { role: "user"; content: UserPart[] }
    | { role: "assistant"; content: AssistantPart[] }
    | { role: "tool"; content: ToolResult[] }
  )

export interface PromptText {
  type: "text"
  text: string
}

/** V4 wraps the data, V3 does not. */
export interface PromptFile {
  type: "file"
  mediaType: string
  data: { type: "data"; data: string } | { type: "url"; url: URL } | string | URL
}

export type UserPart = PromptText | PromptFile

export type AssistantPart =
  | PromptText
  | ({ type: "reasoning"; text: string } & WithOptions)
  | ({ type: "tool-call"; toolCallId: string; toolName: string; input: Json } & WithOptions)

export interface ToolResult {
  type: "tool-result"
  toolCallId: string
  toolName: string
  output: { type: "text" | "error-text"; value: string }
}

export interface PromptTool {
  type: "function"
  name: string
  description: string
  inputSchema: JsonSchema
}

/** The stream parts that are read. Parts of other types only show that the stream is alive. */
export type AiSdkPart =
  | { type: "text-delta"; delta: string }
  | { type: "reasoning-start" | "reasoning-end"; id: string; providerMetadata?: ProviderOptions }
  | { type: "reasoning-delta"; id: string; delta: string; providerMetadata?: ProviderOptions }
  | {
      type: "tool-call"
      toolCallId: string
      toolName: string
      input: string
      providerExecuted?: boolean
      providerMetadata?: ProviderOptions
    }
  | { type: "error"; error: unknown }
  | { type: "finish"; finishReason: AiSdkFinish; usage?: AiSdkUsage }

export interface AiSdkFinish {
  unified: string
  raw: string | undefined
}

export interface AiSdkUsage {
  inputTokens?: { total?: number | undefined; cacheRead?: number | undefined; cacheWrite?: number | undefined }
  outputTokens?: { total?: number | undefined; reasoning?: number | undefined }
}
