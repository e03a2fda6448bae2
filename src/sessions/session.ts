// A session: runs of one agent that share a conversation. The driver adapts it to the kind of agent.
import type { ForkOptions, LiveObjects, Run, RunOptions, Session, SessionBudget } from "../core/agent.ts"
import * as check from "../core/checks/check-options.ts"
import { AgentError } from "../core/errors.ts"
import type { AgentEvent, Status } from "../core/event.ts"
import { checkSteerText, type Message, newId, type Prompt } from "../core/message.ts"
import { replacePrivateFile } from "../core/private-files.ts"
import { closeApprovals } from "../core/run-approvals.ts"
import { outsideRuns, parentForNewRun, runAndAncestors } from "../core/run-context.ts"
import { createRunQueue, type WaitForStart } from "../core/run-queue.ts"
import { type Trajectory, trajectory } from "../core/trajectory.ts"
import { sessionHandle } from "./session-handle.ts"
import type { SessionStorage } from "./session-storage.ts"

/** What a session needs from its agent. */
export interface SessionDriver<O extends RunOptions = RunOptions> {
  /** Default: a new id. */
  id?: string | undefined
  /** Where it is archived; the session closes it. */
  storage?: SessionStorage | undefined
  /** The handle, if it has more than the id and the archive. It may change with each run. */
  handle?: (() => string) | undefined
  runtime: LiveObjects | undefined
  /** Starts a run that calls `waitForStart` before it does anything. */
  start(prompt: Prompt, options: O | undefined, waitForStart: WaitForStart): Run
  messages(): readonly Message[]
  events(): readonly AgentEvent[]
  /** Opens another session with the same past and a copy of the runtime. Called while no run is under way. */
  fork?: ((options: ForkOptions) => Promise<SessionOf<O>>) | undefined
  /** What is left of the budget, if the session has one. */
  budgetLeft?: (() => SessionBudget | undefined) | undefined
  /** Closes what was opened for the session, except its storage. */
  close(): Promise<void>
}

const forkChecks: check.OptionChecks<ForkOptions> = { before: check.mustBeText }

/** Creates a session: runs that share one conversation, one after the other. */
export function createSession<O extends RunOptions>(driver: SessionDriver<O>): SessionOf<O> {
  const id = driver.id ?? newId("s")
  const { fork, storage } = driver
  const queue = createRunQueue<{ run: Run; prompt: Prompt }>()
  const unsettled = new Set<Run>()
  let steered: string[] = []
  let closing: Promise<void> | undefined
  let completedAt: number | undefined
  let lastRun: Run | undefined

  function refuseClosed(): void {
    if (closing) throw new AgentError(`Session ${id} is closed. Open another with agent.session().`, { code: "closed" })
  }

  function startRun(prompt: Prompt, options?: O): Run {
    refuseClosed()
    const entry = queue.add((waitForStart) => {
      const run = driver.start(prompt, options, async (signal) => {
        await waitForStart(signal)
        lastRun = run
        for (const text of steered.splice(0)) run.steer(text)
      })
      return { run, prompt }
    })
    const { run } = entry.value
    unsettled.add(run)
    void run.settled.then(({ status }) => {
      unsettled.delete(run)
      entry.end({ hold: statusesThatHoldQueue.has(status) })
    })
    return run
  }

  const runUnderWay = () => queue.running?.value.run

  function abortQueued(reason: string): void {
    for (const { value } of queue.pending) value.run.abort(reason)
  }

  // Returns true within a cell or a call of the run under way. A new run would wait for that run to end first.
  function isWithinOwnRun(): boolean {
    const id = runUnderWay()?.id
    return runAndAncestors(parentForNewRun()?.parent).some((run) => run.id === id)
  }

  function send(prompt: Prompt, options?: O): Run {
    if (!isWithinOwnRun()) return startRun(prompt, options)
    throw new AgentError(
      `session.send: a run of session ${id} would wait for itself. Use followUp(), which runs when that has ended, and do ` +
        "not wait for it there.",
      { code: "self-wait" },
    )
  }

  async function end(): Promise<void> {
    abortQueued("The session was closed before this run began.")
    for (const run of unsettled) closeApprovals(run)
    await Promise.all([...unsettled].map((run) => run.settled))
    try {
      await driver.close()
    } finally {
      completedAt = (await storage?.writer.close()) ?? Date.now()
    }
  }

  const currentTrajectory = () => sessionTrajectory(id, driver.events(), completedAt)

  return {
    id,
    get handle() {
      return driver.handle?.() ?? sessionHandle(id, storage?.archive.folder)
    },
    directory: storage?.archive.directory(id),
    runtime: driver.runtime,
    get running() {
      return runUnderWay()
    },
    get lastRun() {
      return runUnderWay() ?? lastRun
    },
    get pending() {
      return queue.pending.map(({ value: { run, prompt } }) => ({ id: run.id, prompt }))
    },
    send,
    followUp: (prompt, options) =>
      isWithinOwnRun() ? outsideRuns(() => startRun(prompt, options)) : startRun(prompt, options),
    steer(text) {
      const run = runUnderWay()
      if (run) run.steer(text)
      else steered = [...steered, checkSteerText(text)]
    },
    continueQueue: queue.release,
    budgetLeft: () => driver.budgetLeft?.(),
    clearQueue: () => abortQueued("The queue of the session was cleared."),
    ...(fork && {
      async fork(options = {}) {
        refuseClosed()
        check.checkOptions("session.fork()", options, forkChecks)
        for (let run = runUnderWay(); run; run = runUnderWay()) await run.settled
        return await fork(options)
      },
    }),
    messages: () => driver.messages().slice(),
    trajectory: currentTrajectory,
    save: (path) => saveTrajectory(path, currentTrajectory()),
    async close() {
      closing ??= end()
      await closing
      return currentTrajectory()
    },
    async [Symbol.asyncDispose]() {
      for (const run of unsettled) run.abort("The session was disposed of.")
      closing ??= end()
      await closing
    },
  }
}

// The caller must see such an end before the next prompt is sent. A queued prompt could be taken for the answer to a
// question.
const statusesThatHoldQueue: ReadonlySet<Status> = new Set(["waiting", "failed", "aborted"])

export function sessionTrajectory(
  session: string,
  events: Iterable<AgentEvent>,
  completedAt: number | undefined,
): Trajectory {
  return { ...trajectory(events), session, ...(completedAt !== undefined && { completedAt }) }
}

/** Writes a trajectory to a file, atomically. */
export async function saveTrajectory(path: string, record: Trajectory): Promise<void> {
  await replacePrivateFile(path, `${JSON.stringify(record, undefined, 2)}\n`)
}

/** A session whose `send` takes the options of its kind of agent. */
export interface SessionOf<O extends RunOptions> extends Session {
  send(prompt: Prompt, options?: O): Run
  followUp(prompt: Prompt, options?: O): Run
  /** What later runs may still use of the session's `budget`, without the run under way. Undefined without a budget. */
  budgetLeft(): SessionBudget | undefined
  /** Returns a session that continues separately, from here or from an earlier point. */
  fork?(options?: ForkOptions): Promise<SessionOf<O>>
}
