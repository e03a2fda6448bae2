import { ConfigError } from "../../core/errors.ts"
import { renewed } from "../bindings.ts"
import { type HostState, splitHostState, withHostState } from "../host-state.ts"
import type { Lost, Snapshot } from "../runtime.ts"
import { hashOf, invalidSnapshot } from "../snapshot/wire.ts"
import { codecOf, lostState, objectsIn, withoutSameObjects } from "../used-objects.ts"
import type { Session } from "./session.ts"
import { PythonError } from "./told.ts"

/** Data of the kernel, as bytes that a kernel writes and a kernel reads: the host never looks into them. Injected data is
 *  among it where cells may have changed it. In front is the state of host objects that have a codec. */
export async function takeSnapshot(session: Session, maxBytes: number, hostState?: HostState): Promise<Snapshot> {
  const { bindings, known } = session
  const host = await hostState?.take(bindings, maxBytes)
  const left = maxBytes - (host?.data?.length ?? 0)
  await session.start()
  const touched = new Set(known.touched())
  const without = [...bindings.keys(), ...known.setup].filter((name) => !touched.has(name))
  const most = Number.isFinite(left) ? Math.max(0, left) : null
  const { data, lost } = (await session.ask("snapshot", { without, most })) as { data: Uint8Array; lost: Lost[] }
  const ofKernel = lost.flatMap(({ name, ...rest }): Lost[] => {
    if (!bindings.has(name) && !known.setup.has(name)) return [{ name, ...rest }]
    const binding = bindings.get(name)
    return binding?.kind === "variable" && binding.external ? [] : [{ name, ...rest, asInjected: true }]
  })
  const snapshot = { version: 1, language: "python", data, hash: hashOf(data) } as const
  const all = [...ofKernel, ...(host?.lost ?? []), ...usedAndLost(session)]
  return withHostState({ ...snapshot, lost: all }, host?.data)
}

/** The host objects that cells used and whose state is not kept. */
function usedAndLost({ bindings, used, codecs }: Session): Lost[] {
  return objectsIn(bindings)
    .filter(({ value }) => used.has(value) && !codecOf(value, codecs))
    .map(lostState)
}

/** In a fresh kernel, so that nothing of before is left. Bytes that were changed are refused before that. */
export async function restoreSnapshot(snapshot: Snapshot, session: Session, hostState: HostState): Promise<Lost[]> {
  const { own, state } = splitHostState(snapshot)
  const { version, language, data, hash, lost } = own
  if (version !== 1 || language !== "python") {
    throw new ConfigError(`A snapshot of version ${version} for ${language} cannot be restored in a pythonRuntime.`)
  }
  if (!(data instanceof Uint8Array) || hashOf(data) !== hash) throw invalidSnapshot("its bytes are damaged")
  const { bindings, known, used } = session
  const host = state && (await hostState.restore(state, bindings))
  for (const [name, value] of Object.entries(host?.values ?? {})) {
    const binding = bindings.get(name)
    if (binding) bindings.set(name, renewed(binding, value))
  }
  await session.end()
  const { names, values, lost: missing } = await restored(data, session)
  for (const name of names) known.all.add(name)
  known.note({ created: [], reassigned: values, removed: [] })
  return withoutSameObjects([...lost, ...missing, ...(host?.lost ?? [])], bindings, used)
}

interface Restored {
  /** All names of the namespace. */
  names: string[]
  /** Those that the snapshot had a value for. */
  values: string[]
  lost: Lost[]
}

async function restored(data: Uint8Array, session: Session): Promise<Restored> {
  try {
    return (await session.ask("restore", { data })) as Restored
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    throw invalidSnapshot(`this Python cannot read it (${error.name}: ${error.message})`, error)
  }
}
