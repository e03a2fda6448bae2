// One session for each user: opened at a request, and closed when it is idle or another process has taken it over.
import type { CodeAgent, CodeSession } from "karst"
import type { ArchiveSource } from "karst/sessions"

export type Sessions = ReturnType<typeof createSessions>

export function createSessions(agent: CodeAgent, archive: ArchiveSource, idleMs = 600_000) {
  const sessions = new Map<string, Promise<CodeSession | undefined>>()
  const timers = new Map<string, NodeJS.Timeout>()

  // Opening and closing the session of one user happen one after the other.
  function change<T extends CodeSession | undefined>(user: string, step: (open?: CodeSession) => T | Promise<T>) {
    const changed = (sessions.get(user) ?? Promise.resolve(undefined)).then(step)
    const forget = () => sessions.get(user) === changed && sessions.delete(user)
    sessions.set(user, changed)
    changed.then((open) => open ?? forget(), forget)
    return changed
  }

  const open = (user: string) =>
    agent.session({
      id: user,
      archive,
      approver: "events",
      approvalTimeoutMs: 3_600_000,
      budget: { tokens: 500_000 },
      onEvent(event) {
        if (event.type !== "run-end" || event.parent !== undefined) return
        closeWhenIdle(user)
        if (event.error?.code === "conflict") change(user, close)
      },
    })

  async function close(session?: CodeSession): Promise<undefined> {
    await session?.close()
  }

  function closeWhenIdle(user: string): void {
    clearTimeout(timers.get(user))
    const closeIdle = () => {
      timers.delete(user)
      change(user, (session) => (session?.running ? session : close(session)))
    }
    timers.set(user, setTimeout(closeIdle, idleMs).unref())
  }

  return {
    of(user: string): Promise<CodeSession> {
      closeWhenIdle(user)
      return change(user, (session) => session ?? open(user))
    },
    /** Refuses open approvals, waits for the runs under way, and aborts those that have not ended in time. */
    async closeAll(graceMs = 8_000): Promise<void> {
      const all = await Promise.all([...sessions.values()].map((session) => session.catch(() => undefined)))
      const abortRuns = () => {
        for (const session of all) session?.running?.abort("The server stops.")
      }
      const timer = setTimeout(abortRuns, graceMs)
      await Promise.allSettled(all.map(close))
      clearTimeout(timer)
    },
  }
}
