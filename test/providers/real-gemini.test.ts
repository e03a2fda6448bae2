import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gemini } from "karst/providers"
import { bench } from "./kit.ts"
import { slowSuite } from "./real-slow.ts"

slowSuite({
  name: "gemini",
  title: "Gemini CLI",
  bench: () =>
    bench("gemini", async (model, home) => {
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }
      await mkdir(join(home, ".gemini"))
      await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings))
      return { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.url }
    }),
  agent: (options) => gemini({ model: "gemini-2.5-flash", ...options }),
  shell: (command) => `[[tool:run_shell_command ${JSON.stringify({ command, description: "x" })}]]`,
  ours: (tool) => `mcp_karst_${tool}`,
  systemOf: (body) => JSON.stringify(body),
})
