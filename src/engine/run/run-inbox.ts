// The inbox of a run: messages that any process sends to the worker of the run.
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
  /** Resolves to true when this worker holds the run (between two jobs it does not), to false if it will not hold it
   *  again. */
  untilHeld(): Promise<boolean>
}

export interface Inbox {
  /** The texts stored in the head after the first `received` ones. */
  steersAfter(received: number): string[]
  /** How many texts were passed to the run. */
  readonly received: number
  close(): Promise<void>
}

/** Reads the messages to a held run and acts on them. First the content of a message and the position after it are
 *  committed together. Only an abort is not committed: it stays in the inbox until the run has ended. */
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
    let isLeft = false
    await held.commit((head) => {
      // The run has begun to wait without a worker: then the message is processed as one to a waiting run.
      isLeft = message.type === "decision" && head.status !== "running"
      if (isLeft) return head
      if (message.type === "steer") steers.push(message.text)
      return applyMessage(head, message)
    })
    if (isLeft) return "stop"
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

/** The head after a message that is not an abort. Only the first decision about a call counts. */
export function applyMessage(head: RunHead, message: Exclude<InboxMessage, { type: "abort" }>): RunHead {
  const inbox = head.inbox + 1
  if (message.type === "steer") return { ...head, inbox, unheard: [...head.unheard, message.text] }
  const { key, decision } = message
  return { ...head, inbox, asked: head.asked.map((each) => (each.key === key ? { decision, ...each } : each)) }
}

/** Reads the messages that are in the inbox now, from that position on. */
export async function readInboxMessages(store: Store, id: string, from: number): Promise<InboxMessage[]> {
  return (await Array.fromAsync(store.read(runKeys(id).inbox, from))).map((item) => parseInboxMessage(item, id))
}
