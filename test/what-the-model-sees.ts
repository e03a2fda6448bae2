// The agent of docs/what-the-model-sees.md, and everything that its model sees.

// #region program
import { createAgent, jsRuntime, variable } from "karst"
// #endregion

import assert from "node:assert/strict"
import { messageText } from "karst"
import { scriptedModel } from "karst/models"
import { clockText } from "../src/agent/prompt/system-prompt.ts"

// #region program
class Light {
  brightness = 100
  room: string

  constructor(room: string) {
    this.room = room
  }

  /** Sets the brightness, from 0 to 100. */
  dim(percent: number): void {
    if (percent < 0 || percent > 100) throw new RangeError(`${percent} is not between 0 and 100`)
    this.brightness = percent
  }
}
// #endregion

const cells = [
  "const rooms = lights.map((light) => light.room)\nrooms",
  "const r = report('all on')",
  "lights.forEach((light) => light.dim(20))",
  "lights[0].dim(300)",
]

/** Returns the texts that the page shows, by their place in it. */
export async function seenBlocks(): Promise<Record<string, string>> {
  const model = scriptedModel([...cells.map((code) => `\`\`\`ts\n${code}\n\`\`\`\n`), "All lights are at 20 %."])
  // #region program
  const lights = [new Light("kitchen"), new Light("hall")]
  const report = async (text: string) => text.length
  const agent = createAgent({
    model,
    runtime: jsRuntime({ lights: variable(lights, "The lights of the house"), report }),
  })
  const prompt = await agent.describe() // the system prompt
  // #endregion
  const now = new Date(Date.UTC(2026, 10, 16, 3, 44))
  const { trajectory } = await agent.with({ now: () => now.getTime() }).run("Dim the lights to 20 %.")
  const results = trajectory.events.flatMap((event) => (event.type === "code-end" ? [event.text] : []))
  const [request] = model.requests
  const user = request?.messages.flatMap((message) => (message.role === "user" ? [messageText(message)] : [])) ?? []
  assert.equal(request?.system, prompt)
  return {
    prompt,
    // The zone of the machine differs; the page shows one.
    user: user.join("").replace(clockText(now), `\n${clockText(now, "Europe/Berlin")}`),
    ...Object.fromEntries(results.map((text, at) => [`result${at}`, `${cells[at]}\n\n${text}`])),
  }
}
