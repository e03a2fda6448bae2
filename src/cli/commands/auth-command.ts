// `karst auth status | docker-flags`: shows how coding CLIs are signed in, and prints the flags that pass
// that to containers. No secrets are printed.
import { homedir } from "node:os"
import { safeLine } from "../../display/safe-text.ts"
import { type AuthFile, authProviders, checkAuth, type ProviderAuth } from "../../providers/auth/auth.ts"
import { containerAuth } from "../../providers/auth/container-auth.ts"
import { readStagedAuth, stagedProviders } from "../../providers/auth/staged-auth.ts"
import type { Input } from "../command.ts"
import { printLine, printNotice } from "../print-text.ts"
import { quoteShellWord } from "../shell-words.ts"
import type { authOptions, dockerOptions } from "../table/auth.ts"
import { UsageError } from "../usage-error.ts"
import { printLeftOut, stageFolder } from "./auth-stage-command.ts"

export async function authStatusCommand({ values }: Input<typeof authOptions>): Promise<number> {
  const found = await checkAuth(values.agents ?? authProviders)
  printStatus(found, values.json)
  return found.some(({ state }) => state === "ready") ? 0 : 1
}

export async function dockerFlagsCommand({ values }: Input<typeof dockerOptions>): Promise<number> {
  if (values.staged) return await printStagedFlags(values)
  const found = await checkAuth(values.agents ?? authProviders)
  const ready = found.filter(({ state }) => state === "ready")
  printFlags(ready, values.home ?? "/root", values.json)
  printLeftOut(found, { isNamed: values.agents !== undefined })
  return ready.length > 0 ? 0 : 1
}

async function printStagedFlags({ agents, folder, home = "/root", json }: StagedFlags): Promise<number> {
  const place = stageFolder(folder)
  const manifest = await readStagedAuth(place)
  const staged = manifest ? stagedProviders(manifest) : []
  const chosen = staged.filter(({ provider }) => agents?.some((name) => name === provider) ?? true)
  if (chosen.length === 0) {
    printNotice(`${place} has nothing for these CLIs. Run \`karst auth setup\` first.`)
    return 1
  }
  printFlags(chosen, home, json)
  return 0
}

type StagedFlags = Pick<Input<typeof dockerOptions>["values"], "agents" | "folder" | "home" | "json">

function printStatus(found: readonly ProviderAuth[], json: boolean): void {
  if (json) return printLine(JSON.stringify({ agents: found }))
  for (const { provider, state, files, variables, cure } of found) {
    printLine(state === "ready" ? `${provider}: ready` : `${provider}: ${state}; ${cure}`)
    for (const file of files) printLine(`  ${file.kind.padEnd(10)}  ${displayPath(file.path)}  ${fileStatus(file)}`)
    for (const { name, kind } of variables) printLine(`  ${kind.padEnd(10)}  ${name}  is set`)
  }
}

function fileStatus({ state, expiresAt, renewedByCli }: AuthFile): string {
  if (state === "unreadable") return "cannot be read"
  const when = expiresAt === undefined ? "" : new Date(expiresAt).toISOString().slice(0, 16).replace("T", " ")
  const until = when === "" ? "is there" : `${state === "expired" ? "expired" : "until"} ${when} UTC`
  return renewedByCli ? `${until}, renews itself` : until
}

function printFlags(ready: readonly ProviderAuth[], home: string, json: boolean): void {
  if (!home.startsWith("/")) throw new UsageError(`--home: "${home}" is no absolute path in the container.`)
  const needed = containerAuth(ready, home)
  if (json) return printLine(JSON.stringify(needed))
  for (let at = 0; at < needed.flags.length; at += 2) {
    printLine(
      needed.flags
        .slice(at, at + 2)
        .map(quoteShellWord)
        .join(" "),
    )
  }
}

/** Shortens the home directory to `~`. */
function displayPath(path: string): string {
  const home = `${process.env.HOME ?? homedir()}/`
  return safeLine(path.startsWith(home) ? `~/${path.slice(home.length)}` : path)
}
