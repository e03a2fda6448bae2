// Options that several commands have.
import type { OptionSpecs } from "../command.ts"

export const modelOption = {
  model: {
    type: "text",
    value: "<id>",
    help:
      "such as openai/gpt-5.2 or ollama/qwen3. Default: KARST_MODEL, else the first provider whose key is in the " +
      "environment",
  },
} as const satisfies OptionSpecs

/** What the model works with. */
export const inputOptions = {
  data: {
    type: "text",
    value: "<file>",
    multiple: true,
    files: true,
    help: "a .csv, .tsv, .json or .jsonl file, as a variable named after it",
  },
  skill: {
    type: "text",
    value: "<folder>",
    multiple: true,
    files: true,
    help: "a skill, or a folder of skills, that the agent can activate",
  },
} as const satisfies OptionSpecs

export const modeOption = {
  mode: {
    type: "choice",
    choices: ["full", "short", "result", "off"],
    help: "how much of the run is shown; result: only the answer. Default: full",
  },
} as const satisfies OptionSpecs

export const eventsOption = {
  json: { type: "flag", help: "print every event as a line of JSON, and nothing else" },
} as const satisfies OptionSpecs

export const jsonOption = { json: { type: "flag", help: "print JSON" } } as const satisfies OptionSpecs

export const cellTimeoutOption = {
  "cell-timeout": { type: "integer", value: "<seconds>", help: "stop a cell after this time. Default: never" },
} as const satisfies OptionSpecs
