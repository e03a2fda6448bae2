// `karst auth setup | teardown`: writes and removes the folder of credentials with which coding CLIs sign in inside
// containers. No secrets are printed.
import { join } from "node:path"
import { findUser } from "../../config/find-files.ts"
import { authProviders, checkAuth, type ProviderAuth } from "../../providers/auth/auth.ts"
import { removeStagedAuth, stageAuth } from "../../providers/auth/staged-auth.ts"
import type { Input } from "../command.ts"
import { printLine, printNotice } from "../print-text.ts"
import { quoteShellWord } from "../shell-words.ts"
import type { setupOptions, teardownOptions } from "../table/auth.ts"
import { UsageError } from "../usage-error.ts"

export async function authSetupCommand({ values }: Input<typeof setupOptions>): Promise<number> {
  const { workdir = "/workspace", json } = values
  if (!workdir.startsWith("/")) throw new UsageError(`--workdir: "${workdir}" is no absolute path in the container.`)
  const folder = stageFolder(values.folder)
  const home = values["source-home"]
  const env = home === undefined ? process.env : { HOME: home }
  const names = values.agents ?? authProviders
  const manifest = await stageAuth(names, { folder, workdir, env })
  printLeftOut(await checkAuth(names, { env }), { isNamed: values.agents !== undefined })
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
    const option = values.folder === undefined ? "" : ` --folder ${quoteShellWord(folder)}`
    printLine(`Written to ${folder}. Use it: docker run $(karst auth docker-flags --staged${option}) …`)
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

/** Names the CLIs whose credentials cannot be used. One that nobody asked for by name may have none. */
export function printLeftOut(found: readonly ProviderAuth[], { isNamed }: { isNamed: boolean }): void {
  const isNoneReady = found.every(({ state }) => state !== "ready")
  for (const { provider, state, cure } of found) {
    if (state === "ready" || (state === "missing" && !isNamed && !isNoneReady)) continue
    printNotice(`${provider} is left out: its credentials are ${state}; ${cure}`)
  }
}

export function stageFolder(given: string | undefined): string {
  return given ?? join(findUser(process.env).folder, "auth")
}
