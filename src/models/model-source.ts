// Accepts everything that an agent takes as its model.
import { ConfigError } from "../core/errors.ts"
import { aiSdk } from "./ai-sdk.ts"
import type { AiSdkModel } from "./ai-sdk-types.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"
import { closableStream } from "./model-stream.ts"
import { modelFacts } from "./prices.ts"
import { checkModelId, modelDisplayId, resolveModel, withRetryAndTimeouts } from "./resolve.ts"

/** What an agent accepts as its model: a Karst model, an AI SDK language model, or an id for `resolveModel`. */
export type ModelSource = Model | AiSdkModel | string

/** Converts any source to a model. A Karst model is used unchanged; the others get retries and time-outs. An id is
 *  resolved at first use, so a missing key or package is reported at the first stream. */
export function toModel(source: ModelSource): Model {
  if (typeof source === "string") {
    checkModelId(source)
    return lazyModel({ id: modelDisplayId(source), ...modelFacts(modelDisplayId(source)) }, () => resolveModel(source))
  }
  if (typeof source === "object" && source !== null) {
    if ("stream" in source && typeof source.stream === "function") return source
    if ("specificationVersion" in source) return withRetryAndTimeouts(aiSdk(source))
  }
  throw new ConfigError(
    `A model must be an id such as "openai/gpt-5.2", an AI SDK language model or a Karst model; got ${typeof source}.`,
  )
}

/** A model that is loaded at the first stream. Its id, price and context window are known before. */
export function lazyModel(
  known: Pick<Model, "id" | "price" | "contextWindow">,
  load: () => Model | Promise<Model>,
): Model {
  let pending: Promise<Model> | undefined

  // A failure is not cached: the key or package may be there at the next attempt.
  function ready(): Promise<Model> {
    pending ??= Promise.try(load).catch((error) => {
      pending = undefined
      throw error
    })
    return pending
  }

  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const model = await ready()
    yield* model.stream({ ...request, signal })
  }

  const { id, price, contextWindow } = known
  return {
    id,
    price,
    contextWindow,
    stream: (request) => closableStream(request.signal, (signal) => answer(request, signal)),
  }
}
