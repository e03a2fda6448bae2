import { randomBytes } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import type { CallToolResult, InputRequests, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server"
import type { Approver } from "../../actions/approval.ts"
import { AbortError } from "../../core/errors.ts"
import { followSignals } from "../../core/run-context.ts"
import type { McpCall } from "../mcp-types.ts"
import type { ServerPackage } from "../sdk-packages.ts"
import { answerSchema, answerTimeoutMs, decisionOf, questionAbout } from "./ask-client.ts"
import { createProgressNotifier } from "./progress-notifications.ts"

/** Calls of clients that speak the protocol of 2026-07-28, in which a server cannot ask in the middle of a call. The server
 *  answers such a call with its questions ("input required"), keeps the call, and the client repeats the request with the
 *  answers and the state that it was given. */
export interface InputRequiredCalls {
  /** Begins the call of a request, or continues the call that the request repeats. */
  answer(
    call: McpCall,
    context: ServerContext,
    begin: (call: McpCall, asked: ResumableCall) => Promise<CallToolResult>,
  ): Promise<CallToolResult | InputRequiredResult>
  /** Ends the calls that wait for their client. */
  close(reason: AbortError): void
}

/** What a call needs that may outlive its request. */
export interface ResumableCall {
  signal: AbortSignal
  progress(text: string): void
  approver: Approver
  /** Whether the client has questions to answer, so that the call cannot go on. */
  isAsking(): boolean
}

interface PausedCall {
  call: McpCall
  controller: AbortController
  progress(text: string): void
  outcome: Promise<CallToolResult>
}

interface Question {
  /** The id of the call that asks. */
  owner: string
  key: string
  message: string
  resolve(answer: ReturnType<typeof decisionOf>): void
}

// Of calls whose client never came back.
const maxPaused = 100

export function createInputRequiredCalls(sdk: ServerPackage): InputRequiredCalls {
  /** By the state that the client has to send back. It is random, so that nobody can continue the call of another. */
  const kept = new Map<string, PausedCall>()
  const questions = new Set<Question>()
  const listeners = new Set<() => void>()

  function approverOf(owner: string): Approver {
    return (call, signal) =>
      new Promise((resolve) => {
        const key = randomBytes(8).toString("hex")
        const timer = setTimeout(() => question.resolve("deny"), answerTimeoutMs)
        const stop = () => question.resolve("deny")
        const question: Question = {
          owner,
          key,
          message: questionAbout(call),
          resolve(answer) {
            clearTimeout(timer)
            signal.removeEventListener("abort", stop)
            questions.delete(question)
            resolve(answer)
          },
        }
        signal.addEventListener("abort", stop)
        questions.add(question)
        for (const listener of listeners) listener()
      })
  }

  function started(call: McpCall, begin: Parameters<InputRequiredCalls["answer"]>[2]): PausedCall {
    const controller = new AbortController()
    const made: PausedCall = { call, controller, progress() {}, outcome: Promise.resolve({ content: [] }) }
    made.outcome = begin(call, {
      signal: controller.signal,
      progress: (text) => made.progress(text),
      approver: approverOf(call.id),
      isAsking: () => questionsFor(call).length > 0,
    })
    // Where its client is gone, nobody hears of its failure.
    made.outcome.catch(() => undefined)
    return made
  }

  function continued(state: unknown, { tool, input }: McpCall): PausedCall {
    const found = typeof state === "string" ? kept.get(state) : undefined
    if (typeof state === "string" && found && found.call.tool === tool && isDeepStrictEqual(found.call.input, input)) {
      kept.delete(state)
      return found
    }
    throw new sdk.ProtocolError(
      sdk.ProtocolErrorCode.InvalidParams,
      "The call that is to be continued is not known here: it was continued before, has other arguments, or the server was restarted. Call the tool again.",
    )
  }

  /** The questions of a call, and those of the cell that it waits for. */
  function questionsFor({ id, tool, input }: McpCall): Question[] {
    const cell: unknown = tool === "wait" ? Object(input).cell : undefined
    return [...questions].filter(({ owner }) => owner === id || owner === cell)
  }

  function keep(call: PausedCall): string {
    const state = randomBytes(24).toString("base64url")
    kept.set(state, call)
    const [oldest] = kept
    if (kept.size > maxPaused && oldest) {
      kept.delete(oldest[0])
      oldest[1].controller.abort(new AbortError(`More than ${maxPaused} calls wait for answers of their clients.`))
    }
    return state
  }

  return {
    async answer(call, context, begin) {
      const state = context.mcpReq.requestState()
      const current = state === undefined ? started(call, begin) : continued(state, call)
      const answers = context.mcpReq.inputResponses ?? {}
      for (const question of questionsFor(current.call)) {
        if (Object.hasOwn(answers, question.key)) question.resolve(decisionOf(answers[question.key], false))
      }
      const unfollow = followSignals(current.controller, [context.mcpReq.signal])
      current.progress = createProgressNotifier(context)
      const asked = Promise.withResolvers<undefined>()
      const look = () => void (questionsFor(current.call).length > 0 && asked.resolve(undefined))
      listeners.add(look)
      look()
      try {
        const result = await Promise.race([current.outcome, asked.promise])
        if (result) return result
        const inputRequests: InputRequests = {}
        for (const { key, message } of questionsFor(current.call)) {
          const params = { mode: "form" as const, message, requestedSchema: answerSchema(false) }
          inputRequests[key] = { method: "elicitation/create", params }
        }
        return { resultType: "input_required", inputRequests, requestState: keep(current) }
      } finally {
        listeners.delete(look)
        unfollow()
        current.progress = () => {}
      }
    },
    close(reason) {
      for (const { controller } of kept.values()) controller.abort(reason)
      kept.clear()
    },
  }
}
