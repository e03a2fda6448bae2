// Takes and restores snapshots of a child's namespace, with the state of host objects that have a codec.
import { codecOf, dropSameObjects, injectedObjects, lostObjectState } from "../bindings/used-objects.ts"
import type { Binding } from "../bindings.ts"
import { crossingFormOf } from "../handles/codec/crossing-form.ts"
import { type HostObjectState, prependHostState, splitHostState } from "../host-object-state.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "../runtime.ts"
import type { BindingRegistry } from "./binding-registry.ts"
import { isLostList, parseSnapshot } from "./child-protocol.ts"
import type { ChildSupervisor } from "./child-supervisor.ts"
import type { ConnectedChild } from "./connected-child.ts"
import { listChildNames } from "./describe-child-names.ts"

export interface ChildSnapshotOptions {
  maxBytes: number
  since?: string | undefined
  /** The execution of the cell that asks, by a call of the host. The child then does not wait for its end. */
  within: string | undefined
}

/** The host never decodes the bytes of the child. */
export async function takeChildSnapshot(
  child: ConnectedChild,
  { maxBytes, since, within }: ChildSnapshotOptions,
  registry: BindingRegistry,
  hostState?: HostObjectState,
): Promise<RuntimeSnapshot> {
  const { bindings } = registry
  const { data, lost = [] } = (await hostState?.encode(bindings, maxBytes)) ?? {}
  const left = Math.max(0, maxBytes - (data?.length ?? 0))
  // Only whole snapshots can contain the state of host objects.
  const sinceWhole = since !== undefined && data === undefined ? { since } : {}
  const snapshot = parseSnapshot(await child.ask("snapshot", { maxBytes: left, ...sinceWhole, within }))
  if (!snapshot) throw child.killForViolation("an invalid snapshot")
  const ofChild = snapshot.lost.filter(({ name, asInjected }) => !asInjected || livesInChild(bindings.get(name)))
  return prependHostState({ ...snapshot, lost: [...ofChild, ...lost, ...lostUsedObjects(registry)] }, data)
}

export async function restoreChildSnapshot(
  snapshot: RuntimeSnapshot,
  child: ConnectedChild,
  host: ChildSupervisor,
  registry: BindingRegistry,
  hostState: HostObjectState,
): Promise<RuntimeLoss[]> {
  const { own, state } = splitHostState(snapshot)
  const restored = state && (await hostState.restore(state, registry.bindings))
  if (restored) {
    const entries = registry.checkUpdates(restored.values)
    registry.register(entries)
    await child.bind("update", entries)
  }
  const { version, language, data, hash, lost, exact, since, changes } = own
  const sent = {
    ...{ version, language, data, hash, lost },
    ...(exact && { exact }),
    ...(since !== undefined && { since }),
    ...(changes && { changes: { data: changes.data, hash: changes.hash, lost: changes.lost } }),
  }
  const missing = await child.ask("restore", { snapshot: sent })
  if (!isLostList(missing)) throw child.killForViolation("an invalid answer to `restore`")
  child.used = true
  host.replaceKnownNames((await listChildNames(child, registry)).map(({ name }) => name))
  return dropSameObjects([...missing, ...(restored?.lost ?? [])], registry.bindings, registry.access.usedObjects)
}

/** Returns the host objects that cells used and whose state is not stored. */
function lostUsedObjects({ bindings, access, codecs }: BindingRegistry): RuntimeLoss[] {
  return injectedObjects(bindings)
    .filter(({ value }) => access.usedObjects.has(value) && crossingFormOf(value) === "live" && !codecOf(value, codecs))
    .map(lostObjectState)
}

function livesInChild(binding: Binding | undefined): boolean {
  if (binding?.kind !== "variable") return true
  const { value, external } = binding
  return !external && typeof value === "object" && value !== null && crossingFormOf(value) !== "live"
}
