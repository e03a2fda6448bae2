import { notStartedExecution } from "../../js/execute-cell.ts"
import { explainViolations, type Rule } from "../../rules/rules.ts"
import type { CellNotExecuted } from "../../runtime.ts"
import { findInterpreter } from "../kernel/find-interpreter.ts"
import { createPythonChecker, type PythonChecker, pythonRuleData } from "./python-checker.ts"

export interface CellRuleCheck {
  /** The execution of a cell that the rules refuse; undefined for one that may run. */
  refusalFor(code: string): Promise<CellNotExecuted | undefined>
  close(): Promise<void>
}

export function createCellRuleCheck(python: string | undefined, rules: readonly Rule[]): CellRuleCheck {
  let checker: PythonChecker | undefined
  // What cannot check Python is told when the runtime is made, not when a cell comes.
  pythonRuleData(rules)
  return {
    async refusalFor(code) {
      if (rules.length === 0) return undefined
      checker ??= createPythonChecker({ python: (await findInterpreter(python)).executable, rules })
      const violations = await checker.check(code)
      const [first] = violations
      if (!first) return undefined
      const { line, column } = first
      const message = explainViolations(violations)
      return { ...notStartedExecution(message), error: { kind: "security", message, line, column } }
    },
    async close() {
      await checker?.close()
    },
  }
}
