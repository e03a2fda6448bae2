// karst/rules: checks of model-written code before it runs.

export {
  attributeRule,
  type FunctionRuleOptions,
  functionRule,
  importRule,
  type Rule,
  type RuleContext,
  type RuleData,
  type RuleNames,
  type RuleOptions,
  type RuleViolation,
  regexRule,
} from "./runtime/rules/rules.ts"
export { safeRules } from "./runtime/rules/safe-rules.ts"
