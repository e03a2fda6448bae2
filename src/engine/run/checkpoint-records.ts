// The records of a checkpoint beside its head: events, artifacts, outputs, snapshot.
import type { AgentEvent } from "../../core/event.ts"
import { asJson } from "../../core/json.ts"
import { encodeValue } from "../../sessions/value-codec.ts"
import type { Store, StoreChange } from "../../stores/store.ts"
import type { ReadArtifact } from "../../tools/artifacts.ts"
import { damagedRunError, type RunHead, readHead, runKeys } from "../checkpoint.ts"

/** The new data of a checkpoint beside the head. */
export interface CheckpointRecords {
  events: readonly AgentEvent[]
  artifacts: ReadonlyMap<string, string>
  /** The declared outputs of a run that has ended. */
  objects?: Record<string, unknown> | undefined
  snapshot?: readonly StoreChange[] | undefined
}

/** The changes that store the data, for the same commit as the head. */
export function checkpointChanges(
  id: string,
  { events, artifacts, objects, snapshot = [] }: CheckpointRecords,
): StoreChange[] {
  const keys = runKeys(id)
  const changes: StoreChange[] = [...snapshot]
  for (const [name, text] of artifacts) changes.push({ type: "put", key: keys.artifacts + name, value: text })
  if (events.length > 0) changes.push({ type: "append", log: keys.events, items: events.map(asJson) })
  const outputs = objects && encodeValue(objects)
  if (outputs) changes.push({ type: "put", key: keys.objects, value: asJson(outputs) })
  return changes
}

/** Reads artifacts of a run, and of the runs before it in its session. */
export function runArtifactReader(store: Store, { id, after }: RunHead): ReadArtifact {
  return async (name) => {
    for (let run: string | undefined = id, before = after; run !== undefined; ) {
      const entry = await store.get(runKeys(run).artifacts + name)
      if (typeof entry?.value === "string") return entry.value
      if (entry) throw damagedRunError(run, `its artifact "${name}" is not a text`)
      run = before
      before = run === undefined ? undefined : (await readHead(store, run))?.head.after
    }
    return undefined
  }
}
