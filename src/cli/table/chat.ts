// The command `karst chat`.
import { defineCommand, type OptionSpecs } from "../command.ts"
import { agentOptions, sessionStoreOption } from "./agent-options.ts"

export const chatOptions = {
  ...agentOptions,
  session: { type: "text", value: "<id>", help: "continue this session: its id, its handle, or last" },
  plain: { type: "flag", help: "read lines and print plain text; so it is without a terminal and with TERM=dumb" },
  ...sessionStoreOption,
} as const satisfies OptionSpecs

export const chatCommand = defineCommand({
  name: "chat",
  summary: "talk with an agent in the terminal",
  options: chatOptions,
  examples: [
    { line: "karst chat --data sales.csv", does: "ask about your data; /vars lists the variables" },
    { line: "karst chat --workspace . --shell", does: "work on the files of this folder; each command asks you first" },
    { line: "karst chat --agent support", does: "an agent of yours" },
    { line: "karst chat --provider claude", does: "Claude Code answers" },
    { line: "karst chat --session last", does: "continue where you left off" },
  ],
  notes: [
    "Enter sends, Alt-Enter starts a new line, @file puts a file into the prompt, /help shows the commands. What you " +
      "send during a run reaches the model at its next step. Ctrl-C aborts the run; twice, it leaves.",
  ],
  page: "chat.md",
  load: async () => (await import("../commands/chat-command.ts")).chatCommand,
})
