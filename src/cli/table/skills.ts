// The commands for skills: skills list, validate, add.
import { type CommandGroup, defineCommand, type OptionSpecs } from "../command.ts"

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
      load: async () => (await import("../commands/skills/skills-add-command.ts")).addSkillsCommand,
    }),
  ],
}
