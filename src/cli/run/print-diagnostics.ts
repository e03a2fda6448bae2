// Prints problems with resources, agents and MCP servers, one line for each, on standard error.
import type { Diagnostic } from "../../config/diagnostics.ts"
import { placeText } from "../../config/read-config-file.ts"
import { safeLine } from "../../display/safe-text.ts"
import { printNotice } from "../print-text.ts"

export function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const { path, line, message } of diagnostics) printNotice(safeLine(`${placeText(path, line)}: ${message}`))
}
