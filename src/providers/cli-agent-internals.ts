import { createHiddenField } from "../core/values/hidden-field.ts"
import type { CliOptions } from "./options.ts"

/** What is behind an agent that is a coding CLI, for those who work on several of them. */
export interface CliAgentInternals {
  options: CliOptions
  /** Whether its program is there, by now. */
  isInstalled(): boolean
}

export const cliAgentInternals = createHiddenField<CliAgentInternals>()
