// agents.ts: used by the server and by the workers; definitions only
import { createAgent, jsRuntime } from "karst"
import { openDatabase } from "./database.ts"

export const agents = {
  analyst: createAgent({
    model: "openai/gpt-5.2",
    runtime: () => jsRuntime({ db: openDatabase() }),
    limits: { costUsd: 1 },
  }),
}
