import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises"
import { orAbort } from "../core/abort.ts"
import { ProviderError, UnsupportedError } from "../core/errors.ts"
import type { UserMessage } from "../core/message.ts"
import { abortError } from "../core/run.ts"
import type { AcpAgent, AcpEars } from "./acp-agent.ts"
import { acpCost, acpReader, acpUsage } from "./acp-events.ts"
import { type AcpCli, type AcpLive, openAcp } from "./acp-open.ts"
import { answerTo, cancelled, verdictOn } from "./acp-permissions.ts"
import { failureOf } from "./failure.ts"
import { textOf } from "./prompt-files.ts"
import type { ProviderSession, Settings, Step, TurnEnd } from "./provider.ts"
import { at, type JsonObject, objectAt, textAt } from "./read-json.ts"
import { turnClock } from "./turn-clock.ts"

/** A conversation with an agent that speaks ACP. Its process is kept between turns, and begun again with the same conversation where it
 *  has ended, or where other settings are asked for. */
export function acpSession(cli: AcpCli, opening: { key?: string | undefined }): ProviderSession {
  let { key } = opening
  let live: (AcpLive & { signature: string }) | undefined
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
      const reader = acpReader(settings.cwd)
      let agent: AcpAgent | undefined
      let cost: number | undefined
      let prompted = false
      let refused = false
      /** Questions that nobody has answered yet. */
      let open = 0
      /** Why its time was over before it was started. */
      let late: "timeout" | "idle" | undefined
      const clock = turnClock(settings, (why) => {
        late = why
        agent?.stop(why)
      })

      function tell(steps: readonly Step[]): void {
        for (const step of steps) services.tell(step)
        clock.busy(reader.busy || open > 0)
      }

      function turnCost(): number | undefined {
        if (!prompted || cost === undefined || spent === undefined) return undefined
        // Some say 0 of models whose price they do not know.
        return cost > spent ? cost - spent : undefined
      }

      const ears: AcpEars = {
        limits: settings,
        stir: clock.stir,
        update(params) {
          const update = objectAt(params, "update")
          if (textAt(params, "sessionId") !== key) return
          cost = acpCost(update) ?? cost
          // What comes before the prompt is the past, told again.
          if (!prompted) return
          if (!isChunk(update)) services.tell({ type: "raw", data: params })
          const costUsd = turnCost()
          if (costUsd !== undefined) services.tell({ type: "usage", usage: { complete: false, costUsd } })
          tell(reader.update(update))
        },
        junk: (line) => services.tell({ type: "raw", data: line }),
        async permission(request) {
          services.tell({ type: "raw", data: request })
          // One of another conversation is a sub-agent's, whose calls are not told.
          const told = textAt(request, "sessionId") === key ? reader : acpReader(settings.cwd)
          const { steps, call } = told.asked(objectAt(request, "toolCall"))
          const { id, name, input } = call
          const verdict = verdictOn(call, settings)
          open++
          tell(told === reader ? steps : [])
          try {
            const decision = verdict === "ask" ? await services.approve({ id, name, input }) : verdict
            if (decision === "deny") refused = true
            open--
            tell(decision === "deny" && told === reader ? reader.refused(id) : [])
            return answerTo(request, decision)
          } catch {
            // The turn is being aborted.
            return cancelled
          }
        },
      }

      function started(child: AcpAgent): void {
        agent = child
        if (services.signal.aborted) child.stop("abort")
        else if (late) child.stop(late)
      }

      async function opened(): Promise<AcpLive> {
        const signature = signatureOf(settings)
        if (live && (live.agent.gone || live.signature !== signature)) await close()
        if (live) {
          agent = live.agent
          agent.ears = ears
          return live
        }
        live = { ...(await openAcp(cli, { settings, key, ears, started })), signature }
        for (const message of live.warnings) services.tell({ type: "warning", code: "cli-option", message })
        if (key !== undefined) await quiet(ears)
        spent = key === undefined ? 0 : (cost ?? spent)
        return live
      }

      async function work(): Promise<TurnEnd> {
        const { agent: running, id, instructions, model } = await opened()
        services.signal.throwIfAborted()
        const prompt = blocksOf(cli, turn.message, running)
        if (instructions !== undefined && instructions !== toldInstructions)
          prompt.unshift({ type: "text", text: instructions })
        toldInstructions = instructions
        key = id
        services.tell({ type: "key", key })
        if (model !== undefined) services.tell({ type: "model", id: model })
        prompted = true
        const answer = await running.request("session/prompt", { sessionId: id, prompt })
        services.tell({ type: "raw", data: answer })
        return ended(answer)
      }

      function ended(answer: JsonObject): TurnEnd {
        tell(reader.end())
        const costUsd = turnCost()
        spent = cost ?? spent
        const usage = { ...acpUsage(answer), ...(costUsd !== undefined && { costUsd }) }
        if (cli.tellsLastAnswer && reader.acted) usage.complete = false
        const reason = textAt(answer, "stopReason") ?? "end_turn"
        // Some take a no as the end.
        if (reason === "end_turn" || (reason === "cancelled" && refused)) return { usage }
        if (reason.startsWith("max_")) {
          const message = `${cli.title} ended its turn early: ${reason}.`
          services.tell({ type: "warning", code: "turn-cut", message })
          return { usage }
        }
        return { usage, failure: failureOf({ ...cli, message: `it ended its turn: ${reason}` }) }
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
        return await orAbort(working, services.signal)
      } catch (error) {
        if (services.signal.aborted) {
          await giveUp(working)
          throw abortError(services.signal)
        }
        tell(reader.end())
        if (live?.agent.gone) await close()
        if (error instanceof ProviderError) return { usage: { complete: false }, failure: error }
        throw error
      } finally {
        clock.end()
        if (live) live.agent.ears = undefined
      }
    },
    close,
  }
}

const graceMs = 2000
const quietMs = 200
const mostQuietMs = 5000

// Some answer before they have told all of the past.
async function quiet(ears: AcpEars): Promise<void> {
  const { stir } = ears
  for (let heard = true, waited = 0; heard && waited < mostQuietMs; waited += quietMs) {
    heard = false
    ears.stir = () => {
      heard = true
      stir()
    }
    await delay(quietMs)
    // Where the program was busy, what came meanwhile is only read now.
    await nextTurn()
  }
  ears.stir = stir
}

function isChunk(update: JsonObject): boolean {
  return /_chunk$/.test(textAt(update, "sessionUpdate") ?? "")
}

// A process is started with them.
function signatureOf({ allow, timeoutMs: _, idleTimeoutMs: __, ...settings }: Settings): string {
  return JSON.stringify([settings, [...allow].sort()])
}

function blocksOf({ title }: AcpCli, message: UserMessage, { about }: AcpAgent): JsonObject[] {
  const images = message.parts.filter((part) => part.type === "image")
  if (images.length > 0 && at(about, "agentCapabilities", "promptCapabilities", "image") !== true) {
    throw new UnsupportedError(`${title} takes no images. Describe what is to be seen.`)
  }
  if (images.some(({ data }) => /^https?:/.test(data))) {
    throw new UnsupportedError(`${title} takes images as data, and no URLs. Fetch it first.`)
  }
  return [
    { type: "text", text: textOf(message) },
    ...images.map(({ mediaType, data }) => ({ type: "image", mimeType: mediaType, data })),
  ]
}
