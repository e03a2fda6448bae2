import type { Decision } from "../../core/agent.ts"
import type { Store } from "../../stores/store.ts"
import { type RunHead, runKeys } from "../checkpoint.ts"
import { followLog } from "../follow-log.ts"
import { parseInboxMessage } from "../stored-records.ts"
import type { HeldRun } from "./held-run.ts"

/** A message to a run, from any process. The worker that holds the run stores its content before acting on it. */
export type InboxMessage =
  | { type: "steer"; text: string }
  | { type: "abort"; reason?: string }
  | { type: "decision"; key: string; decision: Decision }

export interface InboxActions {
  abort(reason: string | undefined): void
  decide(key: string, decision: Decision): void
  steer(text: string): void
  /** Resolves when this worker holds the run, which between two jobs it does not; false where it will not hold it again. */
  untilHeld(): Promise<boolean>
}

export interface Inbox {
  /** The texts that are stored in the head and that the run had not received when `received` texts had been passed on. */
  steersAfter(received: number): string[]
  /** How many texts the run has received. */
  readonly received: number
  close(): Promise<void>
}

/** Reads the messages to a held run. The content of a message is committed together with the position after it, and acted on
 *  afterwards. An abort is acted on and keeps its position until the run has ended. */
export function followInbox(store: Store, held: HeldRun, actions: InboxActions): Inbox {
  const controller = new AbortController()
  const steers: string[] = []
  let received = 0

  async function take(message: InboxMessage): Promise<"go on" | "stop"> {
    if (message.type === "abort") {
      actions.abort(message.reason)
      return "stop"
    }
    if (!(await actions.untilHeld())) return "stop"
    await held.commit((head) => {
      if (message.type === "steer") steers.push(message.text)
      return applyMessage(head, message)
    })
    if (message.type === "decision") actions.decide(message.key, message.decision)
    else {
      received++
      actions.steer(message.text)
    }
    return "go on"
  }

  const reading = (async () => {
    for await (const item of followLog(store, runKeys(held.head.id).inbox, held.head.inbox, controller.signal)) {
      if ((await take(parseInboxMessage(item, held.head.id))) === "stop") return
    }
    // A store that fails here also fails the next commit of the run, and that failure is reported.
  })().catch(() => undefined)

  return {
    get received() {
      return received
    },
    steersAfter: (count) => steers.slice(count),
    async close() {
      controller.abort()
      await reading
    },
  }
}

/** The head after a message that is not an abort. The first decision about a call counts. */
export function applyMessage(head: RunHead, message: Exclude<InboxMessage, { type: "abort" }>): RunHead {
  const inbox = head.inbox + 1
  if (message.type === "steer") return { ...head, inbox, unheard: [...head.unheard, message.text] }
  const { key, decision } = message
  return { ...head, inbox, asked: head.asked.map((each) => (each.key === key ? { decision, ...each } : each)) }
}

/** The messages that are in the inbox now, from that position on. */
export async function readInboxMessages(store: Store, id: string, from: number): Promise<InboxMessage[]> {
  return (await Array.fromAsync(store.read(runKeys(id).inbox, from))).map((item) => parseInboxMessage(item, id))
}
