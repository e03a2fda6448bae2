// The rule contract, and the functions that create rules: static checks of cells before they run.

import { posix } from "node:path"
import type { AnyNode, Program } from "acorn"
import { checkOptionNames } from "../../core/checks/check-options.ts"
import { ConfigError } from "../../core/errors.ts"
import { listFirst } from "../../core/text/tagged-text.ts"
import type { ScopeAnalysis } from "../compiler/scope-analysis.ts"
import { moduleLoaderFactories, moduleLoaders } from "./builtin-calls.ts"
import type { CellFacts, NameUse } from "./cell-facts.ts"
import { globalPath, normalizeModuleName } from "./path-names.ts"

/** A static check of a cell's code before it runs. Code whose target cannot be determined statically is refused, but
 *  names that are computed at run time can stay unnoticed: only isolation stops attacks. An error that `check` throws
 *  blocks the cell, as a violation of the rule. */
export interface Rule {
  name: string
  /** Returns the violations of a cell. */
  check(cell: RuleContext): Iterable<RuleViolation>
  /** The rule as data, for runtimes of other languages. Only rules created by the functions of this file have it. */
  data?: RuleData | undefined
}

export type RuleData = { description?: string | undefined } & (
  | { kind: "import"; names: string[]; only: boolean }
  | { kind: "function"; names: string[]; except: string[] }
  | { kind: "attribute"; names: string[] }
  | { kind: "regex"; patterns: RegExp[] }
)

export interface RuleViolation {
  rule: string
  /** What is not allowed and, if there is one, the alternative. */
  message: string
  /** Line and column count from 1. */
  line: number
  column: number
}

/** A cell as rules see it. All rules share the facts; `program` is an acorn tree with TypeScript nodes. */
export interface RuleContext extends CellFacts {
  code: string
  program: Program
  scopes: ScopeAnalysis
  /** Visits every node except types, parents first. */
  walk(visit: (node: AnyNode, parent: AnyNode | undefined) => void): void
  /** Creates a violation of the rule at a node, or at an offset in `code`. */
  report(at: AnyNode | number, message: string): RuleViolation
}

/** Formats the violations for the model, one line each. */
export function explainViolations(violations: readonly RuleViolation[]): string {
  const describe = ({ line, column, message }: RuleViolation) => `line ${line}, column ${column}: ${message}`
  return listFirst(violations, maxShownViolations, describe).join("\n")
}

export interface RuleOptions {
  /** The reason for the rule, which is shown to the model. */
  description?: string | undefined
}

/** Refuses modules and those below them: `fs` means `fs`, `node:fs` and `fs/promises`; `./` means every local file.
 *  With `only`, refuses every other module. Covers all forms of `import`, `require`, `createRequire` and
 *  `process.getBuiltinModule`. Refuses modules whose name cannot be determined statically. Allows imports of types. */
export function importRule(modules: RuleNames | { only: RuleNames }, options: RuleOptions = {}): Rule {
  checkOptionNames("importRule()", options, "description")
  const isAllowList = typeof modules === "object" && "only" in modules
  if (isAllowList) checkOptionNames("importRule()", modules, "only")
  const names = toNames("importRule", isAllowList ? modules.only : modules)
  const listed = new Set(names.map(normalizeModuleEntry))
  return {
    name: "import",
    data: { kind: "import", names, only: isAllowList, ...options },
    check(cell) {
      const found: RuleViolation[] = []
      for (const { specifier, node } of cell.imports) {
        if (specifier === undefined) {
          found.push(cell.report(node, "which module this loads cannot be checked; write its name as a string"))
          continue
        }
        const name = normalizeModuleEntry(specifier)
        if (inlineModule.test(name) || hasParentSegment(name)) {
          found.push(cell.report(node, `what the module ${quoted(specifier)} holds cannot be checked`))
        } else if (isAtOrBelow(name, "/", listed) !== isAllowList) {
          found.push(cell.report(node, withDescription(`the module ${quoted(specifier)} is not allowed`, options)))
        }
      }
      for (const use of cell.names) {
        const { path, node } = use
        if (escapesTracking(use, moduleLoaderHolders)) {
          // An undeclared `module` is a variable of an earlier cell; Node's module of that name must be imported.
          if (path !== "module" || !isUndeclaredName(cell, node)) found.push(cell.report(node, escapeMessage(use)))
        } else if (passesLoaderOn(use)) {
          found.push(cell.report(node, `\`${path}\` loads modules; what it loads here cannot be checked`))
        }
      }
      return found
    },
  }
}

export interface FunctionRuleOptions extends RuleOptions {
  /** Members that stay allowed: `functionRule("process", { except: "process.stdout" })`. */
  except?: RuleNames | undefined
}

/** Refuses functions or other values by name: `eval`, `process.exit`. Every use counts, not only calls: aliases,
 *  arguments, members of `globalThis`, destructured names. Names that the cell itself declares are allowed. An object
 *  with a refused member may be used only through members that are named in the code. */
