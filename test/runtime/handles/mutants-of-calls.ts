import type { Json } from "../../../src/core/json.ts"
import type { WireObject } from "../../../src/runtime/handles/wire.ts"
import {
  asks,
  callArguments,
  dropped,
  executions,
  failedCellsAsDone,
  failuresAsResults,
  isObject,
  type Mutant,
  operations,
  peerAnswers,
  releasesTooMuch,
  renamed,
  renumbered,
  results,
  shapes,
  swapped,
  tagged,
  values,
} from "./alter-frames.ts"
import { listOf } from "./mutants-of-values.ts"

const otherMethod = { "calls another method": renamed("wipe", "read") }
const otherResult = { "gets another answer": results((value) => (typeof value === "number" ? value + 1 : "other")) }
const otherArguments = { "calls with other arguments": callArguments((args) => args.map(() => 77)) }
const otherCallbackArguments = {
  "calls back with other arguments": asks("call", (message) => ({
    ...message,
    args: listOf(message.args).map(() => 77),
  })),
}
const otherCallbackResult = {
  "gets another answer from the cell": peerAnswers("call", (message) =>
    message.k === "reply" ? { ...message, v: 77 } : message,
  ),
}
const callbackFailureLost = {
  "takes a failed callback for one that worked": peerAnswers("call", ({ i = 0, ...message }) =>
    message.k === "fail" ? { k: "reply", i, v: 1 } : { i, ...message },
  ),
}
const callbackFails = {
  "takes a callback that worked for a failed one": peerAnswers("call", ({ i = 0 }) => ({
    k: "fail",
    i,
    e: { error: { $: "e", name: "Error", message: "It failed.", e: [] } },
  })),
}
const failureLost = { "takes a failed cell for one that worked": failedCellsAsDone }
const refusalLost = { "takes a refused call for one that was made": failuresAsResults }
const toOther = (from: string, to: string) => ({ [`passes ${to} on in the place of ${from}`]: swapped(from, to) })
const objectsAsData = { "copies objects of cells": tagged("p", () => ({ copied: true })) }

