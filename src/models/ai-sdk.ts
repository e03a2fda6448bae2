// Uses an AI SDK language model as a `Model`.

import * as check from "../core/checks/check-options.ts"
import { mustBePrice } from "../core/checks/limit-checks.ts"
import { ConfigError } from "../core/errors.ts"
import { abortError } from "../core/run.ts"
import { type Price, withCost } from "../core/usage.ts"
import { createPartConverter, endedEarly, mergeOptions, toFinishReason, toUsage } from "./ai-sdk-parts.ts"
import { createPromptConverter, toPromptTools } from "./ai-sdk-prompt.ts"
import type { AiSdkCall, AiSdkModel, AiSdkPart, AiSdkReader, ProviderOptions } from "./ai-sdk-types.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"
import { isStreamCut, modelFailure, notAStreamFailure, streamCutFailure } from "./model-failure.ts"
import { closableStream } from "./model-stream.ts"
import { modelFacts } from "./prices.ts"
import { withoutImages, withoutRejectedImages } from "./without-images.ts"

export interface AiSdkOptions {
  /** The model's id in events, errors and traces. Default: `provider/model`, from the language model. */
  id?: string | undefined
  /** False: images are replaced by a line of text. Default true: images are sent unless the endpoint rejects them. */
  images?: boolean | undefined
  /** Default: from the built-in price list, if it has the model. */
  price?: Price | undefined
  /** Default: from the built-in list, if it has the model. */
  contextWindow?: number | undefined
  /** Sent with every request; options of the request itself win: `{ openai: { reasoningEffort: "low" } }`. */
  providerOptions?: ProviderOptions | undefined
  /** Texts that must not appear in errors, such as the API key. */
  secrets?: readonly string[] | undefined
}

const aiSdkChecks: check.OptionChecks<AiSdkOptions> = {
  id: check.mustBeText,
  images: check.mustBeBoolean,
  price: mustBePrice,
  contextWindow: check.mustBeIntegerFrom(1),
  providerOptions: check.mustBeObject,
  secrets: mustBeSecretList,
}

function mustBeSecretList(value: unknown): string | undefined {
  return Array.isArray(value) ? undefined : "is not a list of texts"
}

/** Makes a `Model` of an AI SDK language model of specification V4 or V3. Makes one request per stream: retries and
 *  time-outs are separate wrappers. */
export function aiSdk(languageModel: AiSdkModel, options: AiSdkOptions = {}): Model {
  check.checkOptions("aiSdk()", options, aiSdkChecks)
  const version = checkSpecificationVersion(languageModel)
  const ownId = `${languageModel.provider.split(".")[0]}/${languageModel.modelId}`
  const { id = ownId } = options
  const facts = modelFacts(id) ?? modelFacts(ownId)
  const { price = facts?.price, contextWindow = facts?.contextWindow, secrets } = options
  const toPrompt = createPromptConverter({ id: ownId, version })

  function call(request: ModelRequest, abortSignal: AbortSignal): AiSdkCall {
    if (request.reasoning !== undefined && version === "v3") request.onWarning?.(reasoningIgnored(id))
    const { tools, maxOutputTokens, temperature, reasoning } = request
    const providerOptions = mergeOptions(
      defaultProviderOptions(ownId),
      options.providerOptions,
      request.providerOptions,
    )
    return {
      prompt: toPrompt(request, cachePointOptions(languageModel, providerOptions)),
      abortSignal,
      providerOptions,
      ...(tools?.length && { tools: toPromptTools(tools), toolChoice: { type: "auto" } }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(reasoning !== undefined && version === "v4" && { reasoning }),
    }
  }

  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const http = new AbortController()
    let reader: AiSdkReader | undefined
    let started = false
    let finished = false
    // Cancelling resolves a pending read immediately, even if the provider ignores its signal.
    const stop = () => {
      http.abort()
      reader?.cancel().catch(() => {})
    }
    signal.addEventListener("abort", stop, { once: true })
    try {
      if (signal.aborted) throw abortError(signal)
      const opened = await openStream(languageModel, call(request, http.signal))
      reader = opened.reader
      if (signal.aborted) throw abortError(signal)
      const cut = () => (started ? streamCutFailure(id) : emptyAnswerFailure(id, opened.contentType))
      const read = createPartConverter(ownId)
      while (true) {
        request.onActivity?.()
        const { done, value } = await reader.read()
        if (signal.aborted) throw abortError(signal)
        if (done) throw cut()
        const part = value as AiSdkPart
        if (part.type === "error") {
          throw isStreamCut(part.error) ? cut() : modelFailure(part.error, { id, secrets, streamed: true })
        }
        if (part.type === "finish") {
          const usage = toUsage(part.usage, started)
          if (endedEarly(part.finishReason, usage)) throw cut()
          finished = true
          signal.removeEventListener("abort", stop)
          yield { type: "finish", reason: toFinishReason(part.finishReason), usage: withCost(usage, price) }
          return
        }
        const next = read(part)
        if (!next) continue
        started = true
        yield next
      }
    } catch (error) {
      throw signal.aborted ? abortError(signal) : modelFailure(error, { id, secrets })
    } finally {
      signal.removeEventListener("abort", stop)
      if (finished && reader) drainConnection(reader, stop)
      else stop()
    }
  }

  const model: Model = {
    id,
    price,
    contextWindow,
    stream: (request) => closableStream(request.signal, (signal) => answer(request, signal)),
  }
  return options.images === false ? withoutImages(model) : withoutRejectedImages(model)
}

