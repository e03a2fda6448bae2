import { createHash } from "node:crypto"
import { ConfigError } from "../../core/errors.ts"
import type { Lost, Snapshot } from "../runtime.ts"
import type { Session } from "./session.ts"

/** Data that cells made, as bytes that a kernel writes and a kernel reads: the host never looks into them. */
export async function takeSnapshot(session: Session): Promise<Snapshot> {
  const without = [...session.bindings.keys(), ...session.setupNames]
  const { data, lost } = (await session.ask("snapshot", { without })) as { data: Uint8Array; lost: Lost[] }
  return { version: 1, language: "python", data, hash: createHash("sha256").update(data).digest("hex"), lost }
}

/** In a fresh kernel, so that nothing of before is left. */
export async function restoreSnapshot(snapshot: Snapshot, session: Session): Promise<Lost[]> {
  const { version, language, data, lost } = snapshot
  if (version !== 1 || language !== "python") {
    throw new ConfigError(`A snapshot of version ${version} for ${language} cannot be restored in a pythonRuntime.`)
  }
  await session.end()
  const { names, lost: missing } = (await session.ask("restore", { data })) as { names: string[]; lost: Lost[] }
  for (const name of names) session.names.add(name)
  return [...lost, ...missing]
}
