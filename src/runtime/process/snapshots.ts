import type { Lost, Snapshot } from "../runtime.ts"
import { namesOf } from "./describe.ts"
import type { Host } from "./host.ts"
import type { Live } from "./live.ts"
import { isLost, readSnapshot } from "./protocol.ts"
import type { Registry } from "./registry.ts"

/** Takes a snapshot of a child's namespace. The host never decodes its bytes. */
export async function takeSnapshot(child: Live, maxBytes: number): Promise<Snapshot> {
  const snapshot = readSnapshot(await child.ask("snapshot", { maxBytes }))
  if (!snapshot) throw child.accuse("an invalid snapshot")
  return snapshot
}

export async function loadSnapshot(
  { version, language, data, hash, lost }: Snapshot,
  child: Live,
  host: Host,
  registry: Registry,
): Promise<Lost[]> {
  const missing = await child.ask("restore", { snapshot: { version, language, data, hash, lost } })
  if (!isLost(missing)) throw child.accuse("an invalid answer to `restore`")
  child.used = true
  host.learn((await namesOf(child, registry)).map(({ name }) => name))
  return missing
}
