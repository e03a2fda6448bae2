import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

/** A folder that is gone when the test is over. */
export async function freshFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "karst-sessions-"))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
