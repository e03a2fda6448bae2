// The log of events in docs/observability.md.
// #region log
import { createWriteStream } from "node:fs"
import { createAgent, isDelta } from "karst"
// #endregion
import { scriptedModel } from "karst/models"

const model = scriptedModel(["Hello, how are you?"], { chunkChars: 3 })

// #region log
const log = createWriteStream("events.jsonl", { flags: "a" })
const agent = createAgent({ model, onEvent: (event) => isDelta(event) || log.write(`${JSON.stringify(event)}\n`) })
// #endregion

export const { trajectory } = await agent.run("Hi")
await new Promise<void>((done) => log.end(done))
