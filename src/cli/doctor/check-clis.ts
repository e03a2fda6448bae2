// Checks of the coding CLIs: version, sign-in, and with `live` their answer and usage limits.
import { checkHealth, type ProviderHealth } from "../../providers/health.ts"
import { type Check, failedCheck } from "./check.ts"

export async function checkClis({ live }: { live: boolean }): Promise<Check[]> {
  return (await checkHealth({ live })).map(toCheck)
}

function toCheck(health: ProviderHealth): Check {
  const { provider: name, title, installed, version, auth, live, cure } = health
  if (!installed) return { name, state: "missing", text: `${title} is not installed`, remedy: cure ?? "Install it." }
  const found = `${title} ${version ?? "(unknown version)"}`
  if (live) return liveCheck(name, found, live)
  if (version === undefined)
    return { name, state: "broken", text: `${found}: it does not print its version`, remedy: "Install it again." }
  if (auth === undefined || auth.state === "ready") return { name, state: "ok", text: `${found}, signed in` }
  return { name, state: "broken", text: `${found}, its credentials are ${auth.state}`, remedy: auth.cure }
}

function liveCheck(name: string, found: string, { ok, limited, error }: NonNullable<ProviderHealth["live"]>): Check {
  if (ok) return { name, state: "ok", text: `${found} answered` }
  if (!limited) {
    const remedy = `Start ${name} in a terminal, and see whether it answers there.`
    return failedCheck(name, new Error(`${found}: ${error?.message ?? "it did not answer"}`), { remedy })
  }
  const until = limited.until === undefined ? "" : ` until ${new Date(limited.until).toISOString()}`
  const remedy = `Wait${until}, or use another CLI.`
  return { name, state: "broken", text: `${found}: its usage limit is reached${until}: ${limited.reason}`, remedy }
}
