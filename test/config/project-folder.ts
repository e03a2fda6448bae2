// A temporary project and a temporary home folder for tests of the configuration.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { TestContext } from "node:test"

export interface TestProject {
  /** The project's folder. */
  folder: string
  /** The user's folder, `KARST_HOME`. */
  home: string
  /** An environment with this home folder, in which configuration files are trusted. */
  env: Record<string, string | undefined>
  /** Writes files below a folder that contains `project/` and `home/`. */
  write(files: Record<string, string | object>): Promise<void>
}

/** Creates the folders, with files: texts, or objects as JSON. `project/` is the project, `home/` the user's folder. */
export async function testProject(t: TestContext, files: Record<string, string | object> = {}): Promise<TestProject> {
  const top = await mkdtemp(join(tmpdir(), "karst-config-"))
  t.after(() => rm(top, { recursive: true }))
  const write: TestProject["write"] = async (files) => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(top, path)), { recursive: true })
      await writeFile(join(top, path), typeof content === "string" ? content : JSON.stringify(content, null, 2))
    }
  }
  await mkdir(join(top, "project/.git"), { recursive: true })
  await mkdir(join(top, "home"), { recursive: true })
  await write(files)
  const home = join(top, "home")
  return { folder: join(top, "project"), home, env: { KARST_HOME: home, KARST_TRUST_CONFIG: "1" }, write }
}

/** The address of a source file, for imports in configurations of tests. */
export function sourceFile(path: string): string {
  return JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)
}
