// A conversation with a program that speaks ACP. Its process stays alive between turns; it is restarted if it has ended
// or if the settings change.
import { setTimeout as delay, setImmediate as yieldToEventLoop } from "node:timers/promises"
import { rejectOnAbort } from "../../core/abort.ts"
import { ProviderError, UnsupportedError } from "../../core/errors.ts"
import type { UserMessage } from "../../core/message.ts"
import { abortError } from "../../core/run.ts"
import type { ProviderSession, Step, TurnResult, TurnSettings } from "../provider.ts"
import { providerFailure } from "../provider-failure.ts"
import { type JsonObject, objectAt, textAt, valueAt } from "../read-json.ts"
import { promptText } from "../turn/prompt-files.ts"
import { createTurnTimeouts } from "../turn/turn-timeouts.ts"
import { type AcpCli, type OpenAcpSession, openAcpSession } from "./acp-open-session.ts"
import { cancelledAnswer, decidePermission, permissionAnswer } from "./acp-permissions.ts"
import type { AcpListener, AcpProcess } from "./acp-process.ts"
import { createAcpUpdateReader, readAcpCost, readAcpUsage } from "./acp-updates.ts"

export function createAcpSession(cli: AcpCli, opening: { key?: string | undefined }): ProviderSession {
  let { key } = opening
  let live: (OpenAcpSession & { signature: string }) | undefined
  /** The cost of the conversation before this turn, if known. */
  let costBeforeTurn: number | undefined
  let sentInstructions: string | undefined

  async function close(): Promise<void> {
    const ending = live
    live = undefined
    await ending?.end()
  }

  return {
    get key() {
      return key
    },
    async turn(turn, services) {
      const { settings } = turn
      const reader = createAcpUpdateReader(settings.cwd)
      let acpProcess: AcpProcess | undefined
      let cost: number | undefined
      let hasPrompted = false
      let hasDenied = false
      /** The number of unanswered permission requests. */
      let openRequests = 0
      /** The time-out that fired, if any. It also stops a process that starts only afterwards. */
      let firedTimeout: "timeout" | "idle" | undefined
      const timeouts = createTurnTimeouts(settings, (why) => {
        firedTimeout = why
        acpProcess?.stop(why)
      })

      function report(steps: readonly Step[]): void {
        for (const step of steps) services.report(step)
        timeouts.setBusy(reader.hasRunningCalls || openRequests > 0)
      }

      function turnCost(): number | undefined {
        if (!hasPrompted || cost === undefined || costBeforeTurn === undefined) return undefined
        // Some programs report 0 for models without a known price.
        return cost > costBeforeTurn ? cost - costBeforeTurn : undefined
      }

      const listener: AcpListener = {
        limits: settings,
        onOutputLine: timeouts.resetIdleTimer,
        update(params) {
          const update = objectAt(params, "update")
          if (textAt(params, "sessionId") !== key) return
          cost = readAcpCost(update) ?? cost
          // Updates before the prompt repeat the past of a loaded session.
          if (!hasPrompted) return
          if (!isChunk(update)) services.report({ type: "raw", data: params })
          const costUsd = turnCost()
          if (costUsd !== undefined) services.report({ type: "usage", usage: { complete: false, costUsd } })
          report(reader.update(update))
        },
        unknownLine: (line) => services.report({ type: "raw", data: line }),
        async answerPermission(request) {
          services.report({ type: "raw", data: request })
          // A request of another session is from a sub-agent, whose calls are not reported.
          const isOwn = textAt(request, "sessionId") === key
          const { steps, call } = (isOwn ? reader : createAcpUpdateReader(settings.cwd)).permissionRequested(
            objectAt(request, "toolCall"),
          )
          const { id, name, input } = call
          const verdict = decidePermission(call, settings)
          openRequests++
          report(isOwn ? steps : [])
          try {
            const decision = verdict === "ask" ? await services.approve({ id, name, input }) : verdict
            if (decision === "deny") hasDenied = true
            openRequests--
            report(decision === "deny" && isOwn ? reader.permissionDenied(id) : [])
            return permissionAnswer(request, decision)
          } catch {
            // The turn is being aborted.
            return cancelledAnswer
          }
        },
      }

      function onStarted(child: AcpProcess): void {
        acpProcess = child
        if (services.signal.aborted) child.stop("abort")
        else if (firedTimeout) child.stop(firedTimeout)
      }

      async function ensureOpen(): Promise<OpenAcpSession> {
        const signature = processSignature(settings)
        if (live && (live.acpProcess.isGone || live.signature !== signature)) await close()
        if (live) {
          acpProcess = live.acpProcess
          acpProcess.listener = listener
          return live
        }
        live = { ...(await openAcpSession(cli, { settings, key, listener, onStarted })), signature }
        for (const message of live.warnings) services.report({ type: "warning", code: "cli-option", message })
        if (key !== undefined) await waitForSilence(listener)
        costBeforeTurn = key === undefined ? 0 : (cost ?? costBeforeTurn)
        return live
      }

      async function runTurn(): Promise<TurnResult> {
        const { acpProcess: running, id, instructions, model } = await ensureOpen()
        services.signal.throwIfAborted()
        const prompt = promptBlocks(cli, turn.message, running)
        if (instructions !== undefined && instructions !== sentInstructions)
          prompt.unshift({ type: "text", text: instructions })
        sentInstructions = instructions
        key = id
        services.report({ type: "key", key })
        if (model !== undefined) services.report({ type: "model", id: model })
        hasPrompted = true
        const answer = await running.request("session/prompt", { sessionId: id, prompt })
        services.report({ type: "raw", data: answer })
        return createResult(answer)
      }

      function createResult(answer: JsonObject): TurnResult {
        report(reader.finish())
        const costUsd = turnCost()
        costBeforeTurn = cost ?? costBeforeTurn
        const usage = { ...readAcpUsage(answer), ...(costUsd !== undefined && { costUsd }) }
        if (cli.reportsLastAnswerOnly && reader.hasCalls) usage.complete = false
        const reason = textAt(answer, "stopReason") ?? "end_turn"
        // Some programs end the turn after a denied permission.
        if (reason === "end_turn" || (reason === "cancelled" && hasDenied)) return { usage }
        if (reason.startsWith("max_")) {
          const message = `${cli.title} ended its turn early: ${reason}.`
          services.report({ type: "warning", code: "turn-cut", message })
          return { usage }
        }
        return { usage, failure: providerFailure({ ...cli, message: `it ended its turn: ${reason}` }) }
      }

      // Cancels the turn before stopping the process, so that the program stores the conversation so far.
      async function abortTurn(working: Promise<unknown>): Promise<void> {
        const settled = working.catch(() => undefined)
        if (hasPrompted && key !== undefined) {
          acpProcess?.notify("session/cancel", { sessionId: key })
          await Promise.race([settled, delay(graceMs, undefined, { ref: false })])
        }
        acpProcess?.stop("abort")
        await settled
        await close()
      }

      const working = runTurn()
      try {
        return await rejectOnAbort(working, services.signal)
      } catch (error) {
        if (services.signal.aborted) {
          await abortTurn(working)
          throw abortError(services.signal)
        }
        report(reader.finish())
        if (live?.acpProcess.isGone) await close()
        if (error instanceof ProviderError) return { usage: { complete: false }, failure: error }
        throw error
      } finally {
        timeouts.stop()
        if (live) live.acpProcess.listener = undefined
      }
    },
    close,
  }
}

