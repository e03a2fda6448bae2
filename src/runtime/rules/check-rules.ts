// Checks a TypeScript cell against rules.
import { type ParsedCell, walk } from "../compiler/parse-cell.ts"
import { analyseScope } from "../compiler/scope-analysis.ts"
import { collectCellFacts } from "./cell-facts.ts"
import type { Rule, RuleContext, RuleViolation } from "./rules.ts"

/** Returns the violations of all rules in source order, each one once; none if the cell may run. */
export function checkRules(cell: ParsedCell, rules: readonly Rule[]): RuleViolation[] {
  if (rules.length === 0) return []
  const found: RuleViolation[] = []
  let context: RuleContext | undefined
  let name = ""
  for (const rule of rules) {
    name = rule.name
    try {
      // All rules share one context for the cell.
      context ??= createRuleContext(cell, () => name)
      for (const violation of rule.check(context)) found.push(violation)
    } catch (error) {
      const what = context ? `the rule "${name}" failed` : "the cell could not be checked"
      found.push({ rule: name, message: `${what}, so nothing is run: ${error}`, line: 1, column: 1 })
    }
  }
  return found.length > 1 ? sortAndDeduplicate(found) : found
}

function createRuleContext(cell: ParsedCell, rule: () => string): RuleContext {
  const { code, program } = cell
  const { names, imports, members } = collectCellFacts(cell)
  return {
    names,
    imports,
    members,
    code,
    program,
    scopes: analyseScope(cell),
    // The walk stops at a visitor that returns false, which a rule must not do by accident.
    walk(visit) {
      walk(program, (node, parent) => void visit(node, parent), { types: false })
    },
    report: createReporter(code, rule),
  }
}

function createReporter(code: string, rule: () => string): RuleContext["report"] {
  let lines: number[] | undefined
  return (at, message) => {
    lines ??= [0, ...code.matchAll(/\r\n|[\n\r\u2028\u2029]/g).map((end) => end.index + end[0].length)]
    const offset = typeof at === "number" ? at : at.start
    const line = lines.findLastIndex((start) => start <= offset)
    return { rule: rule(), message, line: line + 1, column: offset - (lines[line] ?? 0) + 1 }
  }
}

function sortAndDeduplicate(violations: RuleViolation[]): RuleViolation[] {
  const unique = new Map<string, RuleViolation>()
  for (const violation of violations) {
    const key = `${violation.line}:${violation.column} ${violation.message}`
    if (!unique.has(key)) unique.set(key, violation)
  }
  return [...unique.values()].sort((one, other) => one.line - other.line || one.column - other.column)
}
