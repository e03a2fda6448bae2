// Health of coding CLIs: which are installed, and can they work? Only `--version` is run; of credentials only names,
// paths and times are read. With LIVE=1 each CLI gets a prompt, which finds limits and costs a few tokens.
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