const graceMs = 2000
const quietMs = 200
const maxQuietMs = 5000

// Some programs answer `session/load` before they have sent all past updates. Waits until no more lines come.
async function waitForSilence(listener: AcpListener): Promise<void> {
  const { onOutputLine } = listener
  for (let hasOutput = true, waited = 0; hasOutput && waited < maxQuietMs; waited += quietMs) {
    hasOutput = false
    listener.onOutputLine = () => {
      hasOutput = true
      onOutputLine()
    }
    await delay(quietMs)
    // If this process was busy, output that came meanwhile is only read now.
    await yieldToEventLoop()
  }
  listener.onOutputLine = onOutputLine
}

function isChunk(update: JsonObject): boolean {
  return /_chunk$/.test(textAt(update, "sessionUpdate") ?? "")
}

// The settings with which a process is started. Time-outs apply per turn and do not need another process.
function processSignature({ allow, timeoutMs: _, idleTimeoutMs: __, ...settings }: TurnSettings): string {
  return JSON.stringify([settings, [...allow].sort()])
}

function promptBlocks({ title }: AcpCli, message: UserMessage, { initializeResult }: AcpProcess): JsonObject[] {
  const images = message.parts.filter((part) => part.type === "image")
  if (images.length > 0 && valueAt(initializeResult, "agentCapabilities", "promptCapabilities", "image") !== true) {
    throw new UnsupportedError(`${title} does not accept images. Describe them in text.`)
  }
  if (images.some(({ data }) => /^https?:/.test(data))) {
    throw new UnsupportedError(`${title} accepts images only as data, not as URLs. Fetch them first.`)
  }
  return [
    { type: "text", text: promptText(message) },
    ...images.map(({ mediaType, data }) => ({ type: "image", mimeType: mediaType, data })),
  ]
}
