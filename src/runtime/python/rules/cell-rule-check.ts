// Checks each Python cell against the rules of its runtime before it runs.
import { notStartedExecution } from "../../js/execute-cell.ts"
import { explainViolations, type Rule } from "../../rules/rules.ts"
import type { CellNotExecuted } from "../../runtime.ts"
import { findInterpreter } from "../kernel/find-interpreter.ts"
import { createPythonChecker, type PythonChecker, pythonRuleData } from "./python-checker.ts"

export function createCellRuleCheck(python: string | undefined, rules: readonly Rule[]) {
  let checker: PythonChecker | undefined
  // Throw for rules that cannot check Python now, when the runtime is created, and not at the first cell.
  pythonRuleData(rules)
  return {
    /** Returns the failed execution of a cell that violates the rules; undefined if the cell may run. */
    async refusalFor(code: string): Promise<CellNotExecuted | undefined> {
      if (rules.length === 0) return undefined
      checker ??= createPythonChecker({ python: (await findInterpreter(python)).executable, rules })
      const violations = await checker.check(code)
      const [first] = violations
      if (!first) return undefined
      const { line, column } = first
      const message = explainViolations(violations)
      return { ...notStartedExecution(message), error: { kind: "security", message, line, column } }
    },
    async close(): Promise<void> {
      await checker?.close()
    },
  }
}
