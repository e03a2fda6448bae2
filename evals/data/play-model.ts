// Plays the table questions with a real model or a person, in every arm, and scores the closed answers.
import type { SuiteReport, SuiteSetup } from "../harness/suite.ts"
import { type PlayedMode, playedModel, playersNote } from "../played/model.ts"
import { playAll } from "../played/play-all.ts"
import { type PlayedRecord, playedReport } from "../played/report.ts"
import { type Arm, arms, openKernels } from "./arms.ts"
import { type Conversation, play } from "./play.ts"
import { comparisons } from "./report.ts"

export async function playData(
  conversations: readonly Conversation[],
  tables: string,
  mode: PlayedMode,
  setup: SuiteSetup,
): Promise<SuiteReport> {
  await using kernels = openKernels(tables)
  const noPython = await kernels.problem()
  const played = arms.filter((arm) => noPython === undefined || !arm.endsWith("-py"))

  async function playOne(conversation: Conversation, arm: Arm): Promise<PlayedRecord> {
    const { signal } = setup
    const record = await play(conversation, arm, { kernels, forgets: true, signal }, await playedModel(mode))
    signal.throwIfAborted()
    return { ...record, verified: record.correct === record.questions, scored: !record.failed }
  }

  const all = conversations.flatMap((conversation) =>
    played.map((arm) => ({ task: conversation.id, style: arm, play: () => playOne(conversation, arm) })),
  )
  const score =
    "Each question is a conversation of its own. It is solved if all closed answers are right. In the arms with tools the " +
    "model has nothing that computes."
  return playedReport(await playAll(all, setup), mode, { score, note: await playersNote(mode), comparisons })
}
