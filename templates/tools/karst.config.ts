// What the karst command finds in this project: the agent of `karst run`, and where its sessions are stored.
import { defineConfig } from "karst/config"
import { support } from "./src/support.ts"

export default defineConfig({
  agent: "support",
  agents: { support },
  archive: "./archive",
})
