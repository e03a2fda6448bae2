import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { opencode } from "karst/providers"
import { bench } from "./kit.ts"
import { slowSuite } from "./real-slow.ts"

slowSuite({
  name: "opencode",
  title: "opencode",
  bench: () =>
    bench("opencode", async (model, home) => {
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
    }),
  agent: opencode,
  shell: (command) => `[[tool:bash ${JSON.stringify({ command, description: "x" })}]]`,
  ours: (tool) => `karst_${tool}`,
  systemOf: (body) => JSON.stringify(Reflect.get(Object(body), "messages")?.[0]),
  // It tries a broken service again for minutes, and says nothing of it.
  codes: { "[[status:500]]": /^stalled$/ },
})
