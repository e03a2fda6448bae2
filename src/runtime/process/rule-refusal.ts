// Checks a cell against the rules on the host, before the cell is sent to a child.
import { CellSyntaxError, parseCell } from "../compiler/parse-cell.ts"
import { checkRules } from "../rules/check-rules.ts"
import { explainViolations, type Rule } from "../rules/rules.ts"
import type { CellNotExecuted } from "../runtime.ts"

/** Returns the failed execution of a cell that breaks a rule, or undefined if it breaks none. */
export function ruleRefusal(code: string, rules: readonly Rule[]): CellNotExecuted | undefined {
  const [violation, ...others] = rules.length > 0 ? violationsOf(code, rules) : []
  if (!violation) return undefined
  const { line, column } = violation
  return {
    ok: false,
    error: { kind: "security", message: explainViolations([violation, ...others]), line, column },
    stdout: "",
    stderr: "",
    output: "",
    durationMs: 0,
    changes: { created: [], reassigned: [], removed: [] },
  }
}

function violationsOf(code: string, rules: readonly Rule[]): ReturnType<typeof checkRules> {
  try {
    return checkRules(parseCell(code), rules)
  } catch (error) {
    // A syntax error is reported when the cell is compiled.
    if (error instanceof CellSyntaxError) return []
    throw error
  }
}
