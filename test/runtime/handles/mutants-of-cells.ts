import {
  cellErrors,
  cells,
  failedCellsAsDone,
  failuresAsResults,
  hints,
  json,
  type Mutant,
  operations,
  paths,
  renamed,
  reordered,
  results,
  shapes,
  tagged,
  values,
} from "./alter-frames.ts"
import { listOf } from "./mutants-of-values.ts"

const failureLost = { "takes a failed cell for one that worked": failedCellsAsDone }
const hintLost = { "loses the hints": hints(() => []) }
const hintInvented = { "names a copy that was not changed": hints(() => ["store.items is a copy"]) }
const copyForgotten = {
  "forgets that the value is a copy of the field": operations(({ back: _, ...message }) => message, "set"),
}
const assignmentLost = { "makes no assignment": operations((message) => ({ ...message, op: "get" }), "set") }
const optionalForgotten = { "forgets where a path may end": operations(({ o: _, ...message }) => message) }
const versionLost = { "forgets what was read": operations(({ was: _, ...message }) => message, "set") }
const refusalLost = { "takes a refused assignment for a done one": failuresAsResults }

/** Altered messages by the number of the case that catches them: missing awaits, copies and assignments. */
export const cellMutants: { [number: number]: { [what: string]: Mutant } } = {
  80: failureLost,
  81: failureLost,
  82: failureLost,
  83: failureLost,
  84: failureLost,
  85: failureLost,
  86: failureLost,
  87: failureLost,
  88: failureLost,
  89: failureLost,
  90: failureLost,
  91: failureLost,
  92: failureLost,
  93: failureLost,
  94: failureLost,
  95: failureLost,
  96: failureLost,
  97: failureLost,
  98: { ...failureLost, "counts lines from zero": cellErrors((error) => ({ ...error, line: Number(error.line) - 1 })) },
  99: failureLost,
  100: failureLost,
  101: failureLost,
  102: {
    "does not name the member": cellErrors((error) => ({
      ...error,
      message: "A member was not awaited: write `await`.",
    })),
    "does not say the cure": cellErrors((error) => ({
      ...error,
      message: String(error.message).replace(/write.*/, ""),
    })),
  },
  103: { "reads another value": results((value) => (value === 5 ? 6 : value)) },
  104: { "reads another value": results((value) => (value === 5 ? 6 : value)) },
  105: { "calls another method": renamed("add", "sum") },
  106: { "takes every object for a function": shapes((shape) => ({ ...shape, is: "function" })) },

  107: optionalForgotten,
  108: optionalForgotten,
  109: failureLost,
  144: { "loses the value of the cell": values(() => []) },
  145: failureLost,
  146: failureLost,
  147: { "reads another value": results((value) => (value === 5 ? 6 : value)) },

  110: {
    ...hintLost,
    "does not say how to write it back": hints((found) => found.map((hint) => String(hint).replace(/Write.*/, ""))),
  },
  111: hintLost,
  112: hintLost,
  113: hintLost,
  114: hintLost,
  115: hintLost,
  116: hintLost,
  117: hintLost,
  118: hintLost,
  120: hintLost,
  121: hintInvented,
  122: hintInvented,
  123: { ...hintLost, "names every copy": hints((found) => [...found, "store.items is a copy"]) },
  124: { "names one copy": hints((found) => found.slice(0, 1)) },
  125: { "repeats the hints of the cell before": repeatedHints() },
  126: hintLost,
  127: hintLost,
  128: hintInvented,
  129: hintInvented,

  130: copyForgotten,
  131: copyForgotten,
  132: copyForgotten,
  133: copyForgotten,
  134: copyForgotten,
  135: copyForgotten,
  136: copyForgotten,
  137: copyForgotten,
  138: { "takes every value for a copy of the field": operations((message) => ({ ...message, back: true }), "set") },
  139: { "writes to the field that was read": paths((path) => path.map((key) => (key === "more" ? "items" : key))) },
  140: copyForgotten,
  141: {
    "cuts the last element": operations(
      (message) => ({ ...message, v: [listOf(listOf(message.v)[0]).slice(0, -1)] }),
      "set",
    ),
  },
  142: assignmentLost,
  143: assignmentLost,

  148: { ...hintLost, ...versionLost },
  149: { ...hintLost, ...versionLost },
  172: {
    ...hintInvented,
    "says that each field was changed": results((value) =>
      Array.isArray(value) && value[0] === false ? [true, value[1] ?? ""] : value,
    ),
  },

  173: { "copies what is shared": tagged("r", () => ({ n: 1 }), "host") },

  150: assignmentLost,
  151: assignmentLost,
  152: { ...assignmentLost, "takes a Set for an array": tagged("s", ({ e = [] }) => e, "host") },
  153: assignmentLost,
  154: refusalLost,
  155: refusalLost,
  156: refusalLost,
  157: { ...refusalLost, "does not say why": tagged("e", (error) => ({ ...error, message: "It failed." }), "peer") },
  158: refusalLost,
  159: {
    ...refusalLost,
    "does not name the cure": tagged("e", (error) => ({ ...error, message: "brandNew is new" }), "peer"),
  },
  160: assignmentLost,
  161: refusalLost,
  162: { "counts lines from zero": cellErrors((error) => ({ ...error, line: Number(error.line) - 1 })) },
  163: refusalLost,
  164: assignmentLost,
  165: assignmentLost,
  166: assignmentLost,
  167: {
    "makes an assignment after the next one": reordered(({ k, op }) => k === "op" && op === "set"),
    "makes an assignment twice": twice(),
  },
  168: { "takes undefined for null": tagged("u", () => null, "host") },
  169: failureLost,
  170: failureLost,
  171: { "counts elements from one": paths((path) => path.map((key) => (key === "0" ? "1" : key))) },

  195: { "gives a copy of an instance": tagged("p", () => ({}), "host") },
  197: {
    "does not end": json((found, key) => (key === "code" && String(found).includes("SIGKILL") ? "1" : found), "peer"),
  },
}

function repeatedHints(): Mutant {
  return () => {
    let last: string[] = []
    return cells((summary, value) => {
      const own = listOf(summary.hints).map(String)
      const all = [...last, ...own]
      last = own
      return [{ ...summary, hints: all }, value]
    })()
  }
}

function twice(): Mutant {
  return () => {
    let isDone = false
    return (frame) => {
      if (isDone || frame.message.k !== "op" || frame.message.op !== "set") return frame
      isDone = true
      return [frame, { ...frame, message: { ...frame.message, i: 1_000_000 } }]
    }
  }
}
