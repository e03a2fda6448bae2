// Attaches internals to coding-CLI agents, for code that combines several agents.
import { createHiddenField } from "../core/values/hidden-field.ts"
import type { CliOptions } from "./options.ts"

export interface CliAgentInternals {
  options: CliOptions
  /** Returns true if the program of the CLI is installed now. */
  isInstalled(): boolean
}

export const cliAgentInternals = createHiddenField<CliAgentInternals>()
