// Plays the retail tasks with a real model or a person, as tool calls and as code, and scores the end states.
import type { SuiteReport, SuiteSetup } from "../harness/suite.ts"
import { measureModel } from "../harness/tokens.ts"
import { type PlayedMode, playedModel, playersNote } from "../played/model.ts"
import { playAll } from "../played/play-all.ts"
import { type PlayedRecord, playedReport, successRate } from "../played/report.ts"
import { replayAgent } from "../replay/replay.ts"
import type { RetailData, RetailTask } from "./tasks.ts"
import { createWorld } from "./world.ts"

export const playedStyles = ["tools", "code"] as const

/** How often the user agrees. The first time may answer a question about something else. */
const confirmations = 3

export async function playRetail(data: RetailData, mode: PlayedMode, setup: SuiteSetup): Promise<SuiteReport> {
  const conversations = data.tasks.slice(0, setup.maxTasks).flatMap((task) =>
    playedStyles.map((style) => ({
      task: task.id,
      style,
      play: () => playTask(data, task, style, mode, setup.signal),
    })),
  )
  const records = await playAll(conversations, setup)
  const report = playedReport(records, mode, {
    score: scoreText,
    note: await playersNote(mode),
    comparisons: [["code", "tools"]],
  })
  if (mode.type === "hand") return report
  return { ...report, claims: { retailSuccess: successRate(records, "code") - successRate(records, "tools") } }
}

const scoreText =
  "The user says everything at once, and then agrees up to three times. A task is solved if the hash of the end state is " +
  "that of the reference. Tasks that change nothing are played and not scored. The model decides which calls it makes " +
  "together and what it prints."

async function playTask(
  data: RetailData,
  { id, endHash, conversation }: RetailTask,
  style: (typeof playedStyles)[number],
  mode: PlayedMode,
  signal: AbortSignal,
): Promise<PlayedRecord> {
  const world = createWorld(data, endHash)
  const model = measureModel(await playedModel(mode))
  const agent = replayAgent(world, style === "code", { model, instructions: data.policy, maxOutputChars: 20_000 })
  await using session = await agent.session()
  const [opening = ""] = conversation.turns.map(({ user }) => user)
  const changes = conversation.turns.length > 1
  let problem: string | undefined
  let failed = false
  for (const user of [opening, ...Array.from({ length: changes ? confirmations : 0 }, () => "Yes, please.")]) {
    const { status, error, output } = await session.send(user, { signal }).settled
    signal.throwIfAborted()
    failed ||= status === "failed"
    if (status !== "done") problem = `a turn ended as ${status}: ${error?.message ?? ""}`
    if (problem !== undefined || (user !== opening && !output.includes("?"))) break
  }
  problem ??= world.problem()
  return {
    task: id,
    style,
    verified: problem === undefined,
    scored: changes && !failed,
    ...(failed && { failed }),
    ...model.measured(),
    ...(problem !== undefined && { problem }),
  }
}
