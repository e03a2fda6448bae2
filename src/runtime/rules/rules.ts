import { posix } from "node:path"
import type { AnyNode, Program } from "acorn"
import { ConfigError } from "../../core/errors.ts"
import type { ScopeAnalysis } from "../compiler/scope-analysis.ts"
import { moduleLoaderFactories, moduleLoaders } from "./builtin-calls.ts"
import type { CellFacts, NameUse } from "./cell-facts.ts"
import { globalPath, normalizeModuleName } from "./path-names.ts"

/** Something a cell must not do, decided from its text before it runs. Rules are advice that fails closed on what they
 *  see: a name that is computed while the program runs is not seen. Isolation is the boundary, not this.
 *  What `check` throws blocks the cell, as a violation of the rule. */
export interface Rule {
  name: string
  check(cell: RuleContext): Iterable<RuleViolation>
  /** What the rule refuses, for runtimes of other languages. Only the rules made here have it. */
  data?: RuleData | undefined
}

/** A rule as plain data. */
export type RuleData = { description?: string | undefined } & (
  | { kind: "import"; names: string[]; only: boolean }
  | { kind: "function"; names: string[]; except: string[] }
  | { kind: "attribute"; names: string[] }
  | { kind: "regex"; patterns: RegExp[] }
)

/** One reason why a cell is not run. */
export interface RuleViolation {
  rule: string
  /** What is not allowed and, where there is one, the way out. */
  message: string
  /** Both count from 1, in the cell's own text. */
  line: number
  column: number
}

/** A cell as rules see it. The facts are collected once for all rules; `program` is an acorn tree with TypeScript nodes. */
export interface RuleContext extends CellFacts {
  code: string
  program: Program
  scopes: ScopeAnalysis
  /** Visits every node that is not only type, parents first. */
  walk(visit: (node: AnyNode, parent: AnyNode | undefined) => void): void
  /** A violation of the rule at a node, or at an offset in `code`. */
  report(at: AnyNode | number, message: string): RuleViolation
}

/** The violations as text for the model: a line each. */
export function explainViolations(violations: readonly RuleViolation[]): string {
  const lines = violations
    .slice(0, maxShownViolations)
    .map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`)
  if (violations.length > maxShownViolations) lines.push(`and ${violations.length - maxShownViolations} more`)
  return lines.join("\n")
}

export interface RuleOptions {
  /** Why, for the model to read. */
  description?: string | undefined
}

/** Refuses modules, and what lies below them: `fs` stands for `fs`, `node:fs` and `fs/promises`, `./` for every file
 *  here. With `only`, refuses every other module. Covers `import` in all its forms, `require`, `createRequire` and
 *  `process.getBuiltinModule`; a module whose name is not in the text is refused too. Imports of types load nothing. */
export function importRule(modules: RuleNames | { only: RuleNames }, options: RuleOptions = {}): Rule {
  const allow = typeof modules === "object" && "only" in modules
  const names = toNames("importRule", allow ? modules.only : modules)
  const listed = new Set(names.map(normalizeModuleEntry))
  return {
    name: "import",
    data: { kind: "import", names, only: allow, ...options },
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
        } else if (isAtOrBelow(name, "/", listed) !== allow) {
          found.push(cell.report(node, withDescription(`the module ${quoted(specifier)} is not allowed`, options)))
        }
      }
      for (const use of cell.names) {
        const { path, node } = use
        if (escapesTracking(use, moduleLoaderHolders)) {
          // A free `module` is a variable of an earlier cell; the module of that name has to be imported.
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
  /** What stays allowed below the names: `functionRule("process", { except: "process.stdout" })`. */
  except?: RuleNames | undefined
}

/** Refuses functions, or anything else, by name: `eval`, `process.exit`. Any use counts, not only a call: an alias, an
 *  argument, a member of `globalThis`, a destructured name. What the cell itself declares under such a name is its own.
 *  An object that holds a refused member may be used only by its members' names, so that none is missed. */
export function functionRule(names: RuleNames, options: FunctionRuleOptions = {}): Rule {
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

/** Refuses members by name, of whatever object: read, written, destructured, computed from constant text, through
 *  `Reflect.get` and the like. A test (`"x" in y`), a literal's key and a key known only at run time pass; `__proto__`
 *  as a literal's key does not. A private member is written `#name`. */
export function attributeRule(names: RuleNames, options: RuleOptions = {}): Rule {
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

/** Refuses text: each match in the source as it was written, strings and comments included, is a violation. A pattern
 *  given as a string matches over lines (flags `m` and `s`). */
export function regexRule(patterns: RegExp | string | Iterable<RegExp | string>, options: RuleOptions = {}): Rule {
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

/** Every place where a text matches one of the patterns. */
export function* findForbiddenText(code: string, patterns: readonly RegExp[], options: RuleOptions) {
  for (const pattern of patterns) {
    for (const { index, 0: text } of code.matchAll(pattern)) {
      yield { offset: index, message: withDescription(`the text ${quoted(text)} is not allowed`, options) }
    }
  }
}

/** One name, or several. */
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

/** A module as lists hold it. `./lib/` and `./lib` are the same: the folder and all below it. */
function normalizeModuleEntry(specifier: string): string {
  const name = normalizeModuleName(specifier)
  if (!/^\.{0,2}\//.test(name)) return name
  const path = posix.normalize(name).replace(/\/$/, "")
  return /^\.{0,2}\//.test(path) || path === "." || path === ".." || path === "" ? path : `./${path}`
}

function hasParentSegment(name: string): boolean {
  return !name.startsWith(".") && /(?:^|\/)\.\.(?:\/|$)/.test(name)
}

/** Whether a path, or what it is a part of, is in a set. */
function isAtOrBelow(path: string, separator: string, set: ReadonlySet<string>): boolean {
  if (set.has(path)) return true
  for (let end = path.indexOf(separator); end >= 0; end = path.indexOf(separator, end + 1)) {
    if (set.has(path.slice(0, end))) return true
  }
  return false
}

/** Loading by name is a `ModuleUse`; what is left are loaders on their way to elsewhere. */
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
