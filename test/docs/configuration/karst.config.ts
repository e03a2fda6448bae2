// karst.config.ts
import { defineConfig } from "karst/config"

export default defineConfig({
  model: "fast",
  models: {
    fast: "openai/gpt-5-mini",
    work: { id: "groq/llama-3.3-70b-versatile", apiKey: "${WORK_GROQ_KEY}" },
  },
  agents: {
    analyst: { instructions: "Answer with numbers.", model: "work", runtime: "python" },
    reader: { description: "Reads the notes", workspace: "./notes" },
  },
  agent: "analyst",
})
