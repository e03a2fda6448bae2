// Temporary folders with skills.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { TestContext } from "node:test"

/** Creates a temporary folder with these files, removed after the test. Its path contains no links. */
export async function temporaryFolder(
  t: TestContext,
  files: Record<string, string | Uint8Array> = {},
): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "karst-skills-test-")))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return folder
}

export function skillText(
  name: string,
  description = "Does a thing. Use it for things.",
  body = "Do the thing.",
): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`
}
