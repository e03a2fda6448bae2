// Names and attributes of spans, following the OpenTelemetry GenAI conventions. `otel.ts` adds the attributes of cycles
// and the texts of messages.
import type { EventOf } from "../core/event.ts"
import type { ImagePart, Message } from "../core/message.ts"
import type { Usage } from "../core/usage.ts"

/** The version of the conventions used here. */
export const schemaUrl = "https://opentelemetry.io/schemas/1.41.0"

type Attributes = Record<string, string | number | boolean | string[]>

export interface SpanStart {
  name: string
  attributes: Attributes
}

/** The names of spans, and the attributes known when they start. `tool`: the model calls a tool; `cell`: the model's
 *  code; `call`: code in a cell calls a binding. */
export const describeSpan = {
  run({ agent, run, model }: EventOf<"run-start">): SpanStart {
    return spanStart("invoke_agent", agent, { "gen_ai.agent.name": agent, "karst.run": run, ...modelAttributes(model) })
  },
  chat(model: string | undefined): SpanStart {
    const attributes = modelAttributes(model)
    return spanStart("chat", String(attributes["gen_ai.request.model"] ?? "model"), attributes)
  },
  tool({ id, name, input }: EventOf<"tool-start">, includeContent: boolean): SpanStart {
    return toolSpanStart(id, name, includeContent ? JSON.stringify(input) : undefined)
  },
  /** A cell is reported as a call of a tool named `code`. */
  cell(id: string, code: string | undefined): SpanStart {
    return toolSpanStart(id, "code", code)
  },
  call({ id, call }: EventOf<"call-start">, includeContent: boolean): SpanStart {
    const name = call.method === undefined ? call.binding : `${call.binding}.${call.method}`
    return {
      name: `call ${name}`,
      attributes: { "karst.call": name, ...(includeContent && { "karst.call.args": call.args }), "karst.call.id": id },
    }
  },
}

function spanStart(operation: string, subject: string, attributes: Attributes): SpanStart {
  return { name: `${operation} ${subject}`, attributes: { "gen_ai.operation.name": operation, ...attributes } }
}

function toolSpanStart(id: string, name: string, args: string | undefined): SpanStart {
  return spanStart("execute_tool", name, {
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.id": id,
    "gen_ai.tool.type": "function",
    ...(args !== undefined && { "gen_ai.tool.call.arguments": args }),
  })
}

// Accepts `openai/gpt-5.2` and `openai-compatible:<base URL>#<model>`.
function modelAttributes(id: string | undefined): Attributes {
  if (id === undefined) return {}
  const [, provider = "_OTHER", model = id] = /^([^/:]+)(?:\/|:.*#)(.+)$/.exec(id) ?? []
  return { "gen_ai.provider.name": providers[provider] ?? provider, "gen_ai.request.model": model }
}

// Providers that have another name in the conventions.
const providers: { [provider: string]: string } = {
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  mistral: "mistral_ai",
  xai: "x_ai",
}

/** Returns the attributes known when the answer has arrived. */
export function chatAttributes(answer: EventOf<"message-end"> | undefined, firstChunkMs?: number): Attributes {
  return {
    "gen_ai.request.stream": true,
    ...(firstChunkMs !== undefined && { "gen_ai.response.time_to_first_chunk": firstChunkMs / 1000 }),
    ...(answer && { "gen_ai.response.finish_reasons": [answer.finish], ...usageAttributes(answer.usage) }),
  }
}

export function usageAttributes(usage: Usage): Attributes {
  const counts = {
    "gen_ai.usage.input_tokens": usage.input,
    "gen_ai.usage.output_tokens": usage.output,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    "karst.usage.cost_usd": usage.costUsd,
  }
  const attributes: Attributes = { "karst.usage.complete": usage.complete }
  for (const [name, count] of Object.entries(counts)) if (count !== undefined) attributes[name] = count
  return attributes
}

export function errorAttributes({ type }: { type: string }): Attributes {
  return { "error.type": type }
}

/** Returns a system prompt as the JSON of the conventions. */
export function systemJson(system: string): string {
  return JSON.stringify([{ type: "text", content: system }])
}

/** Returns messages as the JSON of the conventions. A cell becomes a call of the tool `code`. */
export function messagesJson(messages: readonly Message[], finish?: string): string {
  const shown = messages.map(({ role, parts }) => ({
    role: role === "result" ? "tool" : role,
    parts: parts.map(partOf),
    ...(finish !== undefined && { finish_reason: finish }),
  }))
  return JSON.stringify(shown)
}

function partOf(part: Message["parts"][number]): object {
  switch (part.type) {
    case "text":
    case "summary":
      return { type: "text", content: part.text }
    case "reasoning":
      return { type: "reasoning", content: part.text }
    case "code":
      return { type: "tool_call", id: part.id, name: "code", arguments: { code: part.code } }
    case "tool-call":
      return { type: "tool_call", id: part.id, name: part.name, arguments: part.input }
    case "code-result":
    case "tool-result":
      return { type: "tool_call_response", id: part.id, response: part.text }
    case "image":
      return imagePart(part)
  }
}

// The bytes of an image are left out.
function imagePart({ mediaType, data }: ImagePart): object {
  if (/^https?:/.test(data)) return { type: "uri", modality: "image", mime_type: mediaType, uri: data }
  return { type: "blob", modality: "image", mime_type: mediaType, content: "" }
}
