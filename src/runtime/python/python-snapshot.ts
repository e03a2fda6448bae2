// Takes and restores snapshots of a kernel. The kernel writes and reads the bytes; the host only stores them.
import { ConfigError } from "../../core/errors.ts"
import { codecOf, dropSameObjects, injectedObjects, lostObjectState } from "../bindings/used-objects.ts"
import { rebind } from "../bindings.ts"
import { type HostObjectState, prependHostState, splitHostState } from "../host-object-state.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "../runtime.ts"
import { hashOf, invalidSnapshot } from "../snapshot/snapshot-bytes.ts"
import { PythonError } from "./cell-report.ts"
import type { KernelSupervisor } from "./kernel/kernel-supervisor.ts"

/** Injected values are included if cells may have changed them. The state of host objects that have a codec is stored
 *  in front of the kernel's bytes. */
export async function takeSnapshot(
  kernel: KernelSupervisor,
  maxBytes: number,
  hostState?: HostObjectState,
): Promise<RuntimeSnapshot> {
  const { bindings, knownNames } = kernel
  const host = await hostState?.encode(bindings, maxBytes)
  const kernelBytes = maxBytes - (host?.data?.length ?? 0)
  await kernel.ensureStarted()
  const touched = new Set(knownNames.possiblyChanged())
  const excluded = [...bindings.keys(), ...knownNames.setup].filter((name) => !touched.has(name))
  const most = Number.isFinite(kernelBytes) ? Math.max(0, kernelBytes) : null
  const { data, lost } = (await kernel.ask("snapshot", { without: excluded, most })) as {
    data: Uint8Array
    lost: RuntimeLoss[]
  }
  const kernelLosses = lost.flatMap(({ name, ...rest }): RuntimeLoss[] => {
    if (!bindings.has(name) && !knownNames.setup.has(name)) return [{ name, ...rest }]
    const binding = bindings.get(name)
    return binding?.kind === "variable" && binding.external ? [] : [{ name, ...rest, asInjected: true }]
  })
  const snapshot = { version: 1, language: "python", data, hash: hashOf(data) } as const
  const lostNames = [...kernelLosses, ...(host?.lost ?? []), ...lostHostState(kernel)]
  return prependHostState({ ...snapshot, lost: lostNames }, host?.data)
}

/** The host objects that cells used and whose state is not stored, because they have no codec. */
function lostHostState({ bindings, usedObjects, codecs }: KernelSupervisor): RuntimeLoss[] {
  return injectedObjects(bindings)
    .filter(({ value }) => usedObjects.has(value) && !codecOf(value, codecs))
    .map(lostObjectState)
}

/** Restores into a new kernel, without earlier state. Refuses damaged bytes before it ends the old kernel. */
export async function restoreSnapshot(
  snapshot: RuntimeSnapshot,
  kernel: KernelSupervisor,
  hostState: HostObjectState,
): Promise<RuntimeLoss[]> {
  const { own, state } = splitHostState(snapshot)
  const { version, language, data, hash, lost, exact = false } = own
  if (version !== 1 || language !== "python") {
    throw new ConfigError(`A snapshot of version ${version} for ${language} cannot be restored in a pythonRuntime.`)
  }
  if (!(data instanceof Uint8Array) || hashOf(data) !== hash) throw invalidSnapshot("its bytes are damaged")
  const { bindings, knownNames, usedObjects } = kernel
  const host = state && (await hostState.restore(state, bindings))
  for (const [name, value] of Object.entries(host?.values ?? {})) {
    const binding = bindings.get(name)
    if (binding) bindings.set(name, rebind(binding, value))
  }
  await kernel.endKernel()
  const { names, values, lost: missing } = await restoreNames(data, exact, kernel)
  for (const name of names) knownNames.all.add(name)
  knownNames.recordChanges({ created: [], reassigned: values, removed: [] })
  return dropSameObjects([...lost, ...missing, ...(host?.lost ?? [])], bindings, usedObjects)
}

interface RestoredNames {
  names: string[]
  /** The names whose values came from the snapshot. */
  values: string[]
  lost: RuntimeLoss[]
}

async function restoreNames(data: Uint8Array, exact: boolean, kernel: KernelSupervisor): Promise<RestoredNames> {
  try {
    return (await kernel.ask("restore", { data, exact })) as RestoredNames
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    throw invalidSnapshot(`this Python cannot read it (${error.name}: ${error.message})`, error)
  }
}
