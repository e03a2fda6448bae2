// karst/engine: runs that survive a crash, and the backends that execute them.

export type { Backend, BackendOptions, Job, StartOptions } from "./engine/backends/backend.ts"
export { type BullmqBackendOptions, bullmqBackend, type RedisConnection } from "./engine/backends/bullmq.ts"
export { inlineBackend } from "./engine/backends/inline.ts"
export { type WorkerBackendOptions, workerBackend } from "./engine/backends/worker.ts"
export type { RunStatus } from "./engine/checkpoint.ts"
export { createEngine, type Engine, type EngineOptions } from "./engine/engine.ts"
export type { ListFilter, RunInfo } from "./engine/run-info.ts"
export type { RetryPolicy } from "./engine/run-retries.ts"
export type { SessionQueue } from "./engine/session-info.ts"
export type { SubmitOptions } from "./engine/submit.ts"
export type { WatchOptions } from "./engine/watch-run.ts"
export type { UnknownPolicy } from "./runtime/bindings.ts"
