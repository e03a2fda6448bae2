import type { Session } from "../../core/agent.ts"
import { errorData } from "../../core/errors.ts"
import type { Runtime, RuntimeSnapshot } from "../../runtime/runtime.ts"
import type { SessionHandleParts } from "../../sessions/session-handle.ts"
import type { SessionWriter } from "../../sessions/session-writer.ts"
import { snapshotOwnRuntime } from "../cli-session.ts"
import type { CliOptions } from "../options.ts"
import type { Candidate } from "./fallback-candidates.ts"
import type { FallbackConversation } from "./fallback-conversation.ts"

/** The sessions with candidates, none of which is archived by itself. All stay open until the end: one may work on what
 *  another has made. */
export interface CandidateSessions {
  get(candidate: Candidate | undefined): Session | undefined
  /** The one that was opened first. */
  first(): Candidate | undefined
  open(candidate: Candidate, more?: { resume?: string; runtime?: CliOptions["runtime"] }): Promise<Session>
  /** Has one that was opened elsewhere. */
  add(candidate: Candidate, session: Session): void
  /** Where a candidate's objects live. */
  runtimeOf(candidate: Candidate | undefined): { runtime: Runtime | undefined; ownsRuntime: boolean }
  /** Brings back the objects of a candidate; gives what the owner should know. */
  restore(candidate: Candidate, snapshot: RuntimeSnapshot | undefined): Promise<string[]>
  close(): Promise<void>
}

export function createCandidateSessions(changes: Partial<CliOptions>): CandidateSessions {
  const sessions = new Map<Candidate, Session>()

  function objects(candidate: Candidate | undefined): ReturnType<CandidateSessions["runtimeOf"]> {
    const runtime = candidate && sessions.get(candidate)?.runtime
    // Whoever can do this is one.
    const found = runtime && "execute" in runtime ? (runtime as Runtime) : undefined
    return { runtime: found, ownsRuntime: candidate?.ownsRuntime ?? false }
  }

  return {
    get: (candidate) => candidate && sessions.get(candidate),
    first: () => sessions.keys().next().value,
    async open(candidate, more = {}) {
      const session = await candidate.agent.session({ ...candidate.applicableChanges(changes), ...more })
      sessions.set(candidate, session)
      return session
    },
    add: (candidate, session) => void sessions.set(candidate, session),
    runtimeOf: objects,
    async restore(candidate, snapshot) {
      const { runtime, ownsRuntime } = objects(candidate)
      if (!snapshot || !ownsRuntime) return []
      try {
        const lost = await runtime?.restore?.(snapshot)
        return (lost ?? []).map(({ name, reason }) => `"${name}" was not brought back: ${reason}.`)
      } catch (error) {
        // No reason to lose the conversation as well.
        return [`The objects of the session were not brought back: ${errorData(error).message}`]
      }
    },
    async close() {
      for (const session of [...sessions.values()].toReversed()) await session.close()
    },
  }
}

/** Has a conversation written down: its events as they come, the rest when a run has ended. */
export function archiveFallbackConversation(
  writer: SessionWriter,
  conversation: FallbackConversation,
  { model, reasoning, instructions }: Partial<CliOptions>,
  now: () => { parts: Omit<SessionHandleParts, "id">; runtime: Runtime | undefined; ownsRuntime: boolean },
): void {
  const { record } = conversation
  conversation.record = (event) => {
    record(event)
    writer.addEvent(event)
  }
  conversation.save = async (ended) => {
    if (!ended) return await writer.commitCycle()
    const { parts, ...objects } = now()
    const { provider = "", key, cwd } = parts
    const head = {
      version: 1,
      provider,
      approved: [],
      options: {
        ...(model !== undefined && { model }),
        ...(reasoning !== undefined && { reasoning }),
        ...(instructions !== undefined && { instructions }),
      },
      ...(key !== undefined && { key }),
      ...(cwd !== undefined && { cwd }),
    }
    await writer.commitRunEnd({ head, snapshot: await snapshotOwnRuntime(objects) })
  }
}
