// The commands that run prompts: run, resume, demo, prompt.
import { defineCommand, type OptionSpecs } from "../command.ts"
import { agentOptions, sessionStoreOption } from "./agent-options.ts"
import { eventsOption, modeOption } from "./shared-options.ts"

export const runOptions = {
  ...agentOptions,
  image: { type: "text", value: "<file>", multiple: true, files: true, help: "an image that is part of the prompt" },
  session: {
    type: "text",
    value: "<id>",
    help: "continue this session, as karst resume does: its id, its handle, or last",
  },
  ...sessionStoreOption,
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
    { line: 'karst run "Fix the failing test" --workspace . --shell', does: "files and commands of this folder" },
    { line: 'git diff | karst run "Review this change:" -', does: '"-" stands for standard input' },
    { line: 'karst run "Refund order 7" --agent ./agents.ts#support', does: "an agent of yours" },
    { line: 'answer=$(karst run "What is 2 to the 100?" --mode result)', does: "only the answer on standard output" },
    { line: 'karst run "Sum it up" --data log.jsonl --json', does: "every event as a line of JSON" },
  ],
  notes: [
    "The model's code runs in a process of its own, isolated by the operating system where that is possible; the " +
      "first line says which isolation it got. Agents of yours run as they are defined.",
    "Ctrl-C aborts the run and prints the command that continues it; a second one leaves at once.",
  ],
  load: async () => (await import("../commands/run-command.ts")).runPromptCommand,
})

export const resumeOptions = {
  ...agentOptions,
  image: runOptions.image,
  ...sessionStoreOption,
  ...modeOption,
  ...eventsOption,
} as const satisfies OptionSpecs

export const resumeCommand = defineCommand({
  name: "resume",
  summary: "continue a session, or answer its question",
  takes: { usage: '<handle | id | last> ["<prompt>"]', least: 1, most: Infinity },
  options: resumeOptions,
  examples: [
    { line: 'karst resume last "And the worst?"', does: "the newest session; karst sessions list shows all" },
    { line: "karst resume s_k3f9", does: "go on after a limit or Ctrl-C" },
    { line: "karst resume s_k3f9 --model anthropic/claude-sonnet-5", does: "with another model" },
  ],
  notes: [
    "Options of the run that started the session hold again unless others are given. This is so for sessions in " +
      "~/.karst; for sessions of another store, give the options again. The command that a run prints has them.",
  ],
  page: "sessions.md",
  load: async () => (await import("../commands/resume-command.ts")).resumeCommand,
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
  load: async () => (await import("../commands/demo-command.ts")).demoCommand,
})

export const promptOptions = { ...agentOptions } as const satisfies OptionSpecs

export const promptCommand = defineCommand({
  name: "prompt",
  summary: "print exactly what the model sees before the first prompt",
  options: promptOptions,
  examples: [{ line: "karst prompt --data sales.csv", does: "with the declaration of the variable sales" }],
  page: "what-the-model-sees.md",
  load: async () => (await import("../commands/prompt-command.ts")).promptCommand,
})
