// Prints problems with resources, agents and MCP servers, one line for each, on standard error.
import { type Diagnostic, diagnosticText } from "../../config/diagnostics.ts"
import { safeLine } from "../../display/safe-text.ts"

export function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) process.stderr.write(`karst: ${safeLine(diagnosticText(diagnostic))}\n`)
}
