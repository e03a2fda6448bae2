// Deletes one run, or the runs that ended long ago.
import { AgentError, ConflictError } from "../core/errors.ts"
import type { Store, StoreChange, StoreGuard } from "../stores/store.ts"
import * as checkpoint from "./checkpoint.ts"
import { previousRunId } from "./session-queue.ts"

/** Deletes all records of a run; returns undefined if there is none. Throws if the run is under way or has a later run
 *  in its session. */
export async function deleteRun(store: Store, id: string): Promise<DeletedRun | undefined> {
  for (;;) {
    const found = await checkpoint.readHead(store, id)
    if (!found) return undefined
    const { agent, key, session } = found.head
    const previous = await previousRunId(store, found.head)
    if (checkpoint.isUnderWay(found.head))
      throw new AgentError(`Run ${id} is under way. Abort it first.`, { code: "running" })
    // The text of a call may still be stored if the call was answered at this moment.
    const calls = found.head.asked.map((asked) => checkpoint.pendingCallKey(id, asked.id))
    const artifacts = await Array.fromAsync(store.keys(checkpoint.runKeys(id).artifacts))
    const names = [
      ...Object.values(checkpoint.runKeys(id)),
      ...artifacts,
      ...calls,
      checkpoint.statusListKey(found.head.status, id),
      checkpoint.statusListKey("queued", id),
      checkpoint.statusListKey("waiting", id),
    ]
    if (key !== undefined) names.push(checkpoint.submitKeyKey(agent, key))
    const changes = names.map((name): StoreChange => ({ type: "delete", key: name }))
    let guard: StoreGuard = { key: checkpoint.runKeys(id).head, ifRevision: found.revision }
    if (session !== undefined) {
      const name = checkpoint.sessionKey(agent, session)
      const last = await store.get(name)
      if (last?.value !== id) throw new AgentError(followedMessage(id, session, last?.value), { code: "followed" })
      // The guard is on the session, so that no run can be added behind this one meanwhile.
      guard = { key: name, ifRevision: last.revision }
      changes.push(previous === undefined ? { type: "delete", key: name } : { type: "put", key: name, value: previous })
      if (previous !== undefined) changes.push({ type: "delete", key: checkpoint.runKeys(previous).next })
    }
    try {
      await store.commit(changes, guard, { evenIfFull: true })
      return { previous }
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

interface DeletedRun {
  /** The run of the same session before it. */
  previous: string | undefined
}

/** Deletes runs that ended before that time; in a session, from its last run backwards. Returns their ids. */
export async function pruneRuns(store: Store, before: number): Promise<string[]> {
  const removed: string[] = []
  for await (const { head } of checkpoint.listRuns(store, ["done", "stopped", "aborted", "failed"])) {
    if (head.updatedAt >= before) continue
    // The earlier runs of its session have ended before it.
    for (let id: string | undefined = head.id; id !== undefined; ) {
      const gone: DeletedRun | undefined = await deleteRun(store, id).catch(ignoreInUse)
      if (gone) removed.push(id)
      id = gone?.previous
    }
  }
  return removed
}

function ignoreInUse(error: unknown): undefined {
  if (error instanceof AgentError && (error.code === "followed" || error.code === "running")) return undefined
  throw error
}

function followedMessage(id: string, session: string, last: unknown): string {
  return `Run ${id} is part of session "${session}", and later ones go on from it. Delete those first, beginning with ${last}.`
}
