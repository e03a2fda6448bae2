// `karst auth status | docker-flags`: shows how coding CLIs are signed in, and passes that to containers. No secrets.
import { homedir } from "node:os"
import { safeLine } from "../display/safe-text.ts"
import { type AuthFile, authProviders, checkAuth, type ProviderAuth } from "../providers/auth/auth.ts"
import { containerAuth } from "../providers/auth/container-auth.ts"
import { parseArguments } from "./arguments.ts"
import { quoteShellWord } from "./shell-words.ts"
import { UsageError } from "./usage-error.ts"

export async function authCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArguments("auth", args, {
    agents: { type: "string" },
    home: { type: "string" },
    json: { type: "boolean" },
  })
  const [action, ...more] = positionals
  if (more.length > 0 || (action !== "status" && action !== "docker-flags")) {
    throw new UsageError("karst auth knows two actions: karst auth status, karst auth docker-flags.")
  }
  if (values.home !== undefined && action === "status") throw new UsageError("--home is for docker-flags.")
  const found = await checkAuth(parseNames(values.agents))
  const ready = found.filter(({ state }) => state === "ready")
  if (action === "status") printStatus(found, values.json)
  else printFlags(ready, values.home ?? "/root", values.json)
  // CLIs that were not asked for by name need not be signed in.
  if (action === "docker-flags" && (values.agents !== undefined || ready.length === 0)) warnAboutMissing(found)
  return ready.length > 0 ? 0 : 1
}

function parseNames(list: string | undefined): readonly string[] {
  if (list === undefined) return authProviders
  const names = [...new Set(list.split(",").map((name) => name.trim()))].filter((name) => name !== "")
  const unknown = names.find((name) => !authProviders.includes(name))
  if (names.length > 0 && unknown === undefined) return names
  throw new UsageError(
    `--agents: ${unknown === undefined ? "name one" : `"${unknown}" is unknown`}. There are: ${authProviders.join(", ")}.`,
  )
}

function printStatus(found: readonly ProviderAuth[], json: boolean | undefined): void {
  if (json) return print(JSON.stringify({ agents: found }))
  for (const { provider, state, files, variables, cure } of found) {
    print(state === "ready" ? `${provider}: ready` : `${provider}: ${state}; ${cure}`)
    for (const file of files) print(`  ${file.kind.padEnd(10)}  ${displayPath(file.path)}  ${fileStatus(file)}`)
    for (const { name, kind } of variables) print(`  ${kind.padEnd(10)}  ${name}  is set`)
  }
}

function fileStatus({ state, expiresAt, renewedByCli }: AuthFile): string {
  if (state === "unreadable") return "cannot be read"
  const when = expiresAt === undefined ? "" : new Date(expiresAt).toISOString().slice(0, 16).replace("T", " ")
  const until = when === "" ? "is there" : `${state === "expired" ? "expired" : "until"} ${when} UTC`
  return renewedByCli ? `${until}, renews itself` : until
}

function warnAboutMissing(found: readonly ProviderAuth[]): void {
  for (const { provider, state, cure } of found.filter((each) => each.state !== "ready")) {
    process.stderr.write(`karst: ${provider} is left out: its credentials are ${state}; ${cure}\n`)
  }
}

function printFlags(ready: readonly ProviderAuth[], home: string, json: boolean | undefined): void {
  if (!home.startsWith("/")) throw new UsageError(`--home: "${home}" is no absolute path in the container.`)
  const needed = containerAuth(ready, home)
  if (json) return print(JSON.stringify(needed))
  for (let at = 0; at < needed.flags.length; at += 2) {
    print(
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

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
