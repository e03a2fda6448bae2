import type { Binding } from "../bindings.ts"
import { formOf } from "../handles/value-forms.ts"
import { type HostState, splitHostState, withHostState } from "../host-state.ts"
import type { Lost, Snapshot } from "../runtime.ts"
import { codecOf, lostState, objectsIn, withoutSameObjects } from "../used-objects.ts"
import { namesOf } from "./describe.ts"
import type { Host } from "./host.ts"
import type { Live } from "./live.ts"
import { isLost, readSnapshot } from "./protocol.ts"
import type { Registry } from "./registry.ts"

/** Takes a snapshot of a child's namespace, with the state of host objects that have a codec. The host never decodes the
 *  bytes of the child. */
export async function takeSnapshot(
  child: Live,
  { maxBytes, since }: { maxBytes: number; since?: string | undefined },
  registry: Registry,
  hostState?: HostState,
): Promise<Snapshot> {
  const { bindings } = registry
  const { data, lost = [] } = (await hostState?.take(bindings, maxBytes)) ?? {}
  const left = Math.max(0, maxBytes - (data?.length ?? 0))
  // The state of host objects is part of whole snapshots only.
  const sinceWhole = since !== undefined && data === undefined ? { since } : {}
  const snapshot = readSnapshot(await child.ask("snapshot", { maxBytes: left, ...sinceWhole }))
  if (!snapshot) throw child.accuse("an invalid snapshot")
  const ofChild = snapshot.lost.filter(({ name, asInjected }) => !asInjected || livesInChild(bindings.get(name)))
  return withHostState({ ...snapshot, lost: [...ofChild, ...lost, ...usedAndLost(registry)] }, data)
}

export async function loadSnapshot(
  snapshot: Snapshot,
  child: Live,
  host: Host,
  registry: Registry,
  hostState: HostState,
): Promise<Lost[]> {
  const { own, state } = splitHostState(snapshot)
  const restored = state && (await hostState.restore(state, registry.bindings))
  if (restored) {
    const entries = registry.renew(restored.values)
    registry.add(entries)
    await child.bind("update", entries)
  }
  const { version, language, data, hash, lost, since, changes } = own
  const sent = {
    ...{ version, language, data, hash, lost },
    ...(since !== undefined && { since }),
    ...(changes && { changes: { data: changes.data, hash: changes.hash, lost: changes.lost } }),
  }
  const missing = await child.ask("restore", { snapshot: sent })
  if (!isLost(missing)) throw child.accuse("an invalid answer to `restore`")
  child.used = true
  host.learn((await namesOf(child, registry)).map(({ name }) => name))
  return withoutSameObjects([...missing, ...(restored?.lost ?? [])], registry.bindings, registry.access.used)
}

/** The host objects that cells used and whose state is not kept. */
function usedAndLost({ bindings, access, codecs }: Registry): Lost[] {
  return objectsIn(bindings)
    .filter(({ value }) => access.used.has(value) && formOf(value) === "live" && !codecOf(value, codecs))
    .map(lostState)
}

function livesInChild(binding: Binding | undefined): boolean {
  if (binding?.kind !== "variable") return true
  const { value, external } = binding
  return !external && typeof value === "object" && value !== null && formOf(value) !== "live"
}
