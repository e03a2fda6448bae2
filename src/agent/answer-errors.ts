// The errors of an answer that broke off.
import { ModelError } from "../core/errors.ts"
import type { Model } from "../models/model.ts"

export function truncatedError(attempts: number): ModelError {
  const message = `The answer hit the output limit ${attempts} times in a row. Raise the model's output limit, or ask for less at a time.`
  return new ModelError(message, { code: "truncated" })
}

export function streamEndedError(model: Model): ModelError {
  const message = `The stream of "${model.id}" ended before its answer did.`
  return new ModelError(message, { code: "connection", retryable: true })
}

export function serviceError(model: Model): ModelError {
  const message = `The service behind "${model.id}" broke its answer off with an error. Try again later.`
  return new ModelError(message, { code: "server-error", retryable: true })
}

export function contentFilterError(model: Model): ModelError {
  return new ModelError(`The provider of "${model.id}" withheld the answer (content filter).`, {
    code: "content-filter",
  })
}
