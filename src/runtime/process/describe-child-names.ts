// Declares and lists the names of a child's namespace. The host describes the values that it injected; the child
// describes the values that cells created.
import { ConfigError } from "../../core/errors.ts"
import { listNames } from "../bindings/binding-names.ts"
import { type Binding, boundValue, toBinding, variable } from "../bindings.ts"
import { describeAgentRuntimes } from "../declare/declare-agent.ts"
import { declareBindings } from "../declare/declare-bindings.ts"
import { describeType } from "../declare/inspect-value.ts"
import { isTable, reportedVariable } from "../declare/table-sample.ts"
import type { HostObject } from "../handles/host-objects.ts"
import { ForgedMessage } from "../handles/wire.ts"
import type { RuntimeName } from "../runtime.ts"
import type { RemoteShapes } from "../type-gate/remote-type-gate.ts"
import type { BindingRegistry } from "./binding-registry.ts"
import { isStringArray, type NameReport, parseNameReports } from "./child-protocol.ts"
import type { ChildSupervisor } from "./child-supervisor.ts"
import { declaresOnly, parseChildType } from "./child-type-text.ts"
import type { ConnectedChild } from "./connected-child.ts"
import { parseRemoteShapes, placeholderFor, type ShapeQuery } from "./remote-shapes.ts"

/** Returns the declarations of the given names, or of all injected ones. */
export async function declareChildNames(
  host: ChildSupervisor,
  { bindings, modules }: BindingRegistry,
  names: readonly string[] | undefined,
): Promise<string> {
  const loaded = [...modules.values()].flatMap((module) => module.names)
  const isKnown = (names ?? loaded).every((name) => bindings.has(name))
  const agents = await describeAgentRuntimes(bindings.values())
  if (!host.runningChild?.used && isKnown) {
    return declareBindings(pickBindings(bindings, names ?? [...bindings.keys()]), bindings, true, agents)
  }
  const child = await host.connect()
  const reports = new Map((await requestNameReports(child)).map((report) => [report.name, report]))
  const missing = names?.find((name) => !reports.has(name))
  if (missing !== undefined) throw unknownNameError(missing, [...reports.keys()])
  const all = names ?? [...bindings.keys(), ...loaded].filter((name) => reports.has(name))
  const wanted = all.filter((name) => !loaded.includes(name))
  const current = new Map(wanted.map((name) => [name, hostBinding(reports.get(name), bindings.get(name), child)]))
  // The child declares what cells made as it is; the host adds the author's texts to what it injected.
  const cellMade = wanted.filter((name) => !current.get(name) && !bindings.has(name))
  const changed = wanted.filter((name) => !current.get(name) && bindings.has(name))
  // The number of rows of a table may have changed although its author wrote the type.
  const typed = wanted.filter((name) => isTypedData(reports.get(name), bindings.get(name)))
  const types = await requestTypes(child, [...changed, ...typed])
  const samples = await requestSamples(child, [...changed, ...typed], bindings)
  const declared = wanted
    .filter((name) => !cellMade.includes(name))
    .map((name): [string, Binding] => {
      const injected = bindings.get(name)
      const { type, note } = types.get(name) ?? {}
      const known = current.get(name)
      if (injected?.kind !== "variable") return [name, known ?? variable(undefined, { type })]
      const sample = samples.get(name) ?? []
      if (typed.includes(name)) {
        return [name, reportedVariable(injected, { note: note?.match(/[\d,]+ rows?$/)?.[0], sample })]
      }
      if (known) return [name, known]
      // The child knows little about the objects behind its handles. If its type contains `any`, use the host's type,
      // except for tables, which contain no handles.
      const isVague = type !== undefined && /\bany\b/.test(type)
      if (isVague && !isTable(injected.value)) return [name, reportedVariable(injected, { note, sample })]
      const { description } = injected
      return [name, reportedVariable(variable(undefined, { description, type }), { note, sample })]
    })
  const text = declareBindings(new Map(declared), new Map([...bindings, ...declared]), true, agents)
  const ofModules = await requestDeclarations(
    child,
    all.filter((name) => loaded.includes(name)),
    text,
  )
  if (ofModules === undefined) throw child.killForViolation("invalid declarations")
  const ofCells =
    (await requestDeclarations(child, cellMade, text)) ?? cellMade.map((name) => `declare let ${name}: any`).join("\n")
  return [text, ofModules, ofCells].filter(Boolean).join("\n")
}

export async function listChildNames(child: ConnectedChild, { bindings }: BindingRegistry): Promise<RuntimeName[]> {
  const reports = await requestNameReports(child)
  return reports.map(({ handle, ...name }): RuntimeName => {
    const injected = bindings.get(name.name)
    const exposed = findHostObject(handle, child)?.value
    const known = injected && isHostDeclarationCurrent({ handle, ...name }, injected, child) ? injected : undefined
    const value = known ? boundValue(known) : exposed
    if (value === undefined || (known?.kind === "variable" && exposed === undefined)) return name
    const kind = (known ?? toBinding(value)).kind
    return { ...name, kind: known ? kind : name.kind, type: kind === "agent" ? "Agent" : describeType(value) }
  })
}

