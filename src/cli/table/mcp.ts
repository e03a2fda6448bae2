// The command `karst mcp serve`.
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
