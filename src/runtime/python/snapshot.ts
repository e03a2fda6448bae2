import { ConfigError } from "../../core/errors.ts"
import type { Lost, Snapshot } from "../runtime.ts"
import { hashOf, invalidSnapshot } from "../snapshot/wire.ts"
import type { Session } from "./session.ts"
import { PythonError } from "./told.ts"

/** Data that cells made, as bytes that a kernel writes and a kernel reads: the host never looks into them. */
export async function takeSnapshot(session: Session, maxBytes: number): Promise<Snapshot> {
  const without = [...session.bindings.keys(), ...session.known.setup]
  const most = Number.isFinite(maxBytes) ? maxBytes : null
  const { data, lost } = (await session.ask("snapshot", { without, most })) as { data: Uint8Array; lost: Lost[] }
  return { version: 1, language: "python", data, hash: hashOf(data), lost }
}

/** In a fresh kernel, so that nothing of before is left. Bytes that were changed are refused before that. */
export async function restoreSnapshot(snapshot: Snapshot, session: Session): Promise<Lost[]> {
  const { version, language, data, hash, lost } = snapshot
  if (version !== 1 || language !== "python") {
    throw new ConfigError(`A snapshot of version ${version} for ${language} cannot be restored in a pythonRuntime.`)
  }
  if (!(data instanceof Uint8Array) || hashOf(data) !== hash) throw invalidSnapshot("its bytes are damaged")
  await session.end()
  const { names, lost: missing } = await restored(data, session)
  for (const name of names) session.known.all.add(name)
  return [...lost, ...missing]
}

async function restored(data: Uint8Array, session: Session): Promise<{ names: string[]; lost: Lost[] }> {
  try {
    return (await session.ask("restore", { data })) as { names: string[]; lost: Lost[] }
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    throw invalidSnapshot(`this Python cannot read it (${error.name}: ${error.message})`, error)
  }
}