/** Describes names and their members to the depth of the query. Host objects are described only as such. */
export async function describeChildShapes(wanted: ShapeQuery, child: ConnectedChild): Promise<RemoteShapes> {
  if (Object.keys(wanted).length === 0) return { values: new Map(), handles: new Map() }
  const sights = parseRemoteShapes(await child.ask("look", { wanted }), wanted)
  if (!sights) throw child.killForViolation("an invalid description of names")
  const find = (id: number) => findHostObject(id, child)?.value
  const handles = [...sights].flatMap(([name, sight]): [string, object][] => {
    const value = sight.as === "handle" ? find(sight.id) : undefined
    return value ? [[name, value]] : []
  })
  return {
    values: new Map([...sights].map(([name, sight]) => [name, placeholderFor(sight, find)])),
    handles: new Map(handles),
  }
}

/** Returns the host's value of a name, or undefined if only the child has the value. */
function hostBinding(
  report: NameReport | undefined,
  injected: Binding | undefined,
  child: ConnectedChild,
): Binding | undefined {
  if (!report) return undefined
  if (injected && isHostDeclarationCurrent(report, injected, child)) return injected
  const exposed = findHostObject(report.handle, child)
  return exposed && (exposed.bound ? exposed.bound.target : variable(exposed.original))
}

/** Returns true if the host's declaration of a name is still right. Cells may change data, so a data variable keeps
 *  only a `type` that its author wrote. */
function isHostDeclarationCurrent({ name, handle }: NameReport, injected: Binding, child: ConnectedChild): boolean {
  if (injected.kind === "function") return findHostObject(handle, child)?.bound?.name === name
  if (handle !== undefined) return findHostObject(handle, child)?.original === boundValue(injected)
  return injected.kind === "variable" && injected.type !== undefined
}

/** Returns true for data of the child whose author wrote its type. */
function isTypedData(report: NameReport | undefined, injected: Binding | undefined): boolean {
  return report?.handle === undefined && injected?.kind === "variable" && injected.type !== undefined
}

async function requestNameReports(child: ConnectedChild): Promise<NameReport[]> {
  const reports = parseNameReports(await child.ask("names"))
  if (!reports) throw child.killForViolation("invalid names")
  return reports
}

async function requestTypes(
  child: ConnectedChild,
  names: readonly string[],
): Promise<Map<string, ReturnType<typeof parseChildType>>> {
  if (names.length === 0) return new Map()
  const types = await child.ask("types", { names })
  if (!isStringArray(types) || types.length !== names.length) throw child.killForViolation("invalid types")
  return new Map(names.map((name, index) => [name, parseChildType(types[index] ?? "any", name)]))
}

/** Returns the first rows of the tables whose authors asked for a sample. */
async function requestSamples(
  child: ConnectedChild,
  names: readonly string[],
  bindings: ReadonlyMap<string, Binding>,
): Promise<Map<string, string[]>> {
  const wanted = names.flatMap((name) => {
    const binding = bindings.get(name)
    return binding?.kind === "variable" && binding.sample ? [{ name, count: binding.sample }] : []
  })
  if (wanted.length === 0) return new Map()
  const request = { names: wanted.map(({ name }) => name), counts: wanted.map(({ count }) => count) }
  const samples = await child.ask("samples", request)
  const isValid = Array.isArray(samples) && samples.length === wanted.length && samples.every(isStringArray)
  if (!isValid) throw child.killForViolation("invalid samples")
  return new Map(wanted.map(({ name, count }, index) => [name, samples[index]?.slice(0, count) ?? []]))
}

/** Asks the child for the declarations of names that only it knows: of modules and of cells. Returns undefined if its
 *  text declares anything else. */
async function requestDeclarations(
  child: ConnectedChild,
  names: readonly string[],
  hostText: string,
): Promise<string | undefined> {
  if (names.length === 0) return ""
  const text = await child.ask("describe", { names })
  return typeof text === "string" && declaresOnly(text, names, hostText) ? text : undefined
}

/** Returns the host object behind a name, or undefined if the child has released it. */
function findHostObject(handle: number | undefined, child: ConnectedChild): HostObject | undefined {
  if (handle === undefined) return undefined
  try {
    return child.connection.objects.find(handle)
  } catch (error) {
    if (ForgedMessage.is(error)) throw child.killForViolation(error.message)
    return undefined
  }
}

function pickBindings(bindings: ReadonlyMap<string, Binding>, names: readonly string[]): Map<string, Binding> {
  return new Map([...bindings].filter(([name]) => names.includes(name)))
}

function unknownNameError(name: string, names: readonly string[]): ConfigError {
  return new ConfigError(`There is no "${name}" in the runtime. There is ${listNames(names)}.`)
}