/** Altered messages by the number of the case that catches them: functions, callbacks, the gate, lifetime, classes. */
export const callMutants: { [number: number]: { [what: string]: Mutant } } = {
  180: { ...otherCallbackArguments, ...otherCallbackResult },
  181: otherCallbackResult,
  182: { ...otherCallbackResult, "reads another field": peerAnswers("get", (message) => ({ ...message, v: 9 })) },
  183: { "makes no assignment": asks("set", ({ value: _, ...message }) => ({ ...message, op: "get" })) },
  184: { "gives an object another number each time": renumbered("p", "host") },
  185: objectsAsData,
  186: objectsAsData,
  187: otherCallbackResult,
  188: objectsAsData,
  189: otherCallbackResult,
  190: {
    ...callbackFailureLost,
    "takes every error for an Error": tagged("e", (found) => ({ ...found, name: "Error" }), "host"),
  },
  191: {
    "drops host objects among the arguments": asks("call", (message) => ({
      ...message,
      args: listOf(message.args).map(() => null),
    })),
  },
  192: otherCallbackResult,
  193: {
    "cannot read a field": peerAnswers("get", ({ i = 0 }) => ({
      k: "fail",
      i,
      e: { error: { $: "e", name: "Error", message: "It failed.", e: [] } },
    })),
  },
  194: { "copies objects of cells": tagged("p", () => ({ copied: true }), "peer") },
  196: { "never lets go of an object": dropped("release") },

  200: { ...otherCallbackArguments, ...otherCallbackResult },
  201: otherCallbackArguments,
  202: otherCallbackArguments,
  203: otherCallbackArguments,
  204: { ...otherCallbackArguments, "rounds big integers": tagged("n", () => ({ $: "n", v: "10" })) },
  205: otherCallbackArguments,
  206: otherCallbackArguments,
  207: failureLost,
  208: callbackFailureLost,
  209: {
    ...callbackFailureLost,
    "does not say what failed": tagged("e", (found) => ({ ...found, message: "It failed." }), "host"),
  },
  210: callbackFailureLost,
  211: callbackFailureLost,
  212: { "answers at once": asks("call", ({ args: _, ...message }) => ({ ...message, op: "get" })) },
  213: callbackFailureLost,
  214: callbackFails,
  215: callbackFails,
  216: otherCallbackArguments,
  217: { "gives a function another number each time": renumbered("p", "host") },
  218: refusalLost,
  219: refusalLost,
  220: refusalLost,
  221: refusalLost,
  222: { "calls another method": renamed("includes", "indexOf") },
  224: { "calls another method": renamed("has", "total") },
  223: otherCallbackArguments,

  230: { ...toOther("wipe", "echo"), ...otherArguments },
  231: toOther("wipe", "echo"),
  232: toOther("wipe", "echo"),
  233: toOther("wipe", "echo"),
  234: { "passes another function on the first time": swapped("wipe", "echo", (time) => time === 0) },
  235: { "passes another function on the second time": swapped("wipe", "echo", (time) => time === 1) },
  236: toOther("wipe", "take"),
  237: toOther("wipe", "echo"),
  238: { "gives another function": swapped("add", "echo") },
  239: { "drops methods": tagged("hm", () => null, "host") },
  240: { "drops a method the second time": secondMethodLost() },
  241: toOther("wipe", "echo"),
  242: { "makes all calls for the first cell": executions("first"), ...toOther("wipe", "echo") },
  243: toOther("pay", "echo"),
  244: otherArguments,
  245: { "does not know members of functions": renamed("version") },
  246: { "mixes up two bindings of one function": swapped("asked", "free") },
  247: toOther("wipe", "echo"),

  250: otherArguments,
  251: { "takes a read for a call": operations((message) => ({ ...message, op: "call", v: [[], {}] }), "get") },
  252: refusalLost,
  253: toOther("act", "echo"),
  254: toOther("pay", "echo"),
  255: { "sends other input": callArguments(() => [{ n: 1 }]) },
  256: otherResult,
  257: otherResult,
  258: otherResult,
  259: { "calls with other arguments": callArguments(() => [77], "dim") },
  260: otherResult,
  261: { "makes all calls for the first cell": executions("first") },
  262: { "makes all calls for the newest cell": executions("newest") },
  263: { "makes all calls for the newest cell": executions("newest") },
  264: { "makes all calls for the first cell": executions("first") },
  265: { "takes a call for a read": operations((message) => ({ ...message, op: "get" }), "call") },

  270: otherMethod,
  271: otherMethod,
  272: otherMethod,
  273: otherMethod,
  274: otherMethod,
  275: otherMethod,
  276: { "says that it was called": values(() => true) },
  277: otherMethod,
  278: otherMethod,
  279: otherMethod,
  280: otherMethod,
  281: otherMethod,
  282: { "calls another method": renamed("format", "own") },
  283: otherArguments,
  284: otherMethod,
  285: otherMethod,

  312: { "gives back what is still held": releasesTooMuch(/open/) },
  313: { "gives back what is still held": releasesTooMuch(/open/) },
  314: { "never gives an object back": dropped("release") },
  315: {
    "does not say how many there may be": tagged(
      "e",
      (found) => ({ ...found, message: "Too many: let go of some." }),
      "peer",
    ),
  },
  316: { "never gives an object back": dropped("release") },

  330: endsAfter(1),
  331: endsAfter(1),
  332: endsAfter(1),
  333: endsAfter(1),
  334: { "does not end the iterator": renamed("return", "next") },
  335: { "does not end the iterator": renamed("return", "next") },
  337: { "takes a failed iteration for an empty one": failedIterationAsEmpty() },
  338: failureLost,
  339: endsAfter(0),
  340: { "does not dispose": operations((message) => ({ ...message, op: "members" }), "dispose") },
  341: endsAfter(1),
  342: failureLost,
  345: { "makes an instance of other arguments": callArguments(() => ["other"]) },
  346: { "does not know static fields": renamed("kind") },
  347: { "forgets the classes of an object": shapes((shape) => ({ ...shape, classes: [] })) },
  348: { "forgets the classes of an object": shapes((shape) => ({ ...shape, classes: [] })) },
  349: { "gives another object": swapped("Lamp", "echo") },
  350: refusalLost,
  351: failureLost,
  355: otherArguments,
  356: { "drops the options": callArguments((args) => args.slice(0, 1)) },
  357: { "gives another object": swapped("cleaner", "echo") },
}

function secondMethodLost(): Mutant {
  return () => {
    let count = 0
    return tagged("hm", (found) => (++count > 1 ? null : found), "host")()
  }
}

/** Iterations end after some items. */
function endsAfter(items: number): { [what: string]: Mutant } {
  const cut: Mutant = () => {
    let count = 0
    return results((value) => {
      if (!isStep(value)) return value
      return count++ < items ? value : { ...value, done: true, value: { $: "u" } }
    })()
  }
  return { [`ends iterations after ${items}`]: cut }
}

function failedIterationAsEmpty(): Mutant {
  return () => (frame, to) => {
    const { message } = frame
    if (to !== "peer" || message.k !== "fail") return frame
    const reply: WireObject = { k: "reply", i: message.i ?? 0, v: { done: true, value: { $: "u" } } }
    return { message: reply, buffers: [], special: true }
  }
}

function isStep(value: Json): value is WireObject {
  return isObject(value) && "done" in value
}
