import type { Model, ModelPart, ModelRequest } from "../../src/models/model.ts"

export const ask: ModelRequest = { system: "Be brief.", messages: [] }

export async function collect(parts: AsyncIterable<ModelPart>): Promise<ModelPart[]> {
  const all: ModelPart[] = []
  for await (const part of parts) all.push(part)
  return all
}

/** The text of an answer. */
export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}

/** The parts before the error, and the error. */
export async function failing(parts: AsyncIterable<ModelPart>): Promise<{ parts: ModelPart[]; error: unknown }> {
  const all: ModelPart[] = []
  try {
    for await (const part of parts) all.push(part)
  } catch (error) {
    return { parts: all, error }
  }
  throw new Error(`The stream did not fail: ${JSON.stringify(all)}`)
}

/** A model with the given stream function. */
export function modelOf(stream: (request: ModelRequest) => AsyncIterable<ModelPart>): Model {
  return { id: "test/model", stream }
}

export function text(content: string): ModelPart {
  return { type: "text", text: content }
}

export const finish: ModelPart = { type: "finish", reason: "stop", usage: { complete: false } }

/** Lets all pending callbacks run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A manual clock: fires the newest timer on request. */
export function manualClock() {
  const timers = new Set<{ ms: number; callback: () => void }>()
  return {
    schedule(callback: () => void, ms: number): () => void {
      const timer = { ms, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    /** The delays of the pending timers. */
    get waiting(): number[] {
      return [...timers].map((timer) => timer.ms)
    },
    fire(): void {
      for (const timer of timers) {
        timers.delete(timer)
        timer.callback()
      }
    },
  }
}
