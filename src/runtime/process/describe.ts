import { ConfigError } from "../../core/errors.ts"
import { type Binding, boundValue, toBinding, variable } from "../bindings.ts"
import { lookAtAgents } from "../declare/agent.ts"
import { declare, describeType } from "../declare/declare.ts"
import type { HostObject } from "../handles/host-objects.ts"
import { Forged } from "../handles/wire.ts"
import { listNames } from "../names.ts"
import type { Name } from "../runtime.ts"
import type { RemoteSights } from "../type-gate/remote-gate.ts"
import { isDeclarations, typeFromChild } from "./child-types.ts"
import type { Host } from "./host.ts"
import type { Live } from "./live.ts"
import { isStrings, type NameReport, readNames } from "./protocol.ts"
import type { Registry } from "./registry.ts"
import { readSights, standInFor, type Wanted } from "./sights.ts"

/** Declarations of names. The host describes what it injected itself; the child describes what cells made. */
export async function declareRemote(
  host: Host,
  { bindings, modules }: Registry,
  names: readonly string[] | undefined,
): Promise<string> {
  const loaded = [...modules.values()].flatMap((module) => module.names)
  const isKnown = (names ?? loaded).every((name) => bindings.has(name))
  const agents = await lookAtAgents(bindings.values())
  if (!host.live?.used && isKnown) {
    return declare(picked(bindings, names ?? [...bindings.keys()]), bindings, true, agents)
  }
  const child = await host.connect()
  const reports = new Map((await reportsOf(child)).map((report) => [report.name, report]))
  const missing = names?.find((name) => !reports.has(name))
  if (missing !== undefined) throw unknownName(missing, [...reports.keys()])
  const all = names ?? [...bindings.keys(), ...loaded].filter((name) => reports.has(name))
  const wanted = all.filter((name) => !loaded.includes(name))
  const current = new Map(wanted.map((name) => [name, hostBinding(reports.get(name), bindings.get(name), child)]))
  const elsewhere = wanted.filter((name) => !current.get(name))
  const types = await typesOf(child, elsewhere)
  const declared = wanted.map((name): [string, Binding] => {
    const injected = bindings.get(name)
    const type = types.get(name)
    // The child knows little of the objects behind its handles. Where its type says less, the host's own is used.
    const known = current.get(name) ?? (type?.includes("any") && injected?.kind === "variable" ? injected : undefined)
    const description = injected?.kind === "variable" ? injected.description : undefined
    return [name, known ?? variable(undefined, { description, type })]
  })
  const text = declare(new Map(declared), new Map([...bindings, ...declared]), true, agents)
  return [
    text,
    await ownWords(
      child,
      all.filter((name) => loaded.includes(name)),
    ),
  ]
    .filter(Boolean)
    .join("\n")
}

export async function namesOf(child: Live, { bindings }: Registry): Promise<Name[]> {
  const reports = await reportsOf(child)
  return reports.map(({ handle, ...name }): Name => {
    const injected = bindings.get(name.name)
    const exposed = found(handle, child)?.value
    const known = injected && isSame({ handle, ...name }, injected, child) ? injected : undefined
    const value = known ? boundValue(known) : exposed
    if (value === undefined || (known?.kind === "variable" && exposed === undefined)) return name
    const kind = (known ?? toBinding(value)).kind
    return { ...name, kind: known ? kind : name.kind, type: kind === "agent" ? "Agent" : describeType(value) }
  })
}

/** Describes names and their members, as deep as `wanted` asks. A host object is only described as one. */
export async function lookAt(wanted: Wanted, child: Live): Promise<RemoteSights> {
  if (Object.keys(wanted).length === 0) return { values: new Map(), handles: new Map() }
  const sights = readSights(await child.ask("look", { wanted }), wanted)
  if (!sights) throw child.accuse("an invalid description of names")
  const find = (id: number) => found(id, child)?.value
  const handles = [...sights].flatMap(([name, sight]): [string, object][] => {
    const value = sight.as === "handle" ? find(sight.id) : undefined
    return value ? [[name, value]] : []
  })
  return {
    values: new Map([...sights].map(([name, sight]) => [name, standInFor(sight, find)])),
    handles: new Map(handles),
  }
}

/** The host's own value of a name; undefined where only the child has it. */
function hostBinding(report: NameReport | undefined, injected: Binding | undefined, child: Live): Binding | undefined {
  if (!report) return undefined
  if (injected && isSame(report, injected, child)) return injected
  const exposed = found(report.handle, child)
  return exposed && (exposed.bound ? exposed.bound.target : variable(exposed.original))
}

/** Whether the host's declaration of a name is still right. Cells may change data, so that only a `type` that its
 *  author wrote stays right for it. */
function isSame({ name, handle }: NameReport, injected: Binding, child: Live): boolean {
  if (injected.kind === "function") return found(handle, child)?.bound?.name === name
  if (handle !== undefined) return found(handle, child)?.original === boundValue(injected)
  return injected.kind === "variable" && injected.type !== undefined
}

async function reportsOf(child: Live): Promise<NameReport[]> {
  const reports = readNames(await child.ask("names"))
  if (!reports) throw child.accuse("invalid names")
  return reports
}

async function typesOf(child: Live, names: readonly string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const types = await child.ask("types", { names })
  if (!isStrings(types) || types.length !== names.length) throw child.accuse("invalid types")
  return new Map(names.map((name, index) => [name, typeFromChild(types[index] ?? "any", name)]))
}

/** Declarations of what a module put in: only the child knows its types and comments. */
async function ownWords(child: Live, names: readonly string[]): Promise<string> {
  if (names.length === 0) return ""
  const text = await child.ask("describe", { names })
  if (typeof text !== "string" || !isDeclarations(text)) throw child.accuse("invalid declarations")
  return text
}

/** The host object behind a name; undefined where a cell has released it since. */
function found(handle: number | undefined, child: Live): HostObject | undefined {
  if (handle === undefined) return undefined
  try {
    return child.connection.objects.find(handle)
  } catch (error) {
    if (Forged.is(error)) throw child.accuse(error.message)
    return undefined
  }
}

function picked(bindings: ReadonlyMap<string, Binding>, names: readonly string[]): Map<string, Binding> {
  return new Map([...bindings].filter(([name]) => names.includes(name)))
}

function unknownName(name: string, names: readonly string[]): ConfigError {
  return new ConfigError(`There is no "${name}" in the runtime. There is ${listNames(names)}.`)
}
