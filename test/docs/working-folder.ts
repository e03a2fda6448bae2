// A temporary folder as the working directory, for programs of the documentation that use relative paths.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestContext } from "node:test"

/** Makes a new temporary folder the working directory until the test has ended; returns its path. */
export async function workInTemporaryFolder(t: Pick<TestContext, "after">): Promise<string> {
  const before = process.cwd()
  const folder = await mkdtemp(join(tmpdir(), "karst-docs-"))
  process.chdir(folder)
  t.after(async () => {
    process.chdir(before)
    await rm(folder, { recursive: true })
  })
  return folder
}
