// The command `karst completion`.
import { defineCommand } from "../command.ts"

export const completionCommand = defineCommand({
  name: "completion",
  summary: "print the script that completes karst commands in a shell",
  takes: { usage: "bash|zsh|fish", least: 1, most: 1, choices: ["bash", "zsh", "fish"] },
  options: {},
  examples: [
    { line: "echo 'eval \"$(karst completion bash)\"' >> ~/.bashrc", does: "bash; the same for zsh and ~/.zshrc" },
    { line: "karst completion fish > ~/.config/fish/completions/karst.fish", does: "fish" },
  ],
  load: async () => (await import("../commands/completion-command.ts")).completionCommand,
})
