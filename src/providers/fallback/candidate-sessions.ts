// The sessions of a fallback's candidates. They are not archived themselves, and all stay open until the end, because
// one candidate may use the runtime of another.

import type { Session } from "../../core/agent.ts"
import { UnsupportedError } from "../../core/errors.ts"
import { isRuntime } from "../../runtime/is-runtime.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { ArchiveOptions } from "../../sessions/session-archive.ts"
import type { CliOptions } from "../options.ts"
import type { Candidate } from "./fallback-candidates.ts"

export interface CandidateSessions {
  get(candidate: Candidate | undefined): Session | undefined
  /** The candidate whose session was opened first. */
  first(): Candidate | undefined
  open(candidate: Candidate, more?: { resume?: string; runtime?: CliOptions["runtime"] }): Promise<Session>
  /** Opens a copy of a conversation that was never sent anything. */
  openFork(candidate: Candidate, resume: string): Promise<Session>
  /** Adds a session that was opened elsewhere. */
  add(candidate: Candidate, session: Session): void
  /** The runtime of a candidate's session, and whether the candidate created it. */
  runtimeOf(candidate: Candidate | undefined): { runtime: Runtime | undefined; ownsRuntime: boolean }
  close(): Promise<void>
}

export function createCandidateSessions(changes: Partial<CliOptions>): CandidateSessions {
  const sessions = new Map<Candidate, Session>()

  return {
    get: (candidate) => candidate && sessions.get(candidate),
    first: () => sessions.keys().next().value,
    async open(candidate, more = {}) {
      const session = await candidate.agent.session({ ...candidate.applicableChanges(changes), ...more })
      sessions.set(candidate, session)
      return session
    },
    async openFork(candidate, resume) {
      const opening: Partial<CliOptions> & ArchiveOptions = { ...candidate.applicableChanges(changes), resume }
      await using original = await candidate.agent.session(opening)
      const session = await forkOf(candidate, original)
      sessions.set(candidate, session)
      return session
    },
    add: (candidate, session) => void sessions.set(candidate, session),
    runtimeOf(candidate) {
      const runtime = candidate && sessions.get(candidate)?.runtime
      return { runtime: isRuntime(runtime) ? runtime : undefined, ownsRuntime: candidate?.ownsRuntime ?? false }
    },
    async close() {
      for (const session of [...sessions.values()].toReversed()) await session.close()
    },
  }
}

/** Forks the session of a candidate, or throws if it cannot be forked. */
export async function forkOf(candidate: Candidate | undefined, session: Session | undefined): Promise<Session> {
  if (session?.fork) return await session.fork()
  throw new UnsupportedError(`fork: ${candidate?.name} cannot fork a conversation.`)
}
