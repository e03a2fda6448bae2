import { notStarted } from "../cells/execute.ts"
import { type PythonChecker, pythonChecker, pythonRules } from "../python-rules.ts"
import { explainViolations, type Rule } from "../rules/rules.ts"
import type { NotExecuted } from "../runtime.ts"
import { findInterpreter } from "./interpreter.ts"

export interface RuleCheck {
  /** The execution of a cell that the rules refuse; undefined for one that may run. */
  refusal(code: string): Promise<NotExecuted | undefined>
  close(): Promise<void>
}

export function createRuleCheck(python: string | undefined, rules: readonly Rule[]): RuleCheck {
  let checker: PythonChecker | undefined
  // What cannot check Python is told when the runtime is made, not when a cell comes.
  pythonRules(rules)
  return {
    async refusal(code) {
      if (rules.length === 0) return undefined
      checker ??= pythonChecker({ python: (await findInterpreter(python)).executable, rules })
      const violations = await checker.check(code)
      const [first] = violations
      if (!first) return undefined
      const { line, column } = first
      const message = explainViolations(violations)
      return { ...notStarted(message), error: { kind: "security", message, line, column } }
    },
    async close() {
      await checker?.close()
    },
  }
}
