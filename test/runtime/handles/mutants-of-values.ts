import type { Json } from "../../../src/core/json.ts"
import {
  answers,
  asks,
  callArguments,
  callsByItself,
  cellErrors,
  failedCellsAsDone,
  failuresAsResults,
  isObject,
  json,
  type Mutant,
  operations,
  paths,
  peerAnswers,
  renamed,
  results,
  shapes,
  swapped,
  tagged,
  values,
} from "./alter-frames.ts"

/** Altered messages by the number of the case that catches them: values and members. */
export const valueMutants: { [number: number]: { [what: string]: Mutant } } = {
  1: { "takes undefined for null": tagged("u", () => null) },
  2: {
    "loses the sign of zero": tagged("f", (found) => (found.v === "-0" ? 0 : found)),
    "takes what is not finite for null": tagged("f", () => null),
  },
  3: { "rounds big integers": tagged("n", ({ v }) => ({ $: "n", v: `${String(v).slice(0, -2)}00` })) },
  4: { "takes a small big integer for a number": tagged("n", ({ v }) => Number(`0x${v}`)) },
  5: { "loses what is very small": json((found) => (found === 5e-324 ? 0 : found)) },
  6: { "replaces lone surrogates": json((found) => (typeof found === "string" ? found.toWellFormed() : found)) },
  7: { "rounds dates to seconds": tagged("d", ({ v }) => ({ $: "d", v: Math.round(Number(v) / 1000) * 1000 })) },
  8: { "takes an invalid date for the first one": tagged("d", () => ({ $: "d", v: 0 })) },
  9: { "reverses the entries of a Map": tagged("m", ({ e }) => ({ $: "m", e: [...listOf(e)].reverse() })) },
  10: { "takes a Map for an object": tagged("m", ({ e = [] }) => ({ $: "o", e })) },
  11: { "takes a Set for an array": tagged("s", ({ e = [] }) => e) },
  12: {
    "loses the sign of a typed array": tagged("v", (found) => ({ ...found, t: renamedKind(found.t, "Int", "Uint") })),
  },
  13: {
    "takes unsigned integers for signed ones": tagged("v", (found) => ({
      ...found,
      t: renamedKind(found.t, "BigUint", "BigInt"),
    })),
  },
  14: {
    "forgets where a part of a buffer begins": tagged("v", (found) => ({
      ...found,
      ...(found.o !== undefined && { o: 0 }),
    })),
  },
  15: {
    "takes a DataView for bytes": tagged("v", (found) => ({
      ...found,
      t: renamedKind(found.t, "DataView", "Uint8Array"),
    })),
  },
  16: { "empties nested sets": tagged("s", () => ({ $: "s", e: [] })) },
  17: { "takes an empty set for an empty array": tagged("s", () => []) },
  18: {
    "drops the key __proto__": tagged("o", ({ e }) => ({
      $: "o",
      e: listOf(e).filter((entry) => listOf(entry)[0] !== "__proto__"),
    })),
  },
  19: { "cuts the last hole": tagged("l", (found) => ({ ...found, n: Number(found.n) - 1 })) },
  20: {
    "drops named members of arrays": tagged("l", ({ n = 0, e }) => ({
      $: "l",
      n,
      e: listOf(e).filter((entry) => /^\d+$/.test(String(listOf(entry)[0]))),
    })),
  },
  21: { "drops the flags of a RegExp": tagged("x", (found) => ({ ...found, f: "" })) },
  22: { "unpacks boxed primitives": tagged("w", ({ v = null }) => v) },
  23: {
    "drops the cause of an error": tagged("e", (found) => ({ ...found, e: [] })),
    "takes every error for an Error": tagged("e", (found) => ({ ...found, name: "Error" })),
  },
  24: {
    "mixes up two columns": tagged("t", (found) => {
      const columns = listOf(found.c).filter(isObject)
      return {
        ...found,
        c: columns.map((column, at) => ({ ...column, name: columns[columns.length - 1 - at]?.name ?? "" })),
      }
    }),
  },
  25: { "copies what is shared": tagged("r", () => ({ n: 1 }), "peer") },
  26: { "copies what is shared": tagged("r", () => ({ n: 1 }), "host") },
  27: { "cuts a value where it contains itself": tagged("r", () => null, "peer") },
  28: { "cuts a value where it contains itself": tagged("r", () => null, "host") },
  29: { "does not say what was too deep": values((value) => (typeof value === "string" ? "" : value)) },
  30: { "forgets the value that was there": peerAnswers("retrieve", (message) => ({ ...message, v: [] })) },
  31: {
    "sends data with the key $ as it is": tagged(
      "o",
      ({ e }) => Object.fromEntries(listOf(e).map((entry) => [String(listOf(entry)[0]), listOf(entry)[1] ?? null])),
      "host",
    ),
  },
  32: { "forgets the value that was there": peerAnswers("retrieve", (message) => ({ ...message, v: {} })) },
  33: {
    "takes every error for an Error": tagged("e", (found) => ({ ...found, name: "Error" })),
    "drops the fields of an error": tagged("e", (found) => ({ ...found, e: [] })),
  },
  34: {
    "tells no line": cellErrors(({ line: _, ...error }) => error),
    "tells another message": cellErrors((error) => ({ ...error, message: "Error" })),
  },
  35: { "takes undefined for null": tagged("u", () => null, "peer") },

  50: { "walks only the last step of a path": paths((path) => path.slice(-1)) },
  51: { "does not ask for a length": paths((path) => path.filter((key) => key !== "length")) },
  52: { "does not ask for arguments": paths((path) => path.filter((key) => key !== "arguments")) },
  53: { "does not know prototype": renamed("prototype"), "does not know caller": renamed("caller") },
  54: { "walks only the last step of a path": paths((path) => path.slice(-1)) },
  55: { "walks only the last step of a path": paths((path) => path.slice(-1)) },
  56: {
    "answers every read with the first answer": () => {
      let first: Json | undefined
      return results((value) => {
        first ??= value
        return first
      })()
    },
  },
  57: { "takes a failed read for an empty one": failuresAsResults },
  58: { "does not know inherited members": renamed("kind") },
  59: { "reads private members": answersTo("secret", 42) },
  60: {
    "gives the prototype away": answersTo("prototype", "leaked"),
    "gives a base method away": answersTo("__defineGetter__", 1),
  },
  61: { "takes a refused path for an empty answer": failedCellsAsDone },
  62: { "asks a Proxy for another member": renamed("name") },
  63: { "asks a Proxy for another member": renamed("anything") },
  64: { "calls another method of a Proxy": renamed("getUser") },
  65: { "does not know a field": renamed("name") },
  66: { "forgets the fields of a shape": shapes((shape) => ({ ...shape, values: [] })) },
  67: { "forgets the fields of a shape": shapes((shape) => ({ ...shape, values: [] })) },
  68: { "does not find new members": renamed("user") },
  69: { "takes what is missing for null": tagged("u", () => null, "peer") },
  70: { "takes a path that leads nowhere for an empty answer": failuresAsResults },
  71: { "takes a method that is not there for an empty answer": failuresAsResults },
  72: { "forgets which method it was": operations((message) => ({ ...message, p: [] }), "call") },
  73: { "counts elements from one": paths((path) => path.map((key) => (key === "1" ? "2" : key))) },
  74: { "does not know toJSON": renamed("toJSON") },
  75: { "does not know the last of many fields": renamed("f1999") },
  76: { "walks only the last step of a path": paths((path) => path.slice(-1)) },
  77: { "loses the value of the cell": values(() => []) },
  78: { "does not know a getter of the library": renamed("hostname") },

  290: { "calls what is in a value": callsByItself("poke") },
  291: { "calls what is in a value": callsByItself("poke") },
  292: { "calls what is in a value": callsByItself("poke") },
  293: { "calls what is in a value": callsByItself("poke") },
  294: { "calls what is in the value": callsByItself("poke") },
  295: { "calls what was thrown": callsByItself("poke") },
  296: { "calls what is in a value": callsByItself("poke") },
  297: { "calls what is in a value": callsByItself("poke") },
  298: { "drops these keys": keysRenamed() },
  299: { "gives another answer": peerAnswers("call", (message) => ({ ...message, v: 3 })) },
  301: { "forgets the class of an object": tagged("p", (found) => ({ ...found, type: "object" }), "host") },

  310: {
    "gives an object another number each time": () => {
      const counts = new Map<Json, number>()
      return tagged(
        "h",
        (found) => {
          const times = (counts.get(found.id ?? 0) ?? 0) + 1
          counts.set(found.id ?? 0, times)
          return times === 1 ? found : { ...found, id: Number(found.id) + 1000 * times }
        },
        "peer",
      )()
    },
  },
  311: { "gives another object back": swapped("light", "echo") },
  317: {
    "loses host objects at a reset": asks("update", (message) => ({
      ...message,
      values: listOf(message.values).map(() => null),
    })),
  },
  321: { "answers for objects that are gone": peerAnswers("call", (message) => ({ ...message, v: 2 })) },
  322: { "does not name the argument": cellErrors((error) => ({ ...error, message: "It cannot cross: await it." })) },
  318: { "does not say what was too deep": values((value) => (typeof value === "string" ? "" : value)) },
  319: {
    "cuts long messages": callArguments((args) =>
      args.map((each) => (Array.isArray(each) ? each.slice(0, 1000) : each)),
    ),
  },
  320: { "cuts answers": results((value) => (typeof value === "string" ? value.slice(1) : value)) },
}

function answersTo(name: string, value: Json): Mutant {
  return answers((reply, operation) =>
    listOf(operation.p).at(-1) === name ? { k: "reply", i: reply.i ?? 0, v: value } : reply,
  )
}

/** Renames members that JavaScript calls implicitly. */
function keysRenamed(): Mutant {
  const names = new Set(["then", "toJSON", "toString", "valueOf"])
  return json((found) => {
    if (!isObject(found)) return found
    return Object.fromEntries(Object.entries(found).map(([key, member]) => [names.has(key) ? `${key}_` : key, member]))
  }, "host")
}

function renamedKind(kind: Json | undefined, from: string, to: string): Json {
  const name = String(kind)
  return name.startsWith(from) ? to + name.slice(from.length) : name
}

export function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}
