// The oracle: a model that knows the expected calls of a task and makes them in one of the styles.
import type { ModelPart, ModelRequest } from "karst/models"
import { requestPieces } from "../harness/tokens.ts"
import { argumentValues, groupCalls, occursIn } from "./group-calls.ts"
import type { CallPlace, PrintRules, ReplayCall, ReplayTask, Style } from "./task.ts"
import { type Cell, writeCells } from "./write-program.ts"

export interface Oracle {
  /** Answers the next request. */
  answer(request: ModelRequest): string | ModelPart[]
  /** How many planned answers have not been given. */
  remaining(): number
  /** How many cells only printed a result again, because its projection or head lacked what a call needs. */
  rereads(): number
  /** Arguments that were in no message and not in what the user said, although an earlier result has them. */
  unseen: string[]
}

/** Calls that go into one answer, or the text that ends a turn. */
type Step = { calls: readonly ReplayCall[]; cell?: Cell; turn: number } | { text: string }

/** Plans all answers from the expected calls. What a call needs must be in the conversation: if a projection left it
 *  out, the oracle first prints the whole result from its variable, and pays for it. */
export function createOracle(task: ReplayTask, style: Style, print: PrintRules, maxOutputChars: number): Oracle {
  const steps = planSteps(task, style, print)
  const earlier: { call: ReplayCall; expression?: string | undefined }[] = []
  const unseen: string[] = []
  const read = new Map<ReplayCall, number>()
  let rereads = 0
  let callId = 0

  function answer(request: ModelRequest): string | ModelPart[] {
    const [step] = steps
    if (!step) throw new Error(`The oracle of task ${task.id} has no further answer.`)
    if ("text" in step) {
      steps.shift()
      return step.text
    }
    const { calls, cell, turn } = step
    const missing = missingValues(calls, turn, request)
    const source = missing.length > 0 && cell ? readable(missing) : undefined
    if (source) return readAgain(source.call, source.expression)
    unseen.push(...missing)
    steps.shift()
    for (const call of calls) earlier.push({ call, expression: cell?.results.get(call) })
    if (cell) return fencedCell(cell.code)
    return calls.map(({ name, input }) => ({ type: "tool-call", id: `call_${++callId}`, name, input }))
  }

  /** What the calls need from earlier results and cannot see in the request. */
  function missingValues(calls: readonly ReplayCall[], turn: number, request: ModelRequest): string[] {
    const needed = neededValues(calls, userTextUntil(task, turn)).filter((value) =>
      earlier.some(({ call }) => occursIn(value, call.result)),
    )
    if (needed.length === 0) return []
    const visible = requestPieces(request).join("\n")
    return needed.filter((value) => !occursIn(value, visible))
  }

  function readable(missing: readonly string[]): { call: ReplayCall; expression: string } | undefined {
    for (const { call, expression } of earlier) {
      const hasMore = (read.get(call) ?? 0) < call.result.length
      const has = missing.some((value) => occursIn(value, call.result))
      if (expression !== undefined && has && hasMore && !call.fails) return { call, expression }
    }
    return undefined
  }

  /** Prints the whole result, or its next part if the output is limited. */
  function readAgain(call: ReplayCall, expression: string): string {
    rereads++
    const from = read.get(call) ?? 0
    const until = style === "code-cap" ? from + maxOutputChars : Infinity
    read.set(call, until)
    const code = print.whole(expression)
    if (style !== "code-cap") return fencedCell(code)
    return fencedCell(code.replace(/^console\.log\((.*)\)$/s, `console.log($1.slice(${from}, ${until}))`))
  }

  return { answer, remaining: () => steps.length, rereads: () => rereads, unseen }
}

function planSteps(task: ReplayTask, style: Style, print: PrintRules): Step[] {
  let names = 0
  return task.turns.flatMap(({ calls, answer }, turn): Step[] => {
    const groups = style === "json-seq" ? calls.map((call) => [call]) : groupCalls(calls, userTextUntil(task, turn))
    const end: Step = { text: answer }
    if (style.startsWith("json")) return [...groups.map((group) => ({ calls: group, turn })), end]
    const rules = {
      print,
      projects: style === "code-proj",
      place: (call: ReplayCall) => placeOf(task, turn, call),
      nextName: () => `r${++names}`,
    }
    const cells = groups.flatMap((group) => writeCells(group, rules))
    return [...cells.map((cell) => ({ calls: cell.calls, cell, turn })), end]
  })
}

function placeOf(task: ReplayTask, turn: number, call: ReplayCall): CallPlace {
  const own = task.turns[turn]?.calls ?? []
  const later = [...own.slice(own.indexOf(call) + 1), ...task.turns.slice(turn + 1).flatMap(({ calls }) => calls)]
  const needed = neededValues(later, userTextUntil(task, turn))
  return {
    neededLater: needed.filter((value) => occursIn(value, call.result)),
    isLastOfTurn: own.at(-1) === call,
  }
}

function neededValues(calls: readonly ReplayCall[], userText: string): string[] {
  const values = new Set(calls.flatMap(({ input }) => argumentValues(input)))
  return [...values].filter((value) => !occursIn(value, userText))
}

function userTextUntil({ turns }: ReplayTask, turn: number): string {
  return turns
    .slice(0, turn + 1)
    .map(({ user }) => user)
    .join("\n")
}

function fencedCell(code: string): string {
  return `\`\`\`ts\n${code}\n\`\`\``
}