function checkSpecificationVersion(model: AiSdkModel): "v3" | "v4" {
  const version: unknown = model?.specificationVersion
  if ((version === "v4" || version === "v3") && typeof model.doStream === "function") return version
  const found = version === undefined ? "something else" : `specification version "${String(version)}"`
  throw new ConfigError(
    `This is not a language model Karst can use: found ${found}, accepted are AI SDK language models of "v4" and "v3". ` +
      `Update the provider package (npm install @ai-sdk/<provider>@latest).`,
    { details: { found: String(version) } },
  )
}

interface OpenStream {
  reader: AiSdkReader
  contentType: string
}

// Races the request against the signal, because a provider may ignore its signal.
function openStream(model: AiSdkModel, call: AiSdkCall): Promise<OpenStream> {
  const { promise, resolve, reject } = Promise.withResolvers<OpenStream>()
  const signal = call.abortSignal
  const abort = () => reject(new DOMException("The request was closed.", "AbortError"))
  signal?.addEventListener("abort", abort, { once: true })
  async function begin(): Promise<void> {
    const { stream, response } = await model.doStream(call)
    const reader = stream.getReader()
    if (signal?.aborted) reader.cancel().catch(() => {})
    resolve({ reader, contentType: response?.headers?.["content-type"] ?? "" })
  }
  begin().catch(reject)
  return promise
}

// A wrong address often answers with a web page; retrying would not help.
function emptyAnswerFailure(id: string, contentType: string): Error {
  return /html|json|plain/.test(contentType) ? notAStreamFailure(id, contentType) : streamCutFailure(id)
}

// Reads the last bytes after the final part, so that the connection can be reused. Gives up after a second.
function drainConnection(reader: AiSdkReader, stop: () => void): void {
  const timer = setTimeout(stop, 1000)
  timer.unref()
  async function rest(): Promise<void> {
    while (!(await reader.read()).done);
  }
  rest()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}

// Anthropic sends keep-alive pings only on request.
function defaultProviderOptions(id: string): ProviderOptions {
  return id.startsWith("anthropic/") ? { anthropic: { includePings: true } } : {}
}

// Claude and Nova cache prompts only on request; other models cache by themselves.
function cachePointOptions({ provider, modelId }: AiSdkModel, given: ProviderOptions): ProviderOptions | undefined {
  if (provider.includes("anthropic")) {
    return { anthropic: { cacheControl: given.anthropic?.cacheControl ?? { type: "ephemeral" } } }
  }
  const cached = provider.startsWith("amazon-bedrock") && /claude|nova/.test(modelId)
  return cached ? { bedrock: { cachePoint: { type: "default" } } } : undefined
}

// Models of specification V3 have no common setting for it.
function reasoningIgnored(id: string): { code: string; message: string } {
  const cure = "Update its AI SDK package, or use providerOptions."
  return { code: "reasoning-ignored", message: `The model "${id}" takes no reasoning effort in this form. ${cure}` }
}
