// test lane: clis, long
import { gemini } from "karst/providers"
import { geminiMachine } from "../slow-cli-machines.ts"
import { slowSuite } from "../slow-cli-suite.ts"

slowSuite({
  name: "gemini",
  title: "Gemini CLI",
  bench: geminiMachine,
  agent: (options) => gemini({ model: "gemini-2.5-flash", ...options }),
  shell: (command) => `[[tool:run_shell_command ${JSON.stringify({ command, description: "x" })}]]`,
  ours: (tool) => `mcp_karst_${tool}`,
  systemOf: (body) => JSON.stringify(body),
  silent: ["[[status:429]]", "[[status:500]]", "[[hang]]"],
})
