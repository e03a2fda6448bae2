// Distributes the requests of one model over several endpoints or API keys.
import { checkOptions, mustBeBoolean, mustBeFunction, type OptionChecks } from "../core/checks/check-options.ts"
import { ConfigError, ModelError } from "../core/errors.ts"
import { abortError } from "../core/run.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"
import { modelFailure } from "./model-failure.ts"
import { closableStream } from "./model-stream.ts"

export interface RotateOptions {
  /** True: after the preferred endpoint, tries the others in random order, to spread the load of many programs.
   *  Default false: in the given order. */
  shuffle?: boolean | undefined
  /** From 0 to 1. Default `Math.random`. */
  random?: (() => number) | undefined
  /** Called at each change of endpoint. Errors it throws are ignored. */
  onChange?: ((change: EndpointChange) => void) | undefined
}

const rotateChecks: OptionChecks<RotateOptions> = {
  shuffle: mustBeBoolean,
  random: mustBeFunction,
  onChange: mustBeFunction,
}

export interface EndpointChange {
  /** Indexes in the list. */
  from: number
  to: number
  error: ModelError
}

/** One model behind several endpoints or keys: `rotateModels([await resolveModel(id, { apiKey, retry: false }),
 *  …])`. The endpoint that answered last is asked first. If it fails temporarily (rate limits, overload, server
 *  errors, lost connections, time-outs), the next one is asked immediately; likewise, with a warning, if it refuses
 *  the key. Other failures are thrown. After the first part has been passed on, the failure is thrown, and the next
 *  request goes to another endpoint. If all endpoints fail, the error lists every attempt;
 *  `withRetry(rotateModels(…))` then waits and starts again. */
export function rotateModels(models: readonly Model[], options: RotateOptions = {}): Model {
  checkOptions("rotateModels()", options, rotateChecks)
  const { shuffle = false, random = Math.random, onChange } = options
  const first = firstModel(models)
  let preferred = 0

  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const order = endpointOrder(preferred, models.length, shuffle ? random : undefined)
    const failures: EndpointFailure[] = []
    for (const [nth, index] of order.entries()) {
      const model = models[index] ?? first
      let started = false
      try {
        for await (const part of model.stream({ ...request, signal })) {
          if (!started) preferred = index
          started = true
          yield part
        }
        return
      } catch (thrown) {
        if (signal.aborted) throw abortError(signal)
        const error = modelFailure(thrown, { id: model.id })
        if (!(error instanceof ModelError) || !mayWorkElsewhere(error)) throw error
        const next = order[(nth + 1) % order.length] ?? 0
        if (started) {
          // Parts that were passed on cannot be taken back; the next request goes to another endpoint.
          if (preferred === index) preferred = next
          throw error
        }
        failures.push({ index, error })
        if (nth + 1 < order.length) report({ from: index, to: next, error }, failures.length, request)
      }
    }
    throw allEndpointsFailed(first.id, failures)
  }

  // Errors of observers are ignored.
  function report(change: EndpointChange, attempt: number, request: ModelRequest): void {
    const { from, to, error } = change
    if (error.retryable) request.onRetry?.({ attempt, delayMs: 0, error })
    else request.onWarning?.({ code: "endpoint-changed", message: endpointChangeMessage(from, to, error) })
    try {
      onChange?.(change)
    } catch {}
  }

  return {
    id: first.id,
    // The values that hold for all endpoints.
    contextWindow: smallest(models.map(({ contextWindow }) => contextWindow)),
    price: models.every(({ price }) => price) ? first.price : undefined,
    stream: (request) => closableStream(request.signal, (signal) => answer(request, signal)),
  }
}

// Another endpoint may have another key.
function mayWorkElsewhere({ retryable, code }: ModelError): boolean {
  return retryable || code === "authentication"
}

function endpointChangeMessage(from: number, to: number, { message }: ModelError): string {
  return `Endpoint ${from + 1} of ${message} Going on with endpoint ${to + 1}.`
}

function firstModel(models: readonly Model[]): Model {
  const [first] = models
  if (first) return first
  throw new ConfigError("rotateModels: the list of models is empty. Give at least one.")
}

interface EndpointFailure {
  index: number
  error: ModelError
}

// The preferred endpoint first, then the following ones, wrapping around.
function endpointOrder(preferred: number, count: number, random: (() => number) | undefined): number[] {
  const rest = Array.from({ length: count - 1 }, (_, index) => (preferred + 1 + index) % count)
  if (random) {
    for (let left = rest.length; left > 1; left--) {
      const [taken] = rest.splice(Math.min(left - 1, Math.floor(random() * left)), 1)
      if (taken !== undefined) rest.push(taken)
    }
  }
  return [preferred, ...rest]
}

function allEndpointsFailed(id: string, failures: readonly EndpointFailure[]): ModelError {
  const [only] = failures
  if (only && failures.length === 1) return only.error
  const first = failures.find(({ error }) => error.retryable) ?? only
  const list = failures.map(({ index, error }) => `- endpoint ${index + 1} (${error.code}): ${error.message}`)
  return new ModelError(`None of the ${failures.length} endpoints of ${id} answered:\n${list.join("\n")}`, {
    // The first temporary failure: all endpoints may work again when one does.
    code: first?.error.code ?? "server-error",
    retryable: first?.error.retryable ?? false,
    status: first?.error.status,
    retryAfterMs: shortestWait(failures),
  })
}

// An endpoint without a stated delay may work immediately.
function shortestWait(failures: readonly EndpointFailure[]): number | undefined {
  const waits = failures.filter(({ error }) => error.retryable).map(({ error }) => error.retryAfterMs)
  return smallest(waits.some((wait) => wait === undefined) ? [] : waits)
}

function smallest(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
