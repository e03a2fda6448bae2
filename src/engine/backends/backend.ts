/** What schedules: a queue of jobs, and workers that take them. A job says which run to go on with and nothing more; the
 *  run's checkpoint is the authority. So a job may be handled more than once, and losing one loses no run: whoever finds
 *  a run without a worker in the store pushes a job for it again. */
export interface Backend {
  /** Whether a job that another process pushes reaches the workers of this one. Where it does not, the engine looks in the store
   *  for runs that others have queued. */
  readonly isShared?: boolean | undefined
  /** Resolves once the job cannot be lost any more by what the backend guards against. Allowed before any worker started,
   *  and within `handle`. A run that waits already waits once; one that is under way is handled again afterwards. */
  push(job: Job): Promise<void>
  /** Takes jobs, in the order they were pushed, and hands each to `handle`, in this process or in the workers of the backend.
   *  A job is done when `handle` resolves. When it rejects, or when its process ends, the job is handed over again, here
   *  or elsewhere, each time after a longer wait: how a run went is no reason to reject, only that this worker could not
   *  tell. An error of code `held` is no failure: nobody is told of it, and the wait does not grow.
   *  Rejects where no worker can work at all. Started twice, two take from the one queue. */
  start(handle: JobHandler, options: StartOptions): Promise<StopWorking>
  /** How many jobs wait to be begun, those to be tried again included, those under way not. Cheap: asked once a cycle. */
  queued(): Promise<number>
  /** Lets go of connections that `push` and `queued` opened; what was started is stopped first. A second time is fine. */
  close?(): Promise<void>
}

/** Go on with this run; it was at this revision when the job was pushed. */
export interface Job {
  run: string
  revision: number
}

export type JobHandler = (job: Job) => Promise<void>

export interface StartOptions {
  /** How many jobs one process has under way at a time, at most. */
  concurrency: number
}

/** Another worker holds the run, or did when it died. */
export const heldCode = "held"

/** Takes no more jobs, and waits for those under way. What waits stays where it is. A second call gives the same. */
export type StopWorking = () => Promise<void>

/** What a backend takes, whichever it is. */
export interface BackendOptions {
  /** Sees what went wrong outside of runs: a job that was handed back, a worker that ended, a lost connection.
   *  Default: a warning of the process, once for each message. */
  onError?: ((error: Error, job?: Job) => unknown) | undefined
}
