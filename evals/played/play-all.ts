// Plays conversations one after another with a real model or a person, and keeps each as soon as it has ended.
import type { SuiteSetup } from "../harness/suite.ts"
import type { PlayedRecord } from "./report.ts"

export interface PlayedConversation {
  task: string
  style: string
  /** Rejects if the run is interrupted. */
  play(): Promise<PlayedRecord>
}

/** Returns the records of all conversations. Those that an interrupted run has left are not played again, except where
 *  an error ended them. */
export async function playAll(
  conversations: readonly PlayedConversation[],
  { earlier = [], keep, signal, progress, styles }: SuiteSetup,
): Promise<PlayedRecord[]> {
  const chosen = conversations.filter(({ style }) => styles?.includes(style) ?? true)
  const records: PlayedRecord[] = []
  for (const [index, { task, style, play }] of chosen.entries()) {
    signal.throwIfAborted()
    const known = earlier.filter(isPlayed).find((each) => each.task === task && each.style === style)
    progress(index, chosen.length, `${task}, ${style}`)
    const record = known ?? (await play())
    if (!known && !record.failed) await keep?.(record)
    records.push(record)
  }
  progress(chosen.length, chosen.length, "all")
  return records
}

function isPlayed(record: object): record is PlayedRecord {
  return "scored" in record && "modelCalls" in record
}
