// The commands for trajectories: trajectory show.
import { type CommandGroup, defineCommand, type OptionSpecs } from "../command.ts"
import { sessionStoreOption } from "./agent-options.ts"
import { jsonOption } from "./shared-options.ts"

export const trajectoryOptions = {
  steps: { type: "text", value: "<list>", help: "show these steps in full, such as 7-10,12/3" },
  tools: { type: "flag", help: "also list the cells and tool calls of each step" },
  html: { type: "text", value: "<file>", files: true, help: "write everything to one HTML page" },
  ...sessionStoreOption,
  ...jsonOption,
} as const satisfies OptionSpecs

export const trajectoryCommands: CommandGroup = {
  name: "trajectory",
  summary: "read what agents did, step by step",
  page: "sessions.md",
  commands: [
    defineCommand({
      name: "show",
      summary:
        "list the steps of a session or durable run with tokens, cost and errors, show some in full, or write a page",
      takes: { usage: "<file | id | last>", least: 1, most: 1, files: true },
      options: trajectoryOptions,
      examples: [
        { line: "karst trajectory show last", does: "the newest session: counts, then one line for each step" },
        { line: "karst trajectory show last --steps 7-10,12/3", does: "in full; 12/3 is a step of a sub-agent" },
        { line: "karst trajectory show run.json --html run.html", does: "a page for a browser; it loads nothing else" },
      ],
      notes: [
        "A file is one that session.save, karst sessions export or the option trajectoryPath wrote, or the lines of " +
          "karst run --json; the folder of a session works too. With --store sqlite:… or redis:…, the id may be that of " +
          "a durable run.",
      ],
      load: async () => (await import("../commands/trajectory-command.ts")).showTrajectoryCommand,
    }),
  ],
}
