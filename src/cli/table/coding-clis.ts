// The commands for coding CLIs with the user's live objects: claude, codex, opencode, gemini.
import { type Command, defineCommand, type OptionSpecs } from "../command.ts"
import { cellTimeoutOption, eventsOption, modeOption } from "./shared-options.ts"

export const codingCliOptions = {
  model: { type: "text", value: "<model>", help: "by the CLI's name for it, or strongest, or fast" },
  allow: {
    type: "list",
    value: "<groups>",
    choices: ["read", "write", "exec", "web", "parallel", "interaction"],
    help:
      "what it may do besides using your objects. Default: read for a run; everything, asking you first, in the " +
      "terminal. Some of",
  },
  program: { type: "text", value: "<path>", files: true, help: "the program, if it is not in PATH" },
  ...cellTimeoutOption,
  ...modeOption,
  ...eventsOption,
} as const satisfies OptionSpecs

const titles = { claude: "Claude Code", codex: "Codex", opencode: "opencode", gemini: "Gemini CLI" }

export const codingCliCommands: readonly Command[] = [
  codingCliCommand("claude"),
  codingCliCommand("codex"),
  codingCliCommand("opencode"),
  codingCliCommand("gemini"),
]

function codingCliCommand(name: keyof typeof titles): Command {
  const title = titles[name]
  return defineCommand({
    name,
    summary: `run ${title} with the live objects of a module`,
    takes: { usage: '<module> ["<prompt>"]', least: 1, most: Infinity, files: true },
    options: codingCliOptions,
    examples: [
      { line: `karst ${name} ./objects.ts "Pay the overdue orders"`, does: "one run, shown as it happens" },
      { line: `karst ${name} ./objects.ts`, does: `${title} itself in the terminal; needs the package node-pty` },
    ],
    notes: [
      'The prompt "-" is read from standard input. The module is one as for karst mcp serve. --mode and --json are ' +
        "for runs.",
    ],
    page: "mcp.md",
    load: async () => (await import("../commands/coding-cli-command.ts")).codingCliCommand(name),
  })
}
