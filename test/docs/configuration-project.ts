// The project of docs/configuration.md in a temporary folder, with Karst installed.
import { cp, mkdir, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { TestContext } from "node:test"
import { setVariables, workIn } from "./surroundings.ts"

/** Makes a copy of the project the working directory, with a home folder and keys of its own. Returns its path. */
export async function configurationProject(t: TestContext, files: Record<string, string> = {}): Promise<string> {
  const folder = await workIn(t, files)
  const shown = join(import.meta.dirname, "configuration")
  await cp(join(shown, "karst.config.ts"), join(folder, "karst.config.ts"))
  await cp(join(shown, "notes"), join(folder, "notes"), { recursive: true })
  await mkdir(join(folder, "node_modules"))
  await symlink(dirname(dirname(import.meta.dirname)), join(folder, "node_modules/karst"))
  setVariables(t, {
    KARST_HOME: join(folder, "home"),
    KARST_TRUST_CONFIG: undefined,
    OPENAI_API_KEY: "openai-key",
    WORK_GROQ_KEY: "groq-key",
  })
  return folder
}