export function functionRule(names: RuleNames, options: FunctionRuleOptions = {}): Rule {
  checkOptionNames("functionRule()", options, "description", "except")
  const refused = new Set(toNames("functionRule", names))
  const excepted = new Set(options.except === undefined ? [] : toNames("functionRule", options.except))
  const holders = new Set([globalPath, ...[...refused].flatMap(parentPaths)])
  return {
    name: "function",
    data: { kind: "function", names: [...refused], ...options, except: [...excepted] },
    check(cell) {
      const found: RuleViolation[] = []
      for (const use of cell.names) {
        const { path, node } = use
        if (escapesTracking(use, holders)) found.push(cell.report(node, escapeMessage(use)))
        else if (use.use !== "test" && isAtOrBelow(path, ".", refused) && !isAtOrBelow(path, ".", excepted)) {
          found.push(cell.report(node, withDescription(`\`${path}\` is not allowed`, options)))
        }
      }
      return found
    },
  }
}

/** Refuses members of any object by name: read, written, destructured, computed from constant strings, or used through
 *  `Reflect.get` and similar functions. Allows tests (`"x" in y`), keys of object literals except `__proto__`, and keys
 *  that are known only at run time. A private member is written `#name`. */
export function attributeRule(names: RuleNames, options: RuleOptions = {}): Rule {
  checkOptionNames("attributeRule()", options, "description")
  const refused = new Set(toNames("attributeRule", names))
  return {
    name: "attribute",
    data: { kind: "attribute", names: [...refused], ...options },
    check: (cell) =>
      cell.members
        .filter(({ name }) => refused.has(name))
        .map(({ name, node }) => cell.report(node, withDescription(`the member \`${name}\` is not allowed`, options))),
  }
}

/** Refuses text: each match in the source, including strings and comments, is a violation. A pattern given as a string
 *  gets the flags `m` and `s`. */
export function regexRule(patterns: RegExp | string | Iterable<RegExp | string>, options: RuleOptions = {}): Rule {
  checkOptionNames("regexRule()", options, "description")
  const all = typeof patterns === "string" || patterns instanceof RegExp ? [patterns] : [...patterns]
  if (all.length === 0) throw new ConfigError("regexRule() was given no pattern. Name at least one.")
  const compiled = all.map(toGlobalPattern)
  return {
    name: "regex",
    data: { kind: "regex", patterns: compiled, ...options },
    check: ({ code, report }) =>
      [...findForbiddenText(code, compiled, options)].map(({ offset, message }) => report(offset, message)),
  }
}

/** Yields every place where the code matches one of the patterns. */
export function* findForbiddenText(code: string, patterns: readonly RegExp[], options: RuleOptions) {
  for (const pattern of patterns) {
    for (const { index, 0: text } of code.matchAll(pattern)) {
      yield { offset: index, message: withDescription(`the text ${quoted(text)} is not allowed`, options) }
    }
  }
}

export type RuleNames = string | Iterable<string>

const maxShownViolations = 20
const inlineModule = /^(?:data|blob|https?):/
const moduleLoaderHolders = new Set([globalPath, "process", "module"])

function toNames(rule: string, names: RuleNames): string[] {
  const all = typeof names === "string" ? [names] : [...names]
  if (all.every((name) => typeof name === "string" && name !== "")) return all
  throw new ConfigError(`${rule}() takes names: a string, or several that are not empty.`)
}

function toGlobalPattern(pattern: RegExp | string): RegExp {
  if (pattern instanceof RegExp) return new RegExp(pattern, pattern.flags.replace(/[gy]/g, "").concat("g"))
  try {
    return new RegExp(pattern, "gms")
  } catch (cause) {
    throw new ConfigError(`regexRule(): "${pattern}" is not a regular expression.`, { cause })
  }
}

/** Normalizes a module for lists. `./lib/` and `./lib` both mean the folder and everything below it. */
function normalizeModuleEntry(specifier: string): string {
  const name = normalizeModuleName(specifier)
  if (!/^\.{0,2}\//.test(name)) return name
  const path = posix.normalize(name).replace(/\/$/, "")
  return /^\.{0,2}\//.test(path) || path === "." || path === ".." || path === "" ? path : `./${path}`
}

function hasParentSegment(name: string): boolean {
  return !name.startsWith(".") && /(?:^|\/)\.\.(?:\/|$)/.test(name)
}

/** Returns true if a path or one of its parents is in a set. */
function isAtOrBelow(path: string, separator: string, set: ReadonlySet<string>): boolean {
  if (set.has(path)) return true
  for (let end = path.indexOf(separator); end >= 0; end = path.indexOf(separator, end + 1)) {
    if (set.has(path.slice(0, end))) return true
  }
  return false
}

/** Returns true if a loader is used other than to load a module by name, which `ModuleUse` covers. */
function passesLoaderOn({ path, use }: NameUse): boolean {
  if (use === "alias" || use === "test" || path === "require.resolve") return false
  return isAtOrBelow(path, ".", moduleLoaders) || (moduleLoaderFactories.has(path) && use !== "call")
}

function isUndeclaredName({ scopes }: RuleContext, node: AnyNode): boolean {
  return node.type === "Identifier" && scopes.references.has(node)
}

function parentPaths(path: string): string[] {
  const steps = path.split(".")
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join("."))
}

function escapesTracking({ path, use }: NameUse, holders: ReadonlySet<string>): boolean {
  return (use === "value" || use === "call" || use === "computed") && holders.has(path)
}

function escapeMessage({ path, use }: NameUse): string {
  return use === "computed"
    ? `which member of \`${path}\` this is cannot be checked; write its name`
    : `\`${path}\` is handed on as a whole, which cannot be checked; use its members by name`
}

function withDescription(what: string, { description }: RuleOptions): string {
  return description === undefined ? what : `${what}: ${description}`
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
}
