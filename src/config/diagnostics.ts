// Problems that were found while resources and agents were loaded.

/** A problem with a resource or an agent. Nothing else is affected: an agent with an error cannot be run, a resource
 *  with an error is left out. */
export interface Diagnostic {
  severity: "error" | "warning"
  /** The file or folder, or the key of the configuration, such as `agents.analyst`. */
  path: string
  line?: number | undefined
  message: string
}

/** The problem as one line, with its place. */
export function diagnosticText({ path, line, message }: Diagnostic): string {
  if (path === "") return message
  return `${path}${line === undefined ? "" : `:${line}`}: ${message}`
}
