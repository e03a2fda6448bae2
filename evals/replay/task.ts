// A task as the oracle replays it: what the user says, the calls that are expected, and what the assistant answers.
import type { Bindings, Json, Tool } from "karst"

export interface ReplayTask {
  id: string
  turns: ReplayTurn[]
}

export interface ReplayTurn {
  user: string
  calls: ReplayCall[]
  /** The text that ends the turn. It is the same in every style. */
  answer: string
  /** Facts in the answer that the assistant must have read. */
  mentions?: readonly string[]
}

export interface ReplayCall {
  name: string
  input: Record<string, Json>
  /** The expected result, as text. */
  result: string
  /** Whether the call is expected to fail: in code it throws. */
  fails: boolean
  /** Whether it changes something. */
  writes: boolean
}

/** What the calls of one conversation work on. It is new for each conversation. */
export interface World {
  /** The functions as tools for tool calls. */
  tools: readonly Tool[]
  /** The same functions, and the types they mention, for cells. */
  bindings: Bindings
  /** The calls that were made so far, with their results as text. */
  made: { name: string; input: unknown; result: string }[]
  /** Says what is wrong with the state at the end; undefined if it is as expected. */
  problem(): string | undefined
}

/** How a program prints the result of a call. */
export interface PrintRules {
  /** A statement that prints the whole result, as the text that a tool call returns. */
  whole(name: string): string
  /** A statement that prints a part of the result; undefined if nothing is printed. */
  projection(name: string, call: ReplayCall, place: CallPlace): string | undefined
}

export interface CallPlace {
  /** Values of later calls that the user has not said and that occur in the result of this call. */
  neededLater: readonly string[]
  isLastOfTurn: boolean
}

export type Style = "json-seq" | "json-par" | "code-full" | "code-proj" | "code-cap"
