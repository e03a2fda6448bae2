// Declares bound agents for cells, in TypeScript and in Python, with the objects in the agents' runtimes.
import { AsyncLocalStorage } from "node:async_hooks"
import { types } from "node:util"
import { oneLine } from "../../core/text/tagged-text.ts"
import { type AgentBinding, type Binding, isAgent } from "../bindings.ts"
import { isRuntime } from "../is-runtime.ts"
import type { Runtime } from "../runtime.ts"
import type { DeclarationBlock } from "./declaration-block.ts"
import { capitalize, jsDoc } from "./type-tree.ts"

/** The declarations of the objects in an agent's runtime. */
export interface AgentRuntimeObjects {
  language: Runtime["language"]
  text: string
}

export type AgentDescriptions = ReadonlyMap<object, AgentRuntimeObjects>

export const noAgentDescriptions: AgentDescriptions = new Map()

/** Describes the variables, and the types they mention, in the runtimes of the agents among the bindings. Runtimes that
 *  cannot describe themselves are left out. */
export async function describeAgentRuntimes(bindings: Iterable<Binding>): Promise<AgentDescriptions> {
  const agents = [...bindings].flatMap((binding) => (binding.kind === "agent" ? [binding.agent] : []))
  // Agents inside those runtimes are not described in turn, because agents may contain each other.
  if (agents.length === 0 || isDescribingAgents.getStore()) return noAgentDescriptions
  const found = await isDescribingAgents.run(true, () => Promise.all(agents.map(describeRuntimeOf)))
  return new Map(agents.flatMap((agent, at) => (found[at] ? [[agent, found[at]]] : [])))
}

const isDescribingAgents = new AsyncLocalStorage<true>()

export function declareAgent(
  name: string,
  { agent }: AgentBinding,
  block: DeclarationBlock,
  known: AgentDescriptions,
): string {
  const reply = block.declareOnce("AgentReply", replyText)
  const type = block.declareOnce("Agent", (own) => agentText(own, reply))
  const objects = known.get(agent)
  const foreign = objects?.language === "python" ? `Its runtime is Python's, and holds:\n${objects.text}` : ""
  const about = jsDoc([agentSummary(agent), foreign].filter(Boolean).join("\n"))
  if (!hasRuntime(agent)) return `${about}declare const ${name}: Omit<${type}, "runtime">`
  if (objects?.language !== "typescript") return `${about}declare const ${name}: ${type}`
  const names = block.declareOnce(`${capitalize(name)}Objects`, (own) => namespaceText(own, objects.text))
  return `${about}declare const ${name}: ${type}<typeof ${names}>`
}

export function declarePythonAgent(name: string, agent: object, known: AgentDescriptions): string {
  const objects = known.get(agent)
  const lines = [
    `${name}.run(prompt: str, {"values": dict}) -> dict: gives it a task and waits; "values" (optional) go into its runtime first.`,
    'The dict has "status" (done, waiting, stopped, aborted, failed), "output" (what it says) and, where there is one, "error" or "reason". A failure is in the dict, not raised.',
    `${name}.runAll(tasks: list, {"maxParallel": 4}) -> list[dict]: several prompts, or dicts of "prompt" and "values"; replies in their order.`,
    ...(hasRuntime(agent) ? [`${name}.runtime.update({"name": value}); ${name}.runtime.retrieve("name")`] : []),
    ...(objects ? [`Its runtime (${languages[objects.language]}) holds:`, ...objects.text.split("\n")] : []),
  ]
  const about = agentSummary(agent)
  return [
    `${name}: Agent${about ? `  # ${oneLine(about, Number.POSITIVE_INFINITY)}` : ""}`,
    ...lines.map((line) => `# ${line}`),
  ].join("\n")
}

const languages: Record<Runtime["language"], string> = { typescript: "TypeScript", python: "Python" }

async function describeRuntimeOf(agent: object): Promise<AgentRuntimeObjects | undefined> {
  const runtime = isAgent(agent) ? ownValue(agent, "runtime") : undefined
  if (!isRuntime(runtime)) return undefined
  const { language } = runtime
  try {
    const names = [...(await runtime.describe()).matchAll(variableLines[language])].flatMap(([, name]) => name ?? [])
    return names.length === 0 ? undefined : { language, text: await runtime.describe(names) }
  } catch {
    // The runtime is closed or cannot be started here. Using the agent reports the reason.
    return undefined
  }
}

const variableLines: Record<Runtime["language"], RegExp> = {
  typescript: /^declare (?:let|const) ([\w$]+): (?!(?:Omit<)?Agent\d*\b)/gm,
  python: /^([^\W\d]\w*): (?!Agent\b)/gm,
}

function replyText(name: string): string {
  return `/** The result of a run. A failure is reported here, not thrown. */
interface ${name} {
  status: "done" | "waiting" | "stopped" | "aborted" | "failed"
  /** What it says. */
  output: string
  reason?: string
  error?: string
  objects?: Record<string, any>
}`
}

function agentText(name: string, reply: string): string {
  return `/** Another agent, with objects of its own. */
interface ${name}<Names = any> {
  /** Gives it a task and waits for the end. \`values\` go into its runtime first; \`outputs\` (JSON Schemas) are variables it must fill, given back as \`objects\`. */
  run(prompt: string, options?: { values?: Partial<Names>; outputs?: Record<string, object> }): Promise<${reply}>
  /** Several tasks, \`maxParallel\` (4) at a time; replies in their order. */
  runAll(tasks: (string | { prompt: string; values?: Partial<Names> })[], options?: { maxParallel?: number }): Promise<${reply}[]>
  runtime: {
    update(values: Partial<Names>): Promise<void>
    retrieve<K extends keyof Names>(name: K): Promise<Names[K]>
    retrieve(name: string): Promise<any>
  }
}`
}

// `declare` is dropped inside the namespace, because the namespace itself is ambient.
function namespaceText(name: string, text: string): string {
  const lines = text.split("\n").map((line) => `  ${line.replace(/^declare /, "")}`)
  return `declare namespace ${name} {\n${lines.join("\n")}\n}`
}

function agentSummary(agent: object): string {
  return [ownValue(agent, "name"), ownValue(agent, "description")]
    .filter((text) => typeof text === "string" && text)
    .join(": ")
}

function hasRuntime(agent: object): boolean {
  return ownValue(agent, "runtime") !== undefined
}

// Runs no code of the agent: for a getter, only its existence is reported.
function ownValue(agent: object, key: string): unknown {
  if (types.isProxy(agent)) return undefined
  const property = Object.getOwnPropertyDescriptor(agent, key)
  return property && !("value" in property) ? true : property?.value
}
