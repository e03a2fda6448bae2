// The commands for durable runs in a store: runs list, show, watch, answer, approve, steer, abort, retry, prune.
import { type CommandGroup, defineCommand, type OptionSpecs } from "../command.ts"
import { eventsOption, jsonOption } from "./shared-options.ts"
import { queueOptions } from "./worker.ts"

export const listRunsOptions = {
  status: {
    type: "list",
    value: "<words>",
    choices: ["queued", "running", "waiting", "done", "stopped", "aborted", "failed"],
    help: "only runs of these statuses. Some of",
  },
  agent: { type: "text", value: "<name>", help: "only runs of this agent" },
  session: { type: "text", value: "<name>", help: "only runs of this session" },
  ...queueOptions,
  ...jsonOption,
} as const satisfies OptionSpecs

export const showRunOptions = { ...queueOptions, ...jsonOption } as const satisfies OptionSpecs
export const watchRunOptions = { ...queueOptions, ...eventsOption } as const satisfies OptionSpecs

export const approveOptions = {
  deny: { type: "flag", help: "refuse the call" },
  always: { type: "flag", help: "allow it, and the same call later in the run without asking" },
  ...queueOptions,
} as const satisfies OptionSpecs

export const pruneOptions = {
  "older-than": { type: "duration", value: "<time>", help: "runs that ended longer ago than this, such as 12h or 30d" },
  ...queueOptions,
} as const satisfies OptionSpecs

const run = { usage: "<run>", least: 1, most: 1 }
const store = "--store sqlite:karst.db"
const load = () => import("../commands/runs-command.ts")

export const runsCommands: CommandGroup = {
  name: "runs",
  summary: "list, watch and control the durable runs of a store",
  page: "durability.md",
  commands: [
    defineCommand({
      name: "list",
      summary: "list runs",
      options: listRunsOptions,
      examples: [{ line: `karst runs list ${store} --status waiting,failed`, does: "those that need a person" }],
      load: async () => (await load()).listRunsCommand,
    }),
    defineCommand({
      name: "show",
      summary: "show one run, its answer, and the whole call that waits for approval",
      takes: run,
      options: showRunOptions,
      examples: [{ line: `karst runs show run_7d2a ${store}`, does: "also what to do if it waits" }],
      load: async () => (await load()).showRunCommand,
    }),
    defineCommand({
      name: "watch",
      summary: "show a run as it happens, until it ends or waits; the exit code is that of the run",
      takes: run,
      options: watchRunOptions,
      examples: [{ line: "karst runs watch run_7d2a --store redis://localhost:6379", does: "from its first event" }],
      load: async () => (await load()).watchRunCommand,
    }),
    defineCommand({
      name: "answer",
      summary: "answer the question of a waiting run",
      takes: { usage: '<run> "<answer>"', least: 2, most: Infinity },
      options: queueOptions,
      examples: [{ line: `karst runs answer run_7d2a "The blue one" ${store}`, does: "a worker then goes on" }],
      load: async () => (await load()).answerRunCommand,
    }),
    defineCommand({
      name: "approve",
      summary: "allow or deny the call that a run waits with",
      takes: { usage: "<run> [<call>]", least: 1, most: 2 },
      options: approveOptions,
      examples: [
        { line: `karst runs approve run_7d2a ${store}`, does: "allow the call that karst runs show shows" },
        { line: `karst runs approve run_7d2a --deny ${store}`, does: "refuse it" },
      ],
      load: async () => (await load()).approveRunCommand,
    }),
    defineCommand({
      name: "steer",
      summary: "send a message to the model of a run, before its next cycle",
      takes: { usage: '<run> "<message>"', least: 2, most: Infinity },
      options: queueOptions,
      examples: [{ line: `karst runs steer run_7d2a "Leave out test orders" ${store}`, does: "while it works" }],
      load: async () => (await load()).steerRunCommand,
    }),
    defineCommand({
      name: "abort",
      summary: "end a run, in whichever process it is",
      takes: { usage: '<run> ["<reason>"]', least: 1, most: Infinity },
      options: queueOptions,
      examples: [{ line: `karst runs abort run_7d2a "Not needed" ${store}`, does: "returns when it has ended" }],
      load: async () => (await load()).abortRunCommand,
    }),
    defineCommand({
      name: "retry",
      summary: "continue a failed run from its last checkpoint",
      takes: run,
      options: queueOptions,
      examples: [{ line: `karst runs retry run_7d2a ${store}`, does: "calls before the failure are not repeated" }],
      load: async () => (await load()).retryRunCommand,
    }),
    defineCommand({
      name: "prune",
      summary: "delete runs that ended long ago",
      options: pruneOptions,
      examples: [{ line: `karst runs prune --older-than 30d ${store}`, does: "prints the ids of the deleted runs" }],
      load: async () => (await load()).pruneRunsCommand,
    }),
  ],
}
