// Prints problems with resources, agents and MCP servers, one line for each, on standard error.
import { type Diagnostic, diagnosticText } from "../../config/diagnostics.ts"
import { safeLine } from "../../display/safe-text.ts"
import { printNotice } from "../print-text.ts"

export function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) printNotice(safeLine(diagnosticText(diagnostic)))
}
