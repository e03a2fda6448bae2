// The commands around Karst: mcp, skills, completion.
import { type CommandGroup, defineCommand, type OptionSpecs } from "../command.ts"
import { cellTimeoutOption } from "./shared-options.ts"

export const serveOptions = {
  http: {
    type: "flag",
    help:
      "over HTTP on 127.0.0.1, for several clients at once; the token is printed, or taken from KARST_MCP_TOKEN. " +
      "Default: over standard input and output",
  },
  port: { type: "integer", value: "<n>", help: "with --http: the port. Default: a free one" },
  name: { type: "text", value: "<name>", help: "the server's name for clients. Default: the file's name" },
  ...cellTimeoutOption,
} as const satisfies OptionSpecs

export const mcpCommands: CommandGroup = {
  name: "mcp",
  summary: "serve live objects to MCP clients: Claude Code, Cursor, VS Code and others",
  page: "mcp.md",
  commands: [
    defineCommand({
      name: "serve",
      summary: "serve the live objects of a module to an MCP client",
      takes: { usage: "<module>", least: 1, most: 1, files: true },
      options: serveOptions,
      examples: [
        { line: "karst mcp serve ./objects.ts", does: "for a client to start; prints how to add it to one" },
        { line: "karst mcp serve ./objects.ts --http --port 4000", does: "for several clients at once" },
      ],
      notes: [
        "The module exports objects by name, or by default an object of them or a function that makes one; or a " +
          "`runtime`. It may also export `tools`, and `approver`, which answers the calls that ask for approval; " +
          "without it the client's user is asked.",
      ],
      load: async () => (await import("../commands/mcp-command.ts")).serveCommand,
    }),
  ],
}

export const addSkillsOptions = {
  to: { type: "text", value: "<folder>", files: true, help: "copy it there. Default: skills" },
  skill: { type: "text", value: "<name>", multiple: true, help: "only the skill of this name" },
  force: { type: "flag", help: "replace skills that exist" },
} as const satisfies OptionSpecs

export const skillsCommands: CommandGroup = {
  name: "skills",
  summary: "list, check and add skills that agents can activate (Agent Skills format)",
  page: "skills.md",
  commands: [
    defineCommand({
      name: "list",
      summary: "list the skills that agents of the project are offered, or those in folders",
      takes: { usage: "[<folder> …]", least: 0, most: Infinity, files: true },
      options: {},
      examples: [
        {
          line: "karst skills list",
          does: "those of the configuration, .karst/skills, skills, .agents/skills and .claude/skills",
        },
      ],
      load: async () => (await import("../commands/skills-command.ts")).listSkillsCommand,
    }),
    defineCommand({
      name: "validate",
      summary: "report every problem of skills; exit code 1 if one cannot be loaded",
      takes: { usage: "<folder> …", least: 1, most: Infinity, files: true },
      options: {},
      examples: [{ line: "karst skills validate skills/data-analysis", does: "one skill, or a folder of skills" }],
      load: async () => (await import("../commands/skills-command.ts")).validateSkillsCommand,
    }),
    defineCommand({
      name: "add",
      summary: "check a skill, or a folder or repository of skills, and copy it to ./skills",
      takes: { usage: "<path | git url>", least: 1, most: 1, files: true },
      options: addSkillsOptions,
      examples: [{ line: "karst skills add https://github.com/anthropics/skills --skill pdf", does: "one of many" }],
      load: async () => (await import("../commands/skills/skills-add.ts")).addSkillsCommand,
    }),
  ],
}

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
