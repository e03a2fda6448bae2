// States in the system prompt what cells may use besides the declared names: modules, the network, and objects of
// another process.
import { builtinModules } from "node:module"
import { normalizeModuleName } from "../../runtime/rules/path-names.ts"
import type { RuleData } from "../../runtime/rules/rules.ts"
import type { CellAccess, Runtime } from "../../runtime/runtime.ts"

/** Returns one sentence or two about imports and the network, as far as the rules and the isolation tell. */
export function accessText(access: CellAccess, language: Runtime["language"]): string {
  const rules = access.rules.flatMap(({ data }) => data ?? [])
  if (language === "python") return [pythonImports(rules), ...(access.network ? [] : ["No network."])].join(" ")
  return `${typescriptImports(rules, access)} ${fetchText(rules, access)}`
}

/** Returns how to use objects that live in another process than the cells. */
export function remoteText(language: Runtime["language"]): string {
  return language === "python"
    ? "The host's objects are in another process: call them without `await`; data is a copy. To make several calls at " +
        "once, use asyncio.to_thread."
    : "The host's objects are in another process: each call and member takes `await`; data is a copy, assign it back to " +
        "change it."
}

type ImportData = Extract<RuleData, { kind: "import" }>

function typescriptImports(rules: readonly RuleData[], { packages }: CellAccess): string {
  const imports = rules.filter((rule) => rule.kind === "import")
  const only = allowedOnly(imports)
  if (only) return only
  const refused = refusedNames(imports)
  const own = nodeModules(refused)
  const from = [...(packages ? ["installed packages"] : []), ...(own.allowed ? [own.allowed] : [])]
  const allowed = from.length > 0 ? `Imports: ${from.join(", ")}` : "Imports: none"
  return own.refused ? `${allowed}; not ${own.refused}.` : `${allowed}.`
}

/** Names Node's modules: those that cells often need, if some are refused. */
function nodeModules(refused: ReadonlySet<string>): { allowed?: string; refused?: string } {
  const known = builtinModules.filter((name) => !name.includes("/") && !name.startsWith("_"))
  if (!known.some((name) => refused.has(name))) return { allowed: "Node's modules" }
  const oftenAllowed = oftenUsed.filter((name) => !refused.has(name))
  const oftenRefused = oftenUsed.filter((name) => refused.has(name))
  return {
    ...(oftenAllowed.length > 0 && { allowed: `Node's ${oftenAllowed.join(", ")} …` }),
    ...(oftenRefused.length > 0 && { refused: oftenRefused.join(", ") }),
  }
}

const oftenUsed = ["crypto", "path", "url", "util", "fs", "child_process", "http"]

function fetchText(rules: readonly RuleData[], { network }: CellAccess): string {
  const refuses = (rule: RuleData) =>
    rule.kind === "function" && ["fetch", "globalThis.fetch"].some((name) => rule.names.includes(name))
  if (rules.some(refuses)) return "`fetch` is not allowed."
  return network ? "`fetch` works." : "No network: `fetch` fails."
}

function pythonImports(rules: readonly RuleData[]): string {
  const imports = rules.filter((rule) => rule.kind === "import")
  const only = allowedOnly(imports)
  if (only) return only
  const refused = refusedNames(imports)
  const often = oftenUsedInPython.filter((name) => refused.has(name))
  const opens = rules.some((rule) => rule.kind === "function" && rule.names.includes("open"))
  const shown = [...often, ...(opens ? ["`open`"] : [])]
  const all = "Imports: any installed package"
  return shown.length > 0 ? `${all}; not ${shown.join(", ")}.` : `${all}.`
}

const oftenUsedInPython = ["os", "sys", "subprocess", "pathlib", "socket", "requests", "urllib"]

/** Returns the sentence for a list of allowed modules, which excludes all others; undefined if there is none. */
function allowedOnly(imports: readonly ImportData[]): string | undefined {
  const lists = imports.filter(({ only }) => only).map(({ names }) => new Set(names))
  const [first, ...others] = lists
  if (!first) return undefined
  const refused = refusedNames(imports)
  const names = [...others.reduce((all, list) => all.intersection(list), first)].filter(
    (name) => !refused.has(normalizeModuleName(name)),
  )
  if (names.length === 0) return "Imports: none."
  const shown = names.length > maxNames ? [...names.slice(0, maxNames), `${names.length - maxNames} more`] : names
  return `Imports: only ${shown.join(", ")}.`
}

function refusedNames(imports: readonly ImportData[]): Set<string> {
  return new Set(imports.flatMap(({ only, names }) => (only ? [] : names.map(normalizeModuleName))))
}

const maxNames = 20
