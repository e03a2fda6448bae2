import { ConfigError } from "../../core/errors.ts"
import { codecOf, dropSameObjects, injectedObjects, lostObjectState } from "../bindings/used-objects.ts"
import { rebind } from "../bindings.ts"
import { type HostObjectState, prependHostState, splitHostState } from "../host-object-state.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "../runtime.ts"
import { hashOf, invalidSnapshot } from "../snapshot/snapshot-bytes.ts"
import { PythonError } from "./cell-report.ts"
import type { KernelSupervisor } from "./kernel/kernel-supervisor.ts"

/** Data of the kernel, as bytes that a kernel writes and a kernel reads: the host never looks into them. Injected data is
 *  among it where cells may have changed it. In front is the state of host objects that have a codec. */
export async function takeSnapshot(
  session: KernelSupervisor,
  maxBytes: number,
  hostState?: HostObjectState,
): Promise<RuntimeSnapshot> {
  const { bindings, known } = session
  const host = await hostState?.encode(bindings, maxBytes)
  const left = maxBytes - (host?.data?.length ?? 0)
  await session.ensureStarted()
  const touched = new Set(known.possiblyChanged())
  const without = [...bindings.keys(), ...known.setup].filter((name) => !touched.has(name))
  const most = Number.isFinite(left) ? Math.max(0, left) : null
  const { data, lost } = (await session.ask("snapshot", { without, most })) as { data: Uint8Array; lost: RuntimeLoss[] }
  const ofKernel = lost.flatMap(({ name, ...rest }): RuntimeLoss[] => {
    if (!bindings.has(name) && !known.setup.has(name)) return [{ name, ...rest }]
    const binding = bindings.get(name)
    return binding?.kind === "variable" && binding.external ? [] : [{ name, ...rest, asInjected: true }]
  })
  const snapshot = { version: 1, language: "python", data, hash: hashOf(data) } as const
  const all = [...ofKernel, ...(host?.lost ?? []), ...lostHostState(session)]
  return prependHostState({ ...snapshot, lost: all }, host?.data)
}

/** The host objects that cells used and whose state is not kept. */
function lostHostState({ bindings, usedObjects: used, codecs }: KernelSupervisor): RuntimeLoss[] {
  return injectedObjects(bindings)
    .filter(({ value }) => used.has(value) && !codecOf(value, codecs))
    .map(lostObjectState)
}

/** In a fresh kernel, so that nothing of before is left. Bytes that were changed are refused before that. */
export async function restoreSnapshot(
  snapshot: RuntimeSnapshot,
  session: KernelSupervisor,
  hostState: HostObjectState,
): Promise<RuntimeLoss[]> {
  const { own, state } = splitHostState(snapshot)
  const { version, language, data, hash, lost } = own
  if (version !== 1 || language !== "python") {
    throw new ConfigError(`A snapshot of version ${version} for ${language} cannot be restored in a pythonRuntime.`)
  }
  if (!(data instanceof Uint8Array) || hashOf(data) !== hash) throw invalidSnapshot("its bytes are damaged")
  const { bindings, known, usedObjects: used } = session
  const host = state && (await hostState.restore(state, bindings))
  for (const [name, value] of Object.entries(host?.values ?? {})) {
    const binding = bindings.get(name)
    if (binding) bindings.set(name, rebind(binding, value))
  }
  await session.endKernel()
  const { names, values, lost: missing } = await restoreNames(data, session)
  for (const name of names) known.all.add(name)
  known.recordChanges({ created: [], reassigned: values, removed: [] })
  return dropSameObjects([...lost, ...missing, ...(host?.lost ?? [])], bindings, used)
}

interface RestoredNames {
  /** All names of the namespace. */
  names: string[]
  /** Those that the snapshot had a value for. */
  values: string[]
  lost: RuntimeLoss[]
}

async function restoreNames(data: Uint8Array, session: KernelSupervisor): Promise<RestoredNames> {
  try {
    return (await session.ask("restore", { data })) as RestoredNames
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    throw invalidSnapshot(`this Python cannot read it (${error.name}: ${error.message})`, error)
  }
}
