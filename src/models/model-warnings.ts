// Reports retries and warnings of a model as events.
import type { Emit } from "../core/event.ts"
import type { ModelRequest } from "./model.ts"

export function modelWarningHandlers(emit: Emit): Required<Pick<ModelRequest, "onRetry" | "onWarning">> {
  return {
    onRetry({ attempt, delayMs, error }) {
      const message = `${error.message} Trying again in ${(delayMs / 1000).toFixed(1)} s (retry ${attempt}).`
      emit({ type: "warning-raised", code: "model-retried", message })
    },
    onWarning: ({ code, message }) => void emit({ type: "warning-raised", code, message }),
  }
}
