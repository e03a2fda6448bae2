// The inbox of a run: messages that any process sends to the worker of the run.
import type { Decision } from "../../core/agent.ts"
import type { Json } from "../../core/json.ts"
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
  /** Acts on everything that is in the inbox now. The store may report new messages late. */
  catchUp(): Promise<void>
  close(): Promise<void>
}

/** Reads the messages to a held run and acts on them. First the content of a message and the position after it are
 *  committed together. Only an abort is not committed: it stays in the inbox until the run has ended. */
export function followInbox(store: Store, held: HeldRun, actions: InboxActions): Inbox {
  const controller = new AbortController()
  const steers: string[] = []
  const log = runKeys(held.head.id).inbox
  let received = 0
  let position = held.head.inbox
  // One message at a time: `catchUp` and the follower read the same log.
  let taking: Promise<"go on" | "stop"> = Promise.resolve("go on")

  function takeAt(index: number, item: Json): Promise<"go on" | "stop"> {
    taking = taking.then((last) => {
      if (last === "stop" || index < position) return last
      position = index + 1
      return take(parseInboxMessage(item, held.head.id))
    })
    return taking
  }

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
    let index = position
    for await (const item of followLog(store, log, index, controller.signal)) {
      if ((await takeAt(index++, item)) === "stop") return
    }
    // A store that fails here also fails the next commit of the run, and that failure is reported.
  })().catch(() => undefined)

  return {
    get received() {
      return received
    },
    steersAfter: (count) => steers.slice(count),
    async catchUp() {
      try {
        await taking
        let index = position
        for await (const item of store.read(log, index)) {
          if ((await takeAt(index++, item)) === "stop") return
        }
      } catch {
        // A store that fails here also fails the next commit of the run, and that failure is reported.
      }
    },
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
