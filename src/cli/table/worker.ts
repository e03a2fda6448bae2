// The command `karst worker`, and the options of the store and the queue, which `karst runs` has too.
import { defineCommand, type OptionSpecs } from "../command.ts"

/** Where durable runs are stored, and how workers learn of jobs. */
export const queueOptions = {
  store: { type: "text", value: "<store>", help: "redis://host:6379 or sqlite:karst.db" },
  backend: {
    type: "choice",
    choices: ["bullmq", "inline"],
    help:
      "bullmq: jobs are in a queue in Redis; inline: workers look in the store. Default: bullmq for a store in " +
      "Redis, else inline",
  },
  redis: { type: "text", value: "<url>", help: "where the queue is. Default: where the store is" },
  queue: { type: "text", value: "<name>", help: "the name of the queue. Default: runs" },
  prefix: { type: "text", value: "<text>", help: "the beginning of all keys in Redis. Default: karst" },
} as const satisfies OptionSpecs

export const workerOptions = {
  agents: {
    type: "text",
    value: "<module>",
    files: true,
    help:
      "the module that exports the agents, which the submitting program imports too. Default: the agents of the " +
      "configuration",
  },
  ...queueOptions,
  "max-parallel": { type: "integer", value: "<n>", help: "how many runs at a time. Default: 4" },
} as const satisfies OptionSpecs

export const workerCommand = defineCommand({
  name: "worker",
  summary: "work on the durable runs of a store, until it is stopped",
  options: workerOptions,
  examples: [
    { line: "karst worker --agents ./agents.ts --store sqlite:karst.db", does: "on the runs in a file" },
    { line: "karst worker --agents ./agents.ts --store redis://localhost:6379", does: "on the jobs of a queue" },
    { line: "karst worker --store sqlite:karst.db", does: "for the agents of the configuration" },
  ],
  notes: [
    "Ctrl-C or SIGTERM ends it after the cycles under way; other workers go on with their runs. A second one leaves " +
      "at once.",
  ],
  page: "scaling.md",
  load: async () => (await import("../commands/worker-command.ts")).workerCommand,
})
