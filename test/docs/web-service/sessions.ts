// The sessions of the programs in docs/web-service.md, with a scripted model.
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { createSessions } from "../../../examples/chat-service/sessions.ts"

const model = scriptedModel(
  ({ messages }) => `Message ${messages.length}: ${JSON.stringify(messages.at(-1)?.parts[0])}`,
)

export const sessions = createSessions(createAgent({ model }), memoryStore())
