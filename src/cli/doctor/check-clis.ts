// Checks of the coding CLIs: version, sign-in, and with `live` their answer and usage limits.
import { checkHealth, type ProviderHealth } from "../../providers/health.ts"
import type { Check } from "./check.ts"

export async function checkClis({ live }: { live: boolean }): Promise<Check[]> {
  return (await checkHealth({ live })).map(toCheck)
}

function toCheck(health: ProviderHealth): Check {
  const { provider: name, title, installed, version, auth, live, cure } = health
  if (!installed) return { name, state: "missing", text: `${title} is not installed`, ...(cure && { cure }) }
  const found = `${title} ${version ?? "(unknown version)"}`
  if (live) return liveCheck(name, found, live)
  if (version === undefined)
    return { name, state: "broken", text: `${found}: it does not print its version`, cure: "Install it again." }
  if (auth === undefined || auth.state === "ready") return { name, state: "ok", text: `${found}, signed in` }
  return { name, state: "broken", text: `${found}, its credentials are ${auth.state}`, cure: auth.cure }
}

function liveCheck(name: string, found: string, { ok, limited, error }: NonNullable<ProviderHealth["live"]>): Check {
  if (ok) return { name, state: "ok", text: `${found} answered` }
  if (!limited) return { name, state: "broken", text: `${found}: ${error?.message ?? "it did not answer"}` }
  const until = limited.until === undefined ? "" : ` until ${new Date(limited.until).toISOString()}`
  const cure = `Wait${until}, or use another CLI.`
  return { name, state: "broken", text: `${found}: its usage limit is reached${until}: ${limited.reason}`, cure }
}
