// The backend contract: a queue of jobs and the workers that take them.

// #region contract
/** Schedules jobs: a queue, and workers that take jobs from it. A job only says which run to continue; the run's
 *  checkpoint is the authority. So a job may be handled more than once, and losing one loses no run: an engine that
 *  finds a run without a worker in the store pushes a job for it again. */
export interface Backend {
  /** True if jobs pushed by other processes reach the workers of this one. If not, the engine polls the store for
   *  queued runs. */
  readonly isShared?: boolean | undefined
  /** Resolves once the job is safe from the failures that the backend guards against. Allowed before any worker has
   *  started, and within `handle`. A run has at most one waiting job; a run that is being handled is handled again
   *  afterwards. */
  push(job: Job): Promise<void>
  /** Takes jobs in the order they were pushed and passes each to `handle`, in this process or in the workers of the
   *  backend. A job is done when `handle` resolves. If it rejects or its process ends, the job is handled again, here
   *  or elsewhere, each time after a longer wait. `handle` rejects only if the worker cannot tell how far the run came,
   *  not because a run failed. An error of code `held` is not reported, and the wait does not grow. Rejects if no
   *  worker can work at all. After a second call, two take jobs from the one queue. */
  start(handle: JobHandler, options: StartOptions): Promise<StopWorking>
  /** The number of waiting jobs, including those to be retried, without those under way. Cheap: called about once a
   *  cycle. */
  countQueued(): Promise<number>
  /** Stops the workers and closes the connections that `push` and `countQueued` opened. May be called twice. */
  close?(): Promise<void>
}
// #endregion

/** A request to continue a run. `revision` is the revision of its head when the job was pushed. */
export interface Job {
  run: string
  revision: number
}

export type JobHandler = (job: Job) => Promise<void>

export interface StartOptions {
  /** The most jobs that one process handles at a time. */
  maxParallel: number
}

/** The error code for a run that another worker holds, or held when it died. */
export const heldCode = "held"

/** Takes no more jobs and waits for those under way. Waiting jobs stay in the queue. A second call returns the same
 *  promise. */
export type StopWorking = () => Promise<void>

/** Options of every backend. */
export interface BackendOptions {
  /** Called for errors outside of runs: a job whose handler rejected, a worker that ended, a lost connection.
   *  Default: a process warning, once for each message. */
  onError?: ((error: Error, job?: Job) => unknown) | undefined
}
