// Which coding CLIs are here, and can they work? Nothing is started but `--version`; of credentials only names, places and times
// are looked at. With LIVE=1 each is asked something, which finds out about limits, takes seconds and costs a few tokens.
import { checkHealth, codingAgent, installedProviders } from "karst/providers"

for (const { title, installed, version, auth, cure, live } of await checkHealth({ live: process.env.LIVE === "1" })) {
  if (!installed) {
    console.log(`${title}: not installed. ${cure}`)
    continue
  }
  console.log(`${title} ${version}: ${auth?.state === "ready" ? "logged in" : `login ${auth?.state}: ${auth?.cure}`}`)
  for (const { path, state } of auth?.files ?? []) console.log(`  ${path} (${state})`)
  for (const { name } of auth?.variables ?? []) console.log(`  $${name}`)
  if (live) console.log(live.ok ? "  it answers" : `  ${live.limited?.reason ?? live.error?.message}`)
}

// Whichever there is, by preference: KARST_PROVIDER=codex,claude says another order.
console.log(`installed: ${installedProviders().join(", ") || "none"}; an agent would use ${codingAgent().provider}`)
