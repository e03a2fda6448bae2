// The command table: every command of `karst` by its first word, in the order and sections in which help shows them.
import type { Command, CommandGroup } from "./command.ts"
import { authCommands } from "./table/auth.ts"
import { chatCommand } from "./table/chat.ts"
import { evalCommand, replayCommand } from "./table/checks.ts"
import { codingCliCommands } from "./table/coding-clis.ts"
import { completionCommand } from "./table/completion.ts"
import { configCommands, modelsCommands } from "./table/configuration.ts"
import { mcpCommands } from "./table/mcp.ts"
import { doctorCommand, initCommand } from "./table/project.ts"
import { runsCommands } from "./table/runs.ts"
import { sessionsCommands } from "./table/sessions.ts"
import { skillsCommands } from "./table/skills.ts"
import { trajectoryCommands } from "./table/trajectories.ts"
import { demoCommand, promptCommand, resumeCommand, runCommand } from "./table/work.ts"
import { workerCommand } from "./table/worker.ts"

export const commandSections: readonly { title: string; commands: readonly (Command | CommandGroup)[] }[] = [
  {
    title: "Work",
    commands: [
      runCommand,
      chatCommand,
      resumeCommand,
      demoCommand,
      initCommand,
      promptCommand,
      replayCommand,
      evalCommand,
    ],
  },
  { title: "Sessions and runs", commands: [sessionsCommands, trajectoryCommands, runsCommands, workerCommand] },
  { title: "Your objects in other programs", commands: [...codingCliCommands, mcpCommands] },
  {
    title: "Environment",
    commands: [doctorCommand, configCommands, modelsCommands, authCommands, skillsCommands, completionCommand],
  },
]

export const commands: ReadonlyMap<string, Command | CommandGroup> = new Map(
  commandSections.flatMap(({ commands }) => commands.map((entry) => [entry.name, entry] as const)),
)

export const exitCodes = {
  0: "done",
  1: "failed",
  2: "usage",
  3: "stopped by a limit",
  4: "waiting",
  130: "aborted",
}

export function isGroup(entry: Command | CommandGroup): entry is CommandGroup {
  return "commands" in entry
}
