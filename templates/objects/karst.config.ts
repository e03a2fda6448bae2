// What the karst command finds in this project: the agent of `karst run`, and where its sessions are stored.
import { defineConfig } from "karst/config"
import { clerk } from "./src/clerk.ts"

export default defineConfig({
  agent: "clerk",
  agents: { clerk },
  archive: "./archive",
})
