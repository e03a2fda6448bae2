import type { LiveObjects, Run, RunOptions, Session } from "../core/agent.ts"
import { AgentError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { type Message, newId, type Prompt, steerText } from "../core/message.ts"
import { replacePrivateFile } from "../core/private-files.ts"
import { outsideRuns, startingRun, upwards } from "../core/run-context.ts"
import { type Trajectory, trajectory } from "../core/trajectory.ts"
import { handleOf } from "./handle.ts"

/** What a session needs from the agent behind it. */
export interface SessionDriver<O extends RunOptions = RunOptions> {
  /** Default: a fresh one. */
  id?: string | undefined
  /** The folder of its archive, and its own folder there. */
  archive?: { folder: string | undefined; directory: string | undefined } | undefined
  /** What finds it again, where that is more than its id and archive; it may change with each run. */
  handle?: (() => string) | undefined
  runtime: LiveObjects | undefined
  /** Starts a run that waits for `turn` before it does anything. */
  start(prompt: Prompt, options: O | undefined, turn: Promise<unknown>): Run
  messages(): readonly Message[]
  events(): readonly AgentEvent[]
  /** Another session with the same past and a copy of the runtime. Called when no run is under way. */
  fork?: (() => Promise<SessionOf<O>>) | undefined
  /** Ends what the session opened; gives when it ended, where that is written down. */
  close(): Promise<number | undefined>
}

/** Runs that share one conversation, one after the other. */
export function createSession<O extends RunOptions>(driver: SessionDriver<O>): SessionOf<O> {
  const id = driver.id ?? newId("s")
  const { fork, archive } = driver
  const open = new Set<Run>()
  let steered: string[] = []
  let last: Promise<unknown> = Promise.resolve()
  let closing: Promise<void> | undefined
  let completedAt: number | undefined

  function refuseClosed(): void {
    if (closing) throw new AgentError(`Session ${id} is closed. Open another with agent.session().`, { code: "closed" })
  }

  function begin(prompt: Prompt, options?: O): Run {
    refuseClosed()
    const run = driver.start(prompt, options, last)
    for (const text of steered.splice(0)) run.steer(text)
    open.add(run)
    last = run.settled.finally(() => open.delete(run))
    return run
  }

  // Whether this is asked by a cell or a call of one of the session's own runs, which would have to end first.
  function isOwnRun(): boolean {
    const ids = new Set([...open].map((run) => run.id))
    return upwards(startingRun()?.parent).some((run) => ids.has(run.id))
  }

  function send(prompt: Prompt, options?: O): Run {
    if (!isOwnRun()) return begin(prompt, options)
    throw new AgentError(
      `session.send: a run of session ${id} would wait for itself. Use followUp(), which runs when that has ended, and do ` +
        "not wait for it there.",
      { code: "self-wait" },
    )
  }

  async function end(): Promise<void> {
    await last
    completedAt = (await driver.close()) ?? Date.now()
  }

  const told = () => sessionTrajectory(id, driver.events(), completedAt)

  return {
    id,
    get handle() {
      return driver.handle?.() ?? handleOf(id, archive?.folder)
    },
    directory: archive?.directory,
    runtime: driver.runtime,
    send,
    followUp: (prompt, options) => (isOwnRun() ? outsideRuns(() => begin(prompt, options)) : begin(prompt, options)),
    steer(text) {
      const [current] = open
      if (current) current.steer(text)
      else steered = [...steered, steerText(text)]
    },
    ...(fork && {
      async fork() {
        refuseClosed()
        await last
        return await fork()
      },
    }),
    messages: () => driver.messages().slice(),
    trajectory: told,
    save: (path) => saveTrajectory(path, told()),
    async close() {
      closing ??= end()
      await closing
      return told()
    },
    async [Symbol.asyncDispose]() {
      for (const run of open) run.abort("The session was disposed of.")
      closing ??= end()
      await closing
    },
  }
}

/** The record of a session. */
export function sessionTrajectory(
  session: string,
  events: Iterable<AgentEvent>,
  completedAt: number | undefined,
): Trajectory {
  return { ...trajectory(events), session, ...(completedAt !== undefined && { completedAt }) }
}

/** Writes a trajectory whole or not at all. */
export async function saveTrajectory(path: string, record: Trajectory): Promise<void> {
  await replacePrivateFile(path, `${JSON.stringify(record, undefined, 2)}\n`)
}

/** A session whose sends take this agent's own options. */
export interface SessionOf<O extends RunOptions> extends Session {
  send(prompt: Prompt, options?: O): Run
  followUp(prompt: Prompt, options?: O): Run
  fork?(): Promise<SessionOf<O>>
}
