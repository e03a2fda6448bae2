// The commands that run prompts: run, demo, prompt.
import { defineCommand, type OptionSpecs } from "../command.ts"
import { eventsOption, inputOptions, modelOption, modeOption } from "./shared-options.ts"

export const runOptions = {
  ...modelOption,
  ...inputOptions,
  "max-cycles": { type: "integer", value: "<n>", help: "stop after this many model calls. Default: 10" },
  ...modeOption,
  ...eventsOption,
} as const satisfies OptionSpecs

export const runCommand = defineCommand({
  name: "run",
  summary: 'run a prompt; karst "…" is the same',
  takes: { usage: '"<prompt>"', least: 0, most: Infinity },
  options: runOptions,
  examples: [
    { line: 'karst run "Which month was best?" --data sales.csv', does: "sales.csv is the variable sales" },
    { line: "cat notes.txt | karst run -", does: "the prompt from standard input" },
    { line: 'answer=$(karst run "What is 2 to the 100?" --mode result)', does: "only the answer on standard output" },
    { line: 'karst run "Sum it up" --data log.jsonl --json', does: "every event as a line of JSON" },
  ],
  notes: ["Ctrl-C aborts the run; a second one leaves at once."],
  load: async () => (await import("../commands/run-command.ts")).runPromptCommand,
})

export const demoOptions = {
  model: { type: "text", value: "<id>", help: "let this model do the same task. Default: a replayed one" },
  fast: { type: "flag", help: "do not pace the replayed turns" },
  out: { type: "text", value: "<folder>", files: true, help: "where the charts go. Default: a temporary folder" },
  ...modeOption,
} as const satisfies OptionSpecs

export const demoCommand = defineCommand({
  name: "demo",
  summary: "watch a model work on live objects: the weather of Seattle, a chart and a sprinkler",
  options: demoOptions,
  examples: [
    { line: "karst demo", does: "the model's turns are replayed, everything else is live; needs no key" },
    { line: "karst demo --model openai/gpt-5.2", does: "a real model does the same task" },
  ],
  load: async () => (await import("../commands/demo.ts")).demoCommand,
})

export const promptOptions = { ...inputOptions } as const satisfies OptionSpecs

export const promptCommand = defineCommand({
  name: "prompt",
  summary: "print exactly what the model sees before the first prompt",
  options: promptOptions,
  examples: [{ line: "karst prompt --data sales.csv", does: "with the declaration of the variable sales" }],
  page: "what-the-model-sees.md",
  load: async () => (await import("../commands/prompt-command.ts")).promptCommand,
})
