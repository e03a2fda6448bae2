// States in the system prompt what cells may use besides the declared names: modules, the network, and objects of
// another process.
import { builtinModules } from "node:module"
import type { PromptTexts } from "../../core/prompt-texts.ts"
import { normalizeModuleName } from "../../runtime/rules/path-names.ts"
import type { RuleData } from "../../runtime/rules/rules.ts"
import type { CellAccess, Runtime } from "../../runtime/runtime.ts"

/** Returns one sentence or two about imports and the network, as far as the rules and the isolation tell. */
export function accessText(access: CellAccess, language: Runtime["language"], texts: PromptTexts): string {
  const rules = access.rules.flatMap(({ data }) => data ?? [])
  if (language === "python")
    return [pythonImports(rules, texts), ...(access.network ? [] : [texts.noNetwork])].join(" ")
  return `${typescriptImports(rules, access, texts)} ${fetchText(rules, access, texts)}`
}

type ImportData = Extract<RuleData, { kind: "import" }>

function typescriptImports(rules: readonly RuleData[], { packages }: CellAccess, texts: PromptTexts): string {
  const imports = rules.filter((rule) => rule.kind === "import")
  const only = allowedOnly(imports, texts)
  if (only) return only
  const own = nodeModules(refusedNames(imports), texts)
  const from = [...(packages ? [texts.installedPackages] : []), ...(own.allowed ? [own.allowed] : [])]
  return texts.imports(from, own.refused ?? "")
}

/** Names Node's modules: those that cells often need, if some are refused. */
function nodeModules(refused: ReadonlySet<string>, texts: PromptTexts): { allowed?: string; refused?: string } {
  const known = builtinModules.filter((name) => !name.includes("/") && !name.startsWith("_"))
  if (!known.some((name) => refused.has(name))) return { allowed: texts.nodeModules }
  const oftenAllowed = oftenUsed.filter((name) => !refused.has(name))
  const oftenRefused = oftenUsed.filter((name) => refused.has(name))
  return {
    ...(oftenAllowed.length > 0 && { allowed: texts.someNodeModules(oftenAllowed) }),
    ...(oftenRefused.length > 0 && { refused: oftenRefused.join(", ") }),
  }
}

const oftenUsed = ["crypto", "path", "url", "util", "fs", "child_process", "http"]

function fetchText(rules: readonly RuleData[], { network }: CellAccess, texts: PromptTexts): string {
  const refuses = (rule: RuleData) =>
    rule.kind === "function" && ["fetch", "globalThis.fetch"].some((name) => rule.names.includes(name))
  if (rules.some(refuses)) return texts.fetchRefused
  return network ? texts.fetchWorks : texts.fetchFails
}

function pythonImports(rules: readonly RuleData[], texts: PromptTexts): string {
  const imports = rules.filter((rule) => rule.kind === "import")
  const only = allowedOnly(imports, texts)
  if (only) return only
  const refused = refusedNames(imports)
  const often = oftenUsedInPython.filter((name) => refused.has(name))
  const opens = rules.some((rule) => rule.kind === "function" && rule.names.includes("open"))
  const shown = [...often, ...(opens ? ["`open`"] : [])]
  return texts.imports([texts.anyPackage], shown.join(", "))
}

const oftenUsedInPython = ["os", "sys", "subprocess", "pathlib", "socket", "requests", "urllib"]

/** Returns the sentence for a list of allowed modules, which excludes all others; undefined if there is none. */
function allowedOnly(imports: readonly ImportData[], texts: PromptTexts): string | undefined {
  const lists = imports.filter(({ only }) => only).map(({ names }) => new Set(names))
  const [first, ...others] = lists
  if (!first) return undefined
  const refused = refusedNames(imports)
  const names = [...others.reduce((all, list) => all.intersection(list), first)].filter(
    (name) => !refused.has(normalizeModuleName(name)),
  )
  if (names.length === 0) return texts.noImports
  return texts.importsOnly(names.slice(0, maxNames), Math.max(0, names.length - maxNames))
}

function refusedNames(imports: readonly ImportData[]): Set<string> {
  return new Set(imports.flatMap(({ only, names }) => (only ? [] : names.map(normalizeModuleName))))
}

const maxNames = 20
