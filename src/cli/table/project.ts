// The commands for a new project and for the machine it runs on: init, doctor.
import { cliNames } from "../../providers/cli-names.ts"
import { defineCommand, type OptionSpecs } from "../command.ts"
import { jsonOption } from "./shared-options.ts"

export const initOptions = {
  to: { type: "text", value: "<folder>", files: true, help: "the folder of the project. Default: this one" },
} as const satisfies OptionSpecs

export const templates = ["objects", "tools"] as const

export const initCommand = defineCommand({
  name: "init",
  summary: "create a project: one agent, its configuration, and a test that replays a session",
  takes: { usage: "[objects|tools]", least: 0, most: 1, choices: templates },
  options: initOptions,
  examples: [
    { line: "karst init --to my-agent", does: "an agent that writes code against live objects" },
    { line: "karst init tools", does: "in this folder: an agent that calls tools and writes no code" },
  ],
  notes: [
    "The project runs and its test passes without a key. No file is overwritten: a README.md, .gitignore or " +
      "tsconfig.json that exists is kept, and a package.json gets what it lacks.",
  ],
  page: "testing.md",
  load: async () => (await import("../commands/init-command.ts")).initProjectCommand,
})

export const doctorOptions = {
  live: { type: "flag", help: "also ask the model and the installed coding CLIs something short; costs a few tokens" },
  need: {
    type: "list",
    value: "<words>",
    choices: ["config", "model", "keys", "python", "isolation", "redis", ...cliNames],
    help: "exit with 1 if one of these does not work. Some of",
  },
  model: { type: "text", value: "<id>", help: "the model to check. Default: the one that karst run would use" },
  redis: { type: "text", value: "<url>", help: "the server to check. Default: REDIS_URL" },
  ...jsonOption,
} as const satisfies OptionSpecs

export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "check what Karst can use here: Node, packages, Python, isolation, Redis, keys, models, coding CLIs",
  options: doctorOptions,
  examples: [
    { line: "karst doctor", does: "each line is ok, missing or broken; with what to do" },
    { line: "karst doctor --live", does: "also asks the model and the coding CLIs" },
    { line: "karst doctor --need model,python", does: "for a script: exit code 1 if one of them does not work" },
  ],
  notes: [
    "Exit code 0, unless something that was asked for does not work: what --need names, the server of --redis, the " +
      "model of --model, and the model of the configuration. Keys are named, never printed.",
  ],
  load: async () => (await import("../commands/doctor-command.ts")).doctorCommand,
})
