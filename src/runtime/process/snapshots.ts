import type { Lost, Snapshot } from "../runtime.ts"
import { namesOf } from "./describe.ts"
import type { Host } from "./host.ts"
import type { Live } from "./live.ts"
import { isLost, readSnapshot } from "./protocol.ts"
import type { Registry } from "./registry.ts"

/** Takes a snapshot of a child's namespace. The host never decodes its bytes. */
export async function takeSnapshot(child: Live, maxBytes: number, since?: string): Promise<Snapshot> {
  const snapshot = readSnapshot(await child.ask("snapshot", { maxBytes, ...(since !== undefined && { since }) }))
  if (!snapshot) throw child.accuse("an invalid snapshot")
  return snapshot
}

export async function loadSnapshot(
  { version, language, data, hash, lost, since, changes }: Snapshot,
  child: Live,
  host: Host,
  registry: Registry,
): Promise<Lost[]> {
  const snapshot = {
    ...{ version, language, data, hash, lost },
    ...(since !== undefined && { since }),
    ...(changes && { changes: { data: changes.data, hash: changes.hash, lost: changes.lost } }),
  }
  const missing = await child.ask("restore", { snapshot })
  if (!isLost(missing)) throw child.accuse("an invalid answer to `restore`")
  child.used = true
  host.learn((await namesOf(child, registry)).map(({ name }) => name))
  return missing
}
