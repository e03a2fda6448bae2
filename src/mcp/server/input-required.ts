// Calls of clients with the protocol of 2026-07-28 that need an answer of the user.
import { randomBytes } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import type { CallToolResult, InputRequests, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server"
import type { Approver } from "../../actions/approval.ts"
import { followSignals } from "../../core/abort.ts"
import { AbortError } from "../../core/errors.ts"
import type { McpCall } from "../mcp-types.ts"
import type { ServerPackage } from "../sdk-packages.ts"
import { answerSchema, answerTimeoutMs, decisionOf, questionAbout } from "./ask-client.ts"
import type { ClientCellCall } from "./client-cells.ts"
import { createProgressNotifier } from "./progress-notifications.ts"

/** In this protocol a server cannot ask during a call. It answers the call with its questions ("input required") and
 *  pauses the call. The client repeats the request with the answers and the state that it received. */
export interface InputRequiredCalls {
  /** Starts the call of a request, or continues the paused call that the request repeats. */
  answer(
    call: McpCall,
    context: ServerContext,
    begin: (call: McpCall, resources: ResumableCall) => Promise<CallToolResult>,
  ): Promise<CallToolResult | InputRequiredResult>
  /** Aborts the paused calls. */
  close(reason: AbortError): void
}

/** What a call needs that may outlive its request. */
export interface ResumableCall extends ClientCellCall {
  approver: Approver
}

interface PausedCall {
  call: McpCall
  controller: AbortController
  progress(text: string): void
  outcome: Promise<CallToolResult>
}

interface Question {
  /** The id of the asking call. */
  owner: string
  key: string
  message: string
  resolve(answer: ReturnType<typeof decisionOf>): void
}

// The maximum number of paused calls, because clients may never come back.
const maxPaused = 100

export function createInputRequiredCalls(sdk: ServerPackage): InputRequiredCalls {
  /** By the state that the client must send back. It is random, so that no one can continue another client's call. */
  const paused = new Map<string, PausedCall>()
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

  function startCall(call: McpCall, begin: Parameters<InputRequiredCalls["answer"]>[2]): PausedCall {
    const controller = new AbortController()
    const started: PausedCall = { call, controller, progress() {}, outcome: Promise.resolve({ content: [] }) }
    started.outcome = begin(call, {
      signal: controller.signal,
      progress: (text) => started.progress(text),
      approver: approverOf(call.id),
      isAsking: () => questionsFor(call).length > 0,
    })
    // If the client is gone, no one handles this failure.
    started.outcome.catch(() => undefined)
    return started
  }

  function takePausedCall(state: unknown, { tool, input }: McpCall): PausedCall {
    const found = typeof state === "string" ? paused.get(state) : undefined
    if (typeof state === "string" && found && found.call.tool === tool && isDeepStrictEqual(found.call.input, input)) {
      paused.delete(state)
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

  function pause(call: PausedCall): string {
    const state = randomBytes(24).toString("base64url")
    paused.set(state, call)
    const [oldest] = paused
    if (paused.size > maxPaused && oldest) {
      paused.delete(oldest[0])
      oldest[1].controller.abort(new AbortError(`More than ${maxPaused} calls wait for answers of their clients.`))
    }
    return state
  }

  return {
    async answer(call, context, begin) {
      const state = context.mcpReq.requestState()
      const current = state === undefined ? startCall(call, begin) : takePausedCall(state, call)
      const answers = context.mcpReq.inputResponses ?? {}
      for (const question of questionsFor(current.call)) {
        if (Object.hasOwn(answers, question.key)) question.resolve(decisionOf(answers[question.key], false))
      }
      const stopFollowing = followSignals(current.controller, [context.mcpReq.signal])
      current.progress = createProgressNotifier(context)
      const askedQuestion = Promise.withResolvers<undefined>()
      const checkQuestions = () => void (questionsFor(current.call).length > 0 && askedQuestion.resolve(undefined))
      listeners.add(checkQuestions)
      checkQuestions()
      try {
        const result = await Promise.race([current.outcome, askedQuestion.promise])
        if (result) return result
        const inputRequests: InputRequests = {}
        for (const { key, message } of questionsFor(current.call)) {
          const params = { mode: "form" as const, message, requestedSchema: answerSchema(false) }
          inputRequests[key] = { method: "elicitation/create", params }
        }
        return { resultType: "input_required", inputRequests, requestState: pause(current) }
      } finally {
        listeners.delete(checkQuestions)
        stopFollowing()
        current.progress = () => {}
      }
    },
    close(reason) {
      for (const { controller } of paused.values()) controller.abort(reason)
      paused.clear()
    },
  }
}
