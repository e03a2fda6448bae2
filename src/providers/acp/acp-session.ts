import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises"
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

/** A conversation with an agent that speaks ACP. Its process is kept between turns, and begun again with the same conversation where it
 *  has ended, or where other settings are asked for. */
export function createAcpSession(cli: AcpCli, opening: { key?: string | undefined }): ProviderSession {
  let { key } = opening
  let live: (OpenAcpSession & { signature: string }) | undefined
  /** What the conversation has cost before this turn, where that is known. */
  let spent: number | undefined
  let toldInstructions: string | undefined

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
      let agent: AcpProcess | undefined
      let cost: number | undefined
      let prompted = false
      let refused = false
      /** Questions that nobody has answered yet. */
      let open = 0
      /** Why its time was over before it was started. */
      let late: "timeout" | "idle" | undefined
      const clock = createTurnTimeouts(settings, (why) => {
        late = why
        agent?.stop(why)
      })

      function tell(steps: readonly Step[]): void {
        for (const step of steps) services.report(step)
        clock.setBusy(reader.hasRunningCalls || open > 0)
      }

      function turnCost(): number | undefined {
        if (!prompted || cost === undefined || spent === undefined) return undefined
        // Some say 0 of models whose price they do not know.
        return cost > spent ? cost - spent : undefined
      }

      const ears: AcpListener = {
        limits: settings,
        activity: clock.resetIdleTimer,
        update(params) {
          const update = objectAt(params, "update")
          if (textAt(params, "sessionId") !== key) return
          cost = readAcpCost(update) ?? cost
          // What comes before the prompt is the past, told again.
          if (!prompted) return
          if (!isChunk(update)) services.report({ type: "raw", data: params })
          const costUsd = turnCost()
          if (costUsd !== undefined) services.report({ type: "usage", usage: { complete: false, costUsd } })
          tell(reader.update(update))
        },
        unknownLine: (line) => services.report({ type: "raw", data: line }),
        async answerPermission(request) {
          services.report({ type: "raw", data: request })
          // One of another conversation is a sub-agent's, whose calls are not told.
          const told = textAt(request, "sessionId") === key ? reader : createAcpUpdateReader(settings.cwd)
          const { steps, call } = told.permissionRequested(objectAt(request, "toolCall"))
          const { id, name, input } = call
          const verdict = decidePermission(call, settings)
          open++
          tell(told === reader ? steps : [])
          try {
            const decision = verdict === "ask" ? await services.approve({ id, name, input }) : verdict
            if (decision === "deny") refused = true
            open--
            tell(decision === "deny" && told === reader ? reader.permissionDenied(id) : [])
            return permissionAnswer(request, decision)
          } catch {
            // The turn is being aborted.
            return cancelledAnswer
          }
        },
      }

      function started(child: AcpProcess): void {
        agent = child
        if (services.signal.aborted) child.stop("abort")
        else if (late) child.stop(late)
      }

      async function opened(): Promise<OpenAcpSession> {
        const signature = processSignature(settings)
        if (live && (live.acpProcess.isGone || live.signature !== signature)) await close()
        if (live) {
          agent = live.acpProcess
          agent.listener = ears
          return live
        }
        live = { ...(await openAcpSession(cli, { settings, key, listener: ears, onStarted: started })), signature }
        for (const message of live.warnings) services.report({ type: "warning", code: "cli-option", message })
        if (key !== undefined) await waitForSilence(ears)
        spent = key === undefined ? 0 : (cost ?? spent)
        return live
      }

      async function work(): Promise<TurnResult> {
        const { acpProcess: running, id, instructions, model } = await opened()
        services.signal.throwIfAborted()
        const prompt = promptBlocks(cli, turn.message, running)
        if (instructions !== undefined && instructions !== toldInstructions)
          prompt.unshift({ type: "text", text: instructions })
        toldInstructions = instructions
        key = id
        services.report({ type: "key", key })
        if (model !== undefined) services.report({ type: "model", id: model })
        prompted = true
        const answer = await running.request("session/prompt", { sessionId: id, prompt })
        services.report({ type: "raw", data: answer })
        return ended(answer)
      }

      function ended(answer: JsonObject): TurnResult {
        tell(reader.finish())
        const costUsd = turnCost()
        spent = cost ?? spent
        const usage = { ...readAcpUsage(answer), ...(costUsd !== undefined && { costUsd }) }
        if (cli.reportsLastAnswerOnly && reader.hasCalls) usage.complete = false
        const reason = textAt(answer, "stopReason") ?? "end_turn"
        // Some take a no as the end.
        if (reason === "end_turn" || (reason === "cancelled" && refused)) return { usage }
        if (reason.startsWith("max_")) {
          const message = `${cli.title} ended its turn early: ${reason}.`
          services.report({ type: "warning", code: "turn-cut", message })
          return { usage }
        }
        return { usage, failure: providerFailure({ ...cli, message: `it ended its turn: ${reason}` }) }
      }

      // It is asked to stop first, so that it keeps what was said so far.
      async function giveUp(working: Promise<unknown>): Promise<void> {
        const settled = working.catch(() => undefined)
        if (prompted && key !== undefined) {
          agent?.notify("session/cancel", { sessionId: key })
          await Promise.race([settled, delay(graceMs, undefined, { ref: false })])
        }
        agent?.stop("abort")
        await settled
        await close()
      }

      const working = work()
      try {
        return await rejectOnAbort(working, services.signal)
      } catch (error) {
        if (services.signal.aborted) {
          await giveUp(working)
          throw abortError(services.signal)
        }
        tell(reader.finish())
        if (live?.acpProcess.isGone) await close()
        if (error instanceof ProviderError) return { usage: { complete: false }, failure: error }
        throw error
      } finally {
        clock.stop()
        if (live) live.acpProcess.listener = undefined
      }
    },
    close,
  }
}

const graceMs = 2000
const quietMs = 200
const maxQuietMs = 5000

// Some answer before they have told all of the past.
async function waitForSilence(ears: AcpListener): Promise<void> {
  const { activity: stir } = ears
  for (let heard = true, waited = 0; heard && waited < maxQuietMs; waited += quietMs) {
    heard = false
    ears.activity = () => {
      heard = true
      stir()
    }
    await delay(quietMs)
    // Where the program was busy, what came meanwhile is only read now.
    await nextTurn()
  }
  ears.activity = stir
}

function isChunk(update: JsonObject): boolean {
  return /_chunk$/.test(textAt(update, "sessionUpdate") ?? "")
}

// A process is started with them.
function processSignature({ allow, timeoutMs: _, idleTimeoutMs: __, ...settings }: TurnSettings): string {
  return JSON.stringify([settings, [...allow].sort()])
}

function promptBlocks({ title }: AcpCli, message: UserMessage, { initializeResult: about }: AcpProcess): JsonObject[] {
  const images = message.parts.filter((part) => part.type === "image")
  if (images.length > 0 && valueAt(about, "agentCapabilities", "promptCapabilities", "image") !== true) {
    throw new UnsupportedError(`${title} takes no images. Describe what is to be seen.`)
  }
  if (images.some(({ data }) => /^https?:/.test(data))) {
    throw new UnsupportedError(`${title} takes images as data, and no URLs. Fetch it first.`)
  }
  return [
    { type: "text", text: promptText(message) },
    ...images.map(({ mediaType, data }) => ({ type: "image", mimeType: mediaType, data })),
  ]
}
