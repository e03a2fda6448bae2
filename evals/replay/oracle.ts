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
interface Step {
  calls: readonly ReplayCall[]
  cell?: Cell
  text?: string
  /** The values that the answer has and the user has not said. */
  needs: readonly string[]
}

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
    const { calls, cell, text } = step
    const missing = missingValues(step.needs, request)
    const source = missing.length > 0 ? readable(missing) : undefined
    if (source) return readAgain(source.call, source.expression)
    unseen.push(...missing)
    steps.shift()
    if (text !== undefined) return text
    for (const call of calls) earlier.push({ call, expression: cell?.results.get(call) })
    if (cell) return fencedCell(cell.code)
    return calls.map(({ name, input }) => ({ type: "tool-call", id: `call_${++callId}`, name, input }))
  }

  /** The values that earlier results have and the request does not show. A result that was read again part by part has
   *  been seen, although no message has a value that lies in two parts. */
  function missingValues(needs: readonly string[], request: ModelRequest): string[] {
    const found = needs.filter((value) => earlier.some(({ call }) => occursIn(value, call.result)))
    if (found.length === 0) return []
    const visible = requestPieces(request).join("\n")
    const wasRead = (value: string) => earlier.some(({ call }) => isRead(call) && occursIn(value, call.result))
    return found.filter((value) => !occursIn(value, visible) && !wasRead(value))
  }

  function isRead(call: ReplayCall): boolean {
    return (read.get(call) ?? 0) >= call.result.length
  }

  function readable(missing: readonly string[]): { call: ReplayCall; expression: string } | undefined {
    for (const { call, expression } of earlier) {
      const has = missing.some((value) => occursIn(value, call.result))
      if (expression !== undefined && has && !isRead(call) && !call.fails) return { call, expression }
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
  return task.turns.flatMap((own, turn): Step[] => {
    const userText = userTextUntil(task, turn)
    const groups = style === "json-seq" ? own.calls.map((call) => [call]) : groupCalls(own.calls, userText)
    const withNeeds = (step: Omit<Step, "needs">): Step => ({ ...step, needs: neededValues(step.calls, userText) })
    const end: Step = { calls: [], text: own.answer, needs: mentionedValues(task, turn) }
    if (style.startsWith("json")) return [...groups.map((calls) => withNeeds({ calls })), end]
    const rules = {
      print,
      projects: style === "code-proj",
      place: (call: ReplayCall) => placeOf(task, turn, call),
      nextName: () => `r${++names}`,
    }
    const cells = groups.flatMap((group) => writeCells(group, rules))
    return [...cells.map((cell) => withNeeds({ calls: cell.calls, cell })), end]
  })
}

/** What the text at the end of a turn says and the user has not: facts that it must state, and arguments of later
 *  calls, such as those of changes that it lists. */
function mentionedValues(task: ReplayTask, turn: number): string[] {
  const { answer = "", mentions = [] } = task.turns[turn] ?? {}
  const userText = userTextUntil(task, turn)
  const later = task.turns.slice(turn + 1).flatMap(({ calls }) => calls)
  const values = [...mentions.filter((value) => !occursIn(value, userText)), ...neededValues(later, userText)]
  return values.filter((value) => occursIn(value, answer))
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
