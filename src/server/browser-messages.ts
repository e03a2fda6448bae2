// The conversation as a page shows it: what the user and the model wrote, without code, results and notes of the host.
import type { AgentEvent, EventOf } from "../core/event.ts"
import { type Message, messageText } from "../core/message.ts"
import { createOwnEventFilter } from "../core/trajectory.ts"
import { proseOf } from "./browser-event.ts"

/** A message as a page shows it. */
export interface BrowserMessage {
  id: string
  /** The run that it belongs to, as in `run-start`. */
  run: string
  role: "user" | "assistant"
  /** Text without code; images are named. */
  text: string
}

/** Returns the conversation for a browser from the events of a session: `session.trajectory().events`, of an open or a
 *  loaded session. It leaves out what `toBrowserEvent` leaves out, and also code, reasoning and the sub-agents.
 *  Messages that were removed to shorten the conversation are included. */
export function toBrowserMessages(events: Iterable<AgentEvent>): BrowserMessage[] {
  const shown: BrowserMessage[] = []
  const isOwn = createOwnEventFilter()
  // The answer that may end the run under way: a message without code and tool calls.
  let answer: BrowserMessage | undefined

  function add(run: string, message: Message): BrowserMessage | undefined {
    const text = textForBrowser(message)
    if (text === "") return undefined
    const added: BrowserMessage = { id: message.id, run, role: message.role === "user" ? "user" : "assistant", text }
    shown.push(added)
    return added
  }

  // The output differs from the last message if a tool or a hook ended the run.
  function setOutput({ run, seq, status, output }: EventOf<"run-end">): void {
    if (status !== "done" && status !== "stopped") return
    if (answer) {
      if (output === "") shown.splice(shown.indexOf(answer), 1)
      answer.text = output
    } else if (status === "done" && output !== "" && shown.at(-1)?.text !== output) {
      shown.push({ id: `${run}:${seq}`, run, role: "assistant", text: output })
    }
  }

  for (const event of events) {
    if (!isOwn(event)) continue
    if (event.type === "run-start") {
      for (const message of event.messages) add(event.run, message)
      answer = undefined
    }
    if (event.type === "prompt-steered") add(event.run, event.message)
    if (event.type === "message-end") {
      const added = add(event.run, event.message)
      answer = event.message.parts.some(({ type }) => type === "code" || type === "tool-call") ? undefined : added
    }
    if (event.type === "question-asked")
      shown.push({ id: event.id, run: event.run, role: "assistant", text: event.question })
    if (event.type === "run-end") setOutput(event)
  }
  return shown
}

function textForBrowser(message: Message): string {
  if (message.role === "assistant") return proseOf(message).trim()
  return message.role === "user" && message.origin !== "host" ? messageText(message) : ""
}
