// Two CLIs as one agent: the first one that is installed and works is used. With `failover` the next one continues when
// a CLI fails or reaches a limit, and gets the conversation so far. Needs Claude Code, Codex or both.
import { claude, codex, fallback } from "karst/providers"

const agent = fallback(claude({ allow: [], maxRetries: 0 }), codex({ allow: [] }), { failover: true, autoWait: false })
console.log(`${agent.provider} is first in line`)

await using session = await agent.session({
  onEvent(event) {
    if (event.type === "provider-changed") console.log(`  ${event.from} → ${event.to}: ${event.reason}`)
  },
})
for (const prompt of ["Name a river that runs underground.", "Where does it come to light again?"]) {
  const { output, error } = await session.send(prompt).settled
  console.log(`> ${prompt}\n${error?.message ?? output}`)
}
