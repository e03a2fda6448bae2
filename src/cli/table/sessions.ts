// The commands for stored sessions: sessions list, show, export, delete.
import { type CommandGroup, defineCommand, type OptionSpecs } from "../command.ts"
import { sessionStoreOption } from "./agent-options.ts"
import { jsonOption } from "./shared-options.ts"

export const sessionOptions = { ...sessionStoreOption, ...jsonOption } as const satisfies OptionSpecs

export const listSessionsOptions = {
  search: { type: "text", value: "<text>", help: "only sessions that mention the text" },
  agent: { type: "text", value: "<name>", help: "only sessions of this agent" },
  ...sessionOptions,
} as const satisfies OptionSpecs

export const exportOptions = {
  format: {
    type: "choice",
    choices: ["trajectory", "atif"],
    help: "trajectory: as session.save writes it; atif: the Agent Trajectory Interchange Format. Default: trajectory",
  },
  out: { type: "text", value: "<file>", files: true, help: "write it to a file. Default: standard output" },
  ...sessionStoreOption,
} as const satisfies OptionSpecs

export const deleteSessionsOptions = { ...sessionStoreOption } as const satisfies OptionSpecs

const session = { usage: "<id | last>", least: 1, most: 1 }

export const sessionsCommands: CommandGroup = {
  name: "sessions",
  summary: "list, show, export and delete stored sessions",
  page: "sessions.md",
  commands: [
    defineCommand({
      name: "list",
      summary: "list sessions, the newest first",
      options: listSessionsOptions,
      examples: [
        { line: "karst sessions list", does: "those in ~/.karst" },
        { line: 'karst sessions list --search "invoice" --store ./archive', does: "in another folder" },
      ],
      load: async () => (await import("../commands/sessions-command.ts")).listSessionsCommand,
    }),
    defineCommand({
      name: "show",
      summary: "show a session: its runs with prompts, code, results and answers",
      takes: session,
      options: sessionOptions,
      examples: [{ line: "karst sessions show last", does: "the newest one" }],
      load: async () => (await import("../commands/sessions-command.ts")).showSessionCommand,
    }),
    defineCommand({
      name: "export",
      summary: "export a session as JSON",
      takes: session,
      options: exportOptions,
      examples: [
        { line: "karst sessions export s_k3f9 --out session.json", does: "for loadSession() and other tools" },
      ],
      load: async () => (await import("../commands/sessions-command.ts")).exportSessionCommand,
    }),
    defineCommand({
      name: "delete",
      summary: "delete sessions and all their data",
      takes: { usage: "<id> …", least: 1, most: Infinity },
      options: deleteSessionsOptions,
      examples: [{ line: "karst sessions delete s_k3f9", does: "one session" }],
      load: async () => (await import("../commands/sessions-command.ts")).deleteSessionsCommand,
    }),
  ],
}
