// Converts errors of model providers to `ModelError`s with a code, an explanation and a fix.
import { AbortError, AgentError, isAbortError, ModelError, type ModelErrorCode } from "../core/errors.ts"
import { type FailureFacts, gatherFacts, retryAfterMs } from "./failure-facts.ts"

export interface FailureContext {
  /** The model's id, for the message. */
  id: string
  /** True if the error was a part of the answer's stream, so it certainly comes from the service. */
  streamed?: boolean | undefined
  /** Texts that must not appear in the message, such as the API key. */
  secrets?: readonly string[] | undefined
  now?: (() => number) | undefined
}

/** Converts an error that a provider threw or streamed. Failures that the service names (billing, context overflow, …)
 *  come first, then the HTTP status, the network error, the error's class name, other codes. Our own errors and
 *  unrecognized exceptions are returned unchanged; other aborts become an `AbortError` with the original as cause. A
 *  `ModelError` has no cause, because the provider's error contains the whole request. */
export function modelFailure(error: unknown, context: FailureContext): Error {
  if (error instanceof AgentError) return error
  if (isAbortError(error)) return new AbortError(undefined, { cause: error })
  if (isStreamCut(error)) return streamCutFailure(context.id)
  const facts = gatherFacts(error)
  const code = codeByServiceAnswer(facts) ?? codeByNetwork(error) ?? codeByName(facts) ?? codeByOtherCodes(facts)
  if (!code && error instanceof Error && !context.streamed) return error
  return createModelError(code ?? "server-error", facts, context)
}

/** The error for a stream that ended before the model had finished. */
export function streamCutFailure(id: string): ModelError {
  return new ModelError(`The stream of ${id} ended early, before the model had finished its answer.`, {
    code: "connection",
    retryable: true,
  })
}

/** Returns true for a provider's own error about a stream that ended early. */
export function isStreamCut(error: unknown): boolean {
  return error instanceof Error && /ended without a finish reason/i.test(error.message)
}

/** The error for a service that answered with a document instead of a stream. */
export function notAStreamFailure(id: string, contentType: string): ModelError {
  const facts = { ...gatherFacts({}), message: `a document of type ${contentType}, not a stream` }
  return createModelError("invalid-response", facts, { id })
}

const retryable = new Set<ModelErrorCode>(["rate-limited", "overloaded", "server-error", "connection", "timeout"])

const explanations: { [code in ModelErrorCode]?: [problem: string, fix: string] } = {
  "rate-limited": ["is rate limited", "Wait, or call it less often."],
  overloaded: ["is overloaded", "Try again later."],
  "server-error": ["failed on the service's side", "Try again later."],
  connection: ["could not be reached, or hung up", "Check the network and the base URL."],
  timeout: ["did not answer in time", "Try again later."],
  authentication: ["refused the API key", "Check the key, and what it is allowed to use."],
  billing: ["refused for want of credit", "Check the account's balance and plan; trying again does not help."],
  "not-found": ["was not found", "Check the model's name and the base URL."],
  "context-overflow": ["cannot read that much", "Shorten the conversation, or use a model with a larger window."],
  "content-filter": ["refused the content", "Change what is asked; trying again does not help."],
  "invalid-request": ["rejected the request", "Change the request; trying again does not help."],
  "invalid-response": ["answered with something unreadable", "Check that the base URL speaks the expected protocol."],
}

function createModelError(code: ModelErrorCode, facts: FailureFacts, context: FailureContext): ModelError {
  const [problem, fix] = explanations[code] ?? ["failed", ""]
  const status = facts.status ? ` (HTTP ${facts.status})` : ""
  const message = redact(facts.message, context.secrets ?? []).slice(0, 500)
  const quoted = message ? `: ${message.replace(/(?<![.\s])[.\s]+$/, "")}` : ""
  return new ModelError(`${context.id} ${problem}${status}${quoted}. ${fix}`.trim(), {
    code,
    retryable: retryable.has(code),
    status: facts.status,
    retryAfterMs: retryAfterMs(facts, context.now ?? Date.now),
  })
}

const billingCodes =
  /insufficient_(quota|balance|credit|funds)|billing|exceeded_current_quota|arrearage|payment_required|credit_balance/
