// Options that several commands have.
import type { OptionSpecs } from "../command.ts"

export const modeOption = {
  mode: {
    type: "choice",
    choices: ["full", "short", "result", "off"],
    help: "how much of the run is shown; result: only the answer. Default: full",
  },
} as const satisfies OptionSpecs

export const eventsOption = {
  json: { type: "flag", help: "print every event as a line of JSON, and nothing else" },
} as const satisfies OptionSpecs

export const jsonOption = { json: { type: "flag", help: "print JSON" } } as const satisfies OptionSpecs

export const cellTimeoutOption = {
  "cell-timeout": { type: "integer", value: "<seconds>", help: "stop a cell after this time. Default: never" },
} as const satisfies OptionSpecs
