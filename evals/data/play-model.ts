// Plays the table questions with a real model or a person, in every arm, and scores the closed answers.
import type { SuiteReport, SuiteSetup } from "../harness/suite.ts"
import { type PlayedMode, playedModel } from "../played/model.ts"
import { type PlayedRecord, playedReport } from "../played/report.ts"
import { arms, openKernels } from "./arms.ts"
import { type Conversation, play } from "./play.ts"

export async function playData(
  conversations: readonly Conversation[],
  tables: string,
  mode: PlayedMode,
  { progress, signal }: SuiteSetup,
): Promise<SuiteReport> {
  await using kernels = openKernels(tables)
  const noPython = await kernels.problem()
  const played = arms.filter((arm) => noPython === undefined || !arm.endsWith("-py"))
  const records: PlayedRecord[] = []
  for (const [index, conversation] of conversations.entries()) {
    for (const arm of played) {
      signal.throwIfAborted()
      const record = await play(conversation, arm, { kernels, forgets: true }, await playedModel(mode))
      records.push({ ...record, verified: record.correct === record.questions, scored: true })
    }
    progress(index + 1, conversations.length, conversation.id)
  }
  return playedReport(
    records,
    mode,
    "Each question is a conversation of its own. It is solved if all closed answers are right. In the arms with tools the " +
      "model has nothing that computes.",
  )
}
