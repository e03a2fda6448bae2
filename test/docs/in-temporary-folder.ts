// Runs a test in a temporary folder, for snippets of pages that read and write the working directory.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestContext } from "node:test"

/** Makes an empty folder the working directory until the test ends. Returns its path. */
export async function inTemporaryFolder(t: TestContext): Promise<string> {
  const before = process.cwd()
  const folder = await mkdtemp(join(tmpdir(), "karst-docs-"))
  process.chdir(folder)
  t.after(async () => {
    process.chdir(before)
    await rm(folder, { recursive: true, maxRetries: 5 })
  })
  return process.cwd()
}