const billingPhrases = /credit balance is too low|insufficient (balance|credits?|funds)|余额不足|欠费/i
const overflowCodes = /context_length|exceed_context|context_window|prompt_too_long|request_too_large/
const overflowPhrases =
  /(prompt|input|request|messages?) (is|are) too (long|large)|(maximum|max|model's) context|context (length|window|size)|too many (input )?tokens|input token count|reduce the length|exceeds? the (max|limit)[^.]*tokens|上下文(长度|窗口)?[^。]*(超|过长)|(输入|请求)[^。]*(过长|超过|超出)|超(出|过)[^。]*(上下文|最大长度|长度限制)/i
const filterCodes = /content_filter|content_policy|data_inspection|moderation|responsible_ai/
const keyPhrases = /api key not valid|(invalid|incorrect|missing) api key|api_key_invalid/i

function codeByServiceAnswer(facts: FailureFacts): ModelErrorCode | undefined {
  const { status, codes, text } = facts
  const isAmbiguous = status === undefined || status === 400 || status === 422
  if (status === 402 || billingCodes.test(codes)) return "billing"
  if ((isAmbiguous || status === 403 || status === 429) && billingPhrases.test(text)) return "billing"
  if (status === 413 || overflowCodes.test(codes) || (isAmbiguous && overflowPhrases.test(text)))
    return "context-overflow"
  if (filterCodes.test(codes) && (isAmbiguous || status === 403)) return "content-filter"
  if (isAmbiguous && keyPhrases.test(text)) return "authentication"
  if (status === undefined) return undefined
  if (status === 401 || status === 403) return "authentication"
  if (status === 404) return "not-found"
  if (status === 408) return "timeout"
  if (status === 429) return "rate-limited"
  if (status === 503 || status === 529) return "overloaded"
  return status >= 500 ? "server-error" : "invalid-request"
}

const networkCodes =
  /^(ECONN\w+|EPIPE|ENOTFOUND|EAI_\w+|ENET\w+|EHOST\w+|ConnectionRefused|ConnectionClosed|FailedToOpenSocket|UND_ERR_SOCKET)$/
const timeoutCodes = /^(ETIMEDOUT|UND_ERR_\w*TIMEOUT|TimeoutError)$/

function codeByNetwork(error: unknown): ModelErrorCode | undefined {
  let current = error
  for (let depth = 0; current instanceof Error && depth < 8; depth++) {
    const code = "code" in current && typeof current.code === "string" ? current.code : ""
    if (timeoutCodes.test(code) || current.name === "TimeoutError") return "timeout"
    if (networkCodes.test(code) || /^(fetch failed|failed to fetch|terminated)$/i.test(current.message))
      return "connection"
    current = current.cause
  }
  return undefined
}

// Compares names, not classes, because a provider may bundle its own copy of the AI SDK's error classes.
function codeByName({ name, text }: FailureFacts): ModelErrorCode | undefined {
  if (name === "AI_APICallError" && !/process (successful|error) response/i.test(text)) return "connection"
  return namedCodes.find(([pattern]) => pattern.test(name))?.[1]
}

const namedCodes: [RegExp, ModelErrorCode][] = [
  [
    /^AI_(APICall|InvalidResponseData|JSONParse|TypeValidation|EmptyResponseBody|NoContentGenerated)Error$/,
    "invalid-response",
  ],
  [/^AI_LoadAPIKeyError$/, "authentication"],
  [/^AI_NoSuchModelError$/, "not-found"],
  [/^AI_(LoadSetting|UnsupportedFunctionality|InvalidPrompt|InvalidArgument)Error$/, "invalid-request"],
]

const otherCodes: [RegExp, ModelErrorCode][] = [
  [/rate_?limit|too_many_requests|resource_exhausted|throttl/, "rate-limited"],
  [/overloaded|unavailable|capacity/, "overloaded"],
  [/authentication|unauthori[sz]ed|permission|invalid_api_key/, "authentication"],
  [/not_found/, "not-found"],
  [/timeout|deadline/, "timeout"],
  [/invalid|bad_request|failed_precondition/, "invalid-request"],
  [/server_error|api_error|internal/, "server-error"],
]

function codeByOtherCodes({ codes }: FailureFacts): ModelErrorCode | undefined {
  return otherCodes.find(([pattern]) => pattern.test(codes))?.[1]
}

const keyLike = /\b(?:Bearer\s+\S+|(?:sk|pk|rk|gsk|xai|hf|nvapi|csk|tgp)[-_][\w-]{12,}|AIza[\w-]{10,})/gi

function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) if (secret.length > 3) clean = clean.replaceAll(secret, "[key]")
  return clean.replace(keyLike, "[key]").replace(/\/\/[^/\s@]+@/g, "//[key]@")
}
