// The options that say which agent runs and what it works with. `run`, `resume`, `prompt` and `replay` have them.
import { cliNames } from "../../providers/cli-names.ts"
import type { OptionSpecs } from "../command.ts"

export const agentOptions = {
  model: {
    type: "text",
    value: "<id>",
    help:
      "such as openai/gpt-5.2 or ollama/qwen3, or a name in the configuration. Default: KARST_MODEL, else the " +
      "configuration, else the first provider whose key is in the environment",
  },
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
  tools: {
    type: "text",
    value: "<module>",
    multiple: true,
    files: true,
    help: "a module that exports tools made by tool()",
  },
  workspace: { type: "text", value: "<folder>", files: true, help: "a folder whose files it can read and write" },
  shell: { type: "flag", help: "let it run commands in the workspace; each one asks you first" },
  system: { type: "text", value: "<text>", help: "instructions in place of the usual ones; @file reads them" },
  reasoning: {
    type: "choice",
    choices: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
    help: "how much the model reasons; not every model has all of them. Default: the model's. One of",
  },
  temperature: { type: "number", value: "<n>", help: "the sampling temperature. Default: the model's" },
  language: {
    type: "choice",
    choices: ["en", "zh"],
    help:
      "the language of the instructions that Karst gives the model. Default: KARST_LANGUAGE, else the configuration, " +
      "else en",
  },
  "max-cycles": {
    type: "integer",
    value: "<n>",
    help: "stop after this many model calls. Default: the agent's own limit, else KARST_MAX_CYCLES, else the configuration, else 10",
  },
  agent: {
    type: "text",
    value: "<agent>",
    files: true,
    help:
      "an agent of yours, as it is defined: a name in the configuration, ./agents.ts or ./agents.ts#name. Default: " +
      "KARST_AGENT, else `agent` of the configuration, else karst, the built-in agent",
  },
  provider: {
    type: "choice",
    choices: cliNames,
    help: "let a coding CLI do it; it may read, and with --shell also write and run commands",
  },
  config: { type: "text", value: "<file>", files: true, help: "the configuration file. Default: karst.config.ts" },
  "in-process": { type: "flag", help: "run the model's code in this process instead of an isolated one" },
} as const satisfies OptionSpecs

export const sessionStoreOption = {
  store: {
    type: "text",
    value: "<place>",
    files: true,
    help:
      "where sessions are stored: a folder, sqlite:karst.db or redis://host:6379; off: nowhere. Default: " +
      "KARST_ARCHIVE, else the configuration, else ~/.karst",
  },
} as const satisfies OptionSpecs
