import assert from "node:assert/strict"
import type { ModelPart, ModelRequest } from "../../src/models/model.ts"

/** An answer that calls one tool. */
export function call(name: string, input: object = {}, id = `${name}-1`): ModelPart[] {
  return [{ type: "tool-call", id, name, input: JSON.parse(JSON.stringify(input)) }]
}

export const finish = (message: string): ModelPart[] => call("finish", { message })

/** An answer that delegates tasks, each as "agent: prompt". */
export function delegate(tasks: readonly string[], more: object = {}): ModelPart[] {
  const given = tasks.map((task) => {
    const [agent, prompt] = task.split(": ")
    return { agent, prompt }
  })
  return call("delegate", { tasks: given, ...more }, `delegate-${tasks.join()}`)
}

/** The text of the last tool result that the model received. */
export function resultIn({ messages }: ModelRequest | { messages: ModelRequest["messages"] } = assert.fail()): string {
  const result = messages.findLast(({ role }) => role === "result")
  return (result?.parts ?? []).map((part) => (part.type === "tool-result" ? part.text : "")).join("\n")
}

/** The user's last message. */
export function saidIn({ messages }: ModelRequest): string {
  const said = messages.findLast((message) => message.role === "user" && message.origin === "prompt")
  const [part] = said?.parts ?? []
  return part && "text" in part ? part.text : ""
}
