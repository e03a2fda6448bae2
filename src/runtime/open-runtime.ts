// Opens the runtime of a run or session: a shared instance as it is, or a new one from a factory.
import type { Metadata } from "../core/event.ts"
import type { Runtime } from "./runtime.ts"
import type { RuntimeContext, RuntimeSource } from "./typed-runtime.ts"

export interface OpenedRuntime {
  runtime: Runtime
  /** Whether it was created here; the run or session then closes it. */
  ownsRuntime: boolean
}

export async function openRuntime(source: RuntimeSource, context: RuntimeContext): Promise<OpenedRuntime> {
  if (typeof source === "object") return { runtime: source, ownsRuntime: false }
  return { runtime: await source(context), ownsRuntime: true }
}

/** What a factory receives. Without a signal it gets one that never fires. */
export function runtimeContext(
  { metadata }: { metadata: Metadata },
  { session, signal }: { session?: string | undefined; signal?: AbortSignal | undefined } = {},
): RuntimeContext {
  return { session, metadata, signal: signal ?? new AbortController().signal }
}
