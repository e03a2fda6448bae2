// Replays a task in one style through a real session, and verifies what it left.
import { type Agent, type AgentOptions, createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { measureModel } from "../harness/tokens.ts"
import { createOracle } from "./oracle.ts"
import type { StyleRecord } from "./style-report.ts"
import type { PrintRules, ReplayTask, Style, World } from "./task.ts"

export interface ReplaySetup {
  instructions: string
  print: PrintRules
  world(): World
  /** The output that `code-cap` shows of each cell. */
  capChars: number
}

/** No result is cut in the other styles. */
const wholeOutputChars = 100_000

/** Plays all turns of a task. The record says whether each expected call was made once with the expected result, in an
 *  order that keeps the writes, and whether the end state is as expected. */
export async function replay(task: ReplayTask, style: Style, setup: ReplaySetup): Promise<StyleRecord> {
  const { instructions, print, capChars } = setup
  const world = setup.world()
  const maxOutputChars = style === "code-cap" ? capChars : wholeOutputChars
  const oracle = createOracle(task, style, print, capChars)
  const model = measureModel(scriptedModel((request) => oracle.answer(request)))
  const agent = replayAgent(world, !style.startsWith("json"), { model, instructions, maxOutputChars })
  const problems: string[] = []
  await using session = await agent.session()
  for (const { user } of task.turns) {
    const { status, error } = await session.send(user).settled
    if (status !== "done") problems.push(`a turn ended as ${status}: ${error?.message ?? ""}`)
  }
  if (oracle.remaining() > 0) problems.push(`${oracle.remaining()} answers were not asked for`)
  if (oracle.unseen.length > 0) problems.push(`arguments that no message had: ${oracle.unseen.join(", ")}`)
  problems.push(...wrongCalls(task, world))
  const wrongState = world.problem()
  if (wrongState) problems.push(wrongState)
  return {
    task: task.id,
    style,
    verified: problems.length === 0,
    calls: task.turns.reduce((sum, { calls }) => sum + calls.length, 0),
    turns: task.turns.length,
    rereads: oracle.rereads(),
    ...model.measured(),
    ...(problems.length > 0 && { problem: problems.join("; ") }),
  }
}

/** The agent of a conversation: with the functions of its world as tools, or in cells. */
export function replayAgent(
  world: World,
  asCode: boolean,
  options: Pick<AgentOptions, "model" | "instructions" | "maxOutputChars">,
): Agent {
  const common = { ...options, limits: { cycles: 200 }, now: () => clock } satisfies AgentOptions
  if (asCode) return createAgent({ ...common, runtime: () => jsRuntime(world.bindings) })
  return createAgent({ ...common, tools: world.tools, toolPolicy: { deny: ["ask", "read_artifact"] } })
}

// Every run sees the same time, so that the figures of two runs are the same.
const clock = Date.UTC(2026, 0, 5, 12)

/** What differs between the calls that were made and those that were expected. Reads may be made in another order. */
function wrongCalls({ turns }: ReplayTask, { made }: World): string[] {
  const expected = turns.flatMap(({ calls }) => calls)
  const text = ({ name, input, result }: { name: string; input: unknown; result: string }) =>
    `${name}(${JSON.stringify(input)}) → ${result.slice(0, 2000)}`
  const madeTexts = made.map(text)
  const problems: string[] = []
  for (const call of expected) {
    const place = madeTexts.indexOf(text(call))
    if (place === -1) problems.push(`not made as expected: ${text(call).slice(0, 200)}`)
    else madeTexts.splice(place, 1)
  }
  if (madeTexts.length > 0) problems.push(`made and not expected: ${madeTexts.join(", ").slice(0, 200)}`)
  const writes = expected.filter((call) => call.writes).map(text)
  const madeWrites = made.map(text).filter((call) => writes.includes(call))
  if (madeWrites.join("\n") !== writes.join("\n")) problems.push("the writes were made in another order")
  return problems
}
