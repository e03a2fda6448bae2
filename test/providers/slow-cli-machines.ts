import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type CliMachine, createCliMachine } from "./cli-machines.ts"

/** A machine for opencode, with a loopback model. */
export function opencodeMachine(): Promise<CliMachine> {
  return createCliMachine("opencode", async (model, home) => {
    const config = {
      model: "loopback/small",
      small_model: "loopback/small",
      provider: {
        loopback: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${model.url}/v1`, apiKey: "none" },
          models: { small: { limit: { context: 100_000, output: 8000 }, tool_call: true } },
        },
      },
    }
    const path = join(home, "opencode.json")
    await writeFile(path, JSON.stringify(config))
    return { OPENCODE_CONFIG: path, OPENCODE_DISABLE_MODELS_FETCH: "1" }
  })
}

/** A machine for Gemini CLI, with a loopback model. */
export function geminiMachine(): Promise<CliMachine> {
  return createCliMachine("gemini", async (model, home) => {
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    }
    await mkdir(join(home, ".gemini"))
    await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings))
    return { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.url }
  })
}
