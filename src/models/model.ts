import type { Json, JsonSchema } from "../core/json.ts"
import type { Message } from "../core/message.ts"
import type { Price, Usage } from "../core/usage.ts"

/** A language model. One method; streaming is the only form, everything else is derived from it. */
export interface Model {
  /** `provider/name`, for people and for price lists. */
  id: string
  /** Tokens the model can read at once, where it is known. */
  contextWindow?: number | undefined
  /** What its tokens cost, where it is known. */
  price?: Price | undefined
  /** Streams one answer. The last part is always one `finish`; an iterable that ends without it was cut. Throws a
   *  `ModelError` for what the service did, an `AbortError` when `signal` fired. Closing the iterator early ends the
   *  request. Calls are independent: one model may stream many answers at once. */
  stream(request: ModelRequest): AsyncIterable<ModelPart>
}

export interface ModelRequest {
  system: string
  /** Code and its results are still parts here; an adapter sends code as `fenced` text and a result as user text. */
  messages: readonly Message[]
  tools?: readonly ToolSpec[] | undefined
  signal?: AbortSignal | undefined
  /** Called at every sign of life that is no part: the response has begun, a ping, a piece of a tool call. */
  alive?: (() => void) | undefined
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  /** Told of each retry before its delay, by a model that retries. */
  onRetry?: ((retry: { attempt: number; delayMs: number; error: Error }) => void) | undefined
  /** Told what the host should know beside the answer, such as an endpoint that was left for another. */
  onWarning?: ((warning: { code: string; message: string }) => void) | undefined
  /** Handed to the provider untouched. */
  providerOptions?: { [provider: string]: { [key: string]: Json } } | undefined
}

export interface ToolSpec {
  name: string
  description: string
  input: JsonSchema
}

/** Text and reasoning come in pieces. A reasoning part with `provider` ends its block: what the provider wants back
 *  belongs to the text since the last such part, and reasoning after it is a block of its own. */
export type ModelPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string; provider?: { [key: string]: Json } }
  | { type: "tool-call"; id: string; name: string; input: Json; provider?: { [key: string]: Json } }
  | { type: "finish"; reason: FinishReason; usage: Usage }

export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "error" | "other"
