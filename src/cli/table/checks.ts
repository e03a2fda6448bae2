// The commands that check agents: replay, eval.
import { defineCommand, type OptionSpecs } from "../command.ts"
import { agentOptions, sessionStoreOption } from "./agent-options.ts"
import { jsonOption } from "./shared-options.ts"

export const replayOptions = {
  ...agentOptions,
  strict: { type: "flag", help: "also compare the system prompt and the messages that Karst itself sent" },
  live: { type: "text", value: "<name>", multiple: true, help: "call this function or tool for real" },
  ...sessionStoreOption,
  ...jsonOption,
} as const satisfies OptionSpecs

export const replayCommand = defineCommand({
  name: "replay",
  summary: "run a stored session again with its recorded answers and results, and show the first difference",
  takes: { usage: "<id | last>", least: 1, most: 1 },
  options: replayOptions,
  examples: [
    { line: "karst replay last", does: "does the session still run as it did? exit code 1 if not" },
    { line: "karst replay s_k3f9 --agent ./agents.ts#support --store ./archive", does: "a session of your own agent" },
  ],
  notes: ["No model is asked, and no function or tool is called unless --live names it. Cells are run."],
  page: "testing.md",
  load: async () => (await import("../commands/replay-command.ts")).replayCommand,
})

export const evalOptions = {
  only: { type: "text", value: "<case>", multiple: true, help: "only the case of this name" },
  trials: { type: "integer", value: "<n>", help: "how often each case is run. Default: 1" },
  "max-parallel": { type: "integer", value: "<n>", help: "how many cases run at the same time. Default: 4" },
  model: { type: "text", value: "<id>", help: "instead of the model of the agents" },
  out: { type: "text", value: "<file>", files: true, help: "also write the report to a file, as JSON" },
  ...jsonOption,
} as const satisfies OptionSpecs

export const evalCommand = defineCommand({
  name: "eval",
  summary: "run a suite of cases and score what they leave; exit code 1 unless all passed",
  takes: { usage: "<file>", least: 1, most: 1, files: true },
  options: evalOptions,
  examples: [
    { line: "karst eval ./refunds.eval.ts", does: "prints a table" },
    { line: "karst eval ./refunds.eval.ts --trials 5 --model openai/gpt-5.2", does: "another model, five times each" },
  ],
  notes: [
    "The file exports `cases` and `scorers`, and `agent` for cases without one of their own, as suite() takes them.",
  ],
  page: "outputs.md",
  load: async () => (await import("../commands/eval-command.ts")).evalCommand,
})
