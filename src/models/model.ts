// The Model contract: what every language model implements.
import type { Json, JsonSchema } from "../core/json.ts"
import type { Message } from "../core/message.ts"
import type { Price, Usage } from "../core/usage.ts"

/** A language model. Streaming is its only method; everything else is derived from it. */
export interface Model {
  /** `provider/name`, for display and price lists. */
  id: string
  /** The number of tokens that the model can read, if known. */
  contextWindow?: number | undefined
  /** The price of its tokens, if known. */
  price?: Price | undefined
  /** Streams one answer. The last part is always one `finish`; a stream that ends without it was cut. Throws a
   *  `ModelError` for failures of the service, and an `AbortError` if `signal` fires. Closing the iterator early
   *  ends the request. Calls are independent: one model can stream many answers concurrently. */
  stream(request: ModelRequest): AsyncIterable<ModelPart>
}

export interface ModelRequest {
  system: string
  /** Contains code and results as parts. An adapter sends code as `fenced` text, and results as user text. */
  messages: readonly Message[]
  tools?: readonly ToolSpec[] | undefined
  signal?: AbortSignal | undefined
  /** Called for every sign of life that is not a part: the response has begun, a ping, a fragment of a tool call. */
  onActivity?: (() => void) | undefined
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  /** How much the model reasons before it answers, such as "low" or "high". Default: the model's. */
  reasoning?: ReasoningEffort | undefined
  /** Called before the delay of each retry, by models that retry. */
  onRetry?: ((retry: { attempt: number; delayMs: number; error: Error }) => void) | undefined
  /** Called with information for the host, such as a change of endpoint. */
  onWarning?: ((warning: { code: string; message: string }) => void) | undefined
  /** Passed to the provider unchanged. */
  providerOptions?: { [provider: string]: { [key: string]: Json } } | undefined
}

const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

export interface ToolSpec {
  name: string
  description: string
  input: JsonSchema
}

/** Text and reasoning arrive in pieces. A reasoning part with `provider` ends its block: the data belongs to the
 *  reasoning text since the last such part, and later reasoning is a new block. */
export type ModelPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string; provider?: { [key: string]: Json } }
  | { type: "tool-call"; id: string; name: string; input: Json; provider?: { [key: string]: Json } }
  | { type: "finish"; reason: FinishReason; usage: Usage }

export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "error" | "other"
