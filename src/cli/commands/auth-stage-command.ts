// `karst auth setup | teardown`: writes and removes the folder of credentials with which coding CLIs sign in inside
// containers. No secrets are printed.
import { join } from "node:path"
import { findUser } from "../../config/find-files.ts"
import { authProviders } from "../../providers/auth/auth.ts"
import { removeStagedAuth, stageAuth } from "../../providers/auth/staged-auth.ts"
import type { Input } from "../command.ts"
import { printLine, printNotice } from "../print-text.ts"
import type { setupOptions, teardownOptions } from "../table/auth.ts"
import { UsageError } from "../usage-error.ts"

export async function authSetupCommand({ values }: Input<typeof setupOptions>): Promise<number> {
  const { workdir = "/workspace", json } = values
  if (!workdir.startsWith("/")) throw new UsageError(`--workdir: "${workdir}" is no absolute path in the container.`)
  const folder = stageFolder(values.folder)
  const home = values["source-home"]
  const env = home === undefined ? process.env : { HOME: home }
  const manifest = await stageAuth(values.agents ?? authProviders, { folder, workdir, env })
  if (!manifest) {
    printNotice("no coding CLI is signed in; `karst auth status` says what each needs.")
    return 1
  }
  if (json) printLine(JSON.stringify({ folder, ...manifest }))
  else {
    for (const [name, { files, variables }] of Object.entries(manifest.agents)) {
      const parts = [...files.map(({ target, strategy }) => `${target} (${strategy})`), ...variables]
      printLine(`${name}: ${parts.join(", ")}`)
    }
    printLine(`Written to ${folder}. Use it: docker run $(karst auth docker-flags --staged) …`)
  }
  return 0
}

export async function authTeardownCommand({ values }: Input<typeof teardownOptions>): Promise<number> {
  const folder = stageFolder(values.folder)
  const dryRun = values["dry-run"]
  const removed = await removeStagedAuth(folder, { dryRun, force: values.force })
  if (removed.length === 0) printLine(`There is nothing in ${folder}.`)
  else printLine(`${dryRun ? "Would remove" : "Removed"} ${folder}: ${removed.join(", ")}`)
  return 0
}

export function stageFolder(given: string | undefined): string {
  return given ?? join(findUser(process.env).folder, "auth")
}
