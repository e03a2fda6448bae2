// The commands about the credentials of coding CLIs.
import { cliNames } from "../../providers/cli-names.ts"
import { type CommandGroup, defineCommand, type OptionSpecs } from "../command.ts"
import { jsonOption } from "./shared-options.ts"

const folderOption = {
  folder: { type: "text", value: "<path>", files: true, help: "the folder of setup. Default: auth in ~/.karst" },
} as const satisfies OptionSpecs

export const authOptions = {
  agents: {
    type: "list",
    value: "<names>",
    choices: cliNames,
    help: "only these CLIs. Default: all of",
  },
  ...jsonOption,
} as const satisfies OptionSpecs

export const dockerOptions = {
  ...authOptions,
  home: { type: "text", value: "<path>", help: "the home of the user in the container. Default: /root" },
  staged: { type: "flag", help: "mount what `karst auth setup` wrote, instead of the files themselves" },
  ...folderOption,
} as const satisfies OptionSpecs

export const setupOptions = {
  ...authOptions,
  ...folderOption,
  workdir: {
    type: "text",
    value: "<path>",
    help: "the folder in the container that Claude Code and Codex trust. Default: /workspace",
  },
  "source-home": {
    type: "text",
    value: "<path>",
    files: true,
    help: "the home to take the files from; then no variables of the environment count. Default: yours",
  },
} as const satisfies OptionSpecs

export const teardownOptions = {
  ...folderOption,
  "dry-run": { type: "flag", help: "list the files and remove nothing" },
  force: { type: "flag", help: "also if files of yours are links into the folder" },
} as const satisfies OptionSpecs

const noCredential = "Exit code 1: none of them has a credential that is still good. No secret is ever printed."

export const authCommands: CommandGroup = {
  name: "auth",
  summary: "show what coding CLIs sign in with, and pass it on to containers",
  page: "terminals-and-containers.md",
  commands: [
    defineCommand({
      name: "status",
      summary: "list the files and variables that each CLI signs in with, and until when they are good",
      options: authOptions,
      examples: [{ line: "karst auth status --agents claude,codex", does: "only these two" }],
      notes: [noCredential],
      load: async () => (await import("../commands/auth-command.ts")).authStatusCommand,
    }),
    defineCommand({
      name: "docker-flags",
      summary: "print arguments of docker run that give a container the same credentials",
      options: dockerOptions,
      examples: [{ line: "docker run $(karst auth docker-flags) my-image", does: "the CLIs in it are signed in" }],
      notes: [
        "Each file is mounted by itself, read-only except logins that the CLI renews; variables are passed by name.",
        noCredential,
      ],
      load: async () => (await import("../commands/auth-command.ts")).dockerFlagsCommand,
    }),
    defineCommand({
      name: "setup",
      summary: "copy credentials and reduced settings to a folder for containers",
      options: setupOptions,
      examples: [
        { line: "karst auth setup --agents claude,codex", does: "to ~/.karst/auth" },
        { line: "docker run $(karst auth docker-flags --staged) my-image", does: "a container with these" },
      ],
      notes: [
        "Settings are reduced to the login, the model and one trusted folder: no hooks, MCP servers or projects. A login " +
          "that the CLI renews is not copied but mounted itself. The folder is replaced each time.",
        noCredential,
      ],
      load: async () => (await import("../commands/auth-stage-command.ts")).authSetupCommand,
    }),
    defineCommand({
      name: "teardown",
      summary: "remove the folder that setup wrote",
      options: teardownOptions,
      examples: [{ line: "karst auth teardown --dry-run", does: "list what would be removed" }],
      load: async () => (await import("../commands/auth-stage-command.ts")).authTeardownCommand,
    }),
  ],
}
