import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { AgentEvent, EventOf, EventType, Json } from "karst"
import { newId } from "../../src/core/message.ts"
import type { Step, TurnResult } from "../../src/providers/provider.ts"
import type { LineParser } from "../../src/providers/turn/json-lines-session.ts"
import { createStepRecorder } from "../../src/providers/turn/steps-to-events.ts"

type Line = { [key: string]: Json }

/** The lines that a real CLI wrote, from test/fixtures/recordings. */
export function readCliRecording(name: string): Line[] {
  const file = join(import.meta.dirname, "..", "fixtures", "recordings", `${name}.jsonl`)
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
}

export interface Read {
  steps: Step[]
  end: TurnResult | undefined
  /** The events of a run with these steps. */
  events: AgentEvent[]
  of<T extends EventType>(type: T): EventOf<T>[]
}

/** The events of a run without what differs between runs: ids, times, deltas, raw lines, model and provider, and the
 *  usage of each answer, which comes in lines that recordings do not have. */
export function comparableEvents(events: readonly AgentEvent[]): unknown[] {
  const ids = new Map<string, string>()
  const named = (text: string) => ids.get(text) ?? ids.set(text, `id-${ids.size}`).get(text)
  const shown = events.filter(({ type }) => !/^(run-|raw-|approval-|call-)|-delta$/.test(type))
  const told = shown.map(({ run, parent, seq, at, ...body }) => body)
  return JSON.parse(
    JSON.stringify(told).replace(/"((?:m|x|run|toolu|call)_[\w-]+)"/g, (_, id) => JSON.stringify(named(id))),
    (key, value) => (key === "durationMs" ? 0 : /^(usage|model|provider)$/.test(key) ? undefined : value),
  )
}

/** Reads recorded lines with a parser, as a run would. */
export function readLines(parser: LineParser, lines: readonly Line[]): Read {
  const steps: Step[] = []
  const events: AgentEvent[] = []
  let end: TurnResult | undefined
  const forward = (event: AgentEvent) => void events.push(event)
  const emit = (body: Parameters<Parameters<typeof createStepRecorder>[0]["control"]["emit"]>[0]): AgentEvent => {
    const event: AgentEvent = Object.assign(body, { run: "run", seq: events.length, at: 0 })
    events.push(event)
    return event
  }
  const told = createStepRecorder({ control: { id: newId("run"), emit, forward }, source: "test", now: () => 0 })
  for (const line of lines) {
    if (end) break
    const parsed = parser.read(line)
    for (const step of parsed.steps) {
      steps.push(step)
      told.record(step)
    }
    end = parsed.end
  }
  told.finish()
  return {
    steps,
    end,
    events,
    of: <T extends EventType>(type: T) => events.filter((event): event is EventOf<T> => event.type === type),
  }
}
